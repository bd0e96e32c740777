/** Error pages for browsers, with the navigation for members. API clients get a problem document instead. */

import type { App } from '../app.ts';
import type { Actor } from '../http/actor.ts';
import { isTestMode } from '../http/cookies.ts';
import { appFor } from '../http/limited.ts';
import type { Problem } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { Db } from '../store/open.ts';
import { endedSessionPage, findSignedInActor } from './access/sign-in.tsx';
import { ActionButton } from './frame/action.tsx';
import { appPage } from './frame/app-page.tsx';
import { Notice } from './frame/form.tsx';
import { pageResponse } from './frame/page.tsx';

/** The navigation needs the database, and none of these is a matter of the page. */
const WITHOUT_NAVIGATION: ErrorCode[] = [
  'unauthenticated',
  'internal_error',
  'unavailable',
  'rate_limited',
];

/** After these, the member can send the form again, changed or later. */
const REPEATABLE: ErrorCode[] = [
  'body_too_large',
  'malformed_request',
  'unsupported_media_type',
  'rate_limited',
  'unavailable',
  'internal_error',
];

/** Lists whose pages have objects below them. */
const LISTS = [
  'tests',
  'domains',
  'monitors',
  'alerts',
  'reports',
  'webhooks',
  'team',
  'api-keys',
  'account',
];

type Request = Pick<RequestContext, 'request' | 'pathname'>;

export async function problemPage(app: App, problem: Problem, context: Request): Promise<Response> {
  const { code } = problem;
  const { method, headers } = context.request;
  const isForm = method !== 'GET' && method !== 'HEAD';
  if (code === 'unauthenticated' && isForm && !headers.has('authorization'))
    return endedSessionPage(app, problem.status, pageOfForm(context.pathname));
  // A form that another site sent is not a matter of the member's role.
  if (WITHOUT_NAVIGATION.includes(code) || (code === 'forbidden' && isForm))
    return visitorPage(app, problem, context);
  const actor = await findSignedInActor({ app, headers }).catch(() => null);
  if (!actor) return visitorPage(app, problem, context);
  return memberPage(appFor(app, actor), actor, problem, context).catch(() =>
    visitorPage(app, problem, context),
  );
}

/** The script of the page makes the link lead to the page of the form, and keeps what was typed. */
function BackToForm({
  code,
  context: { request, pathname },
}: {
  code: ErrorCode;
  context: Request;
}) {
  const isForm = request.method === 'POST';
  if (!isForm || !REPEATABLE.includes(code)) return null;
  return (
    <a class="button primary" href={pageOfForm(pathname)} data-back-to-form>
      Back to the form
    </a>
  );
}

/** After a rejected cross-origin form, the home link leads to the configured address of the service. */
function visitorPage({ config }: App, problem: Problem, context: Request): Response {
  const { title, status, detail, code, request_id } = problem;
  return pageResponse({
    title,
    status,
    // The path may contain a link token, and the page has no form that needs an origin.
    referrer: 'no-referrer',
    children: (
      <>
        <Notice tone="fail">{detail}</Notice>
        <RequestId id={request_id} />
        <p class="links">
          <BackToForm code={code} context={context} />
          <a href={code === 'forbidden' ? config.APP_URL : '/'}>Go to the home page</a>
        </p>
      </>
    ),
  });
}

const RequestId = ({ id }: { id: string }) => (
  <p class="small muted">
    Request ID: <code>{id}</code>
  </p>
);

async function memberPage(
  app: App,
  signedIn: Actor,
  { title, status, detail, code, request_id }: Problem,
  context: Request,
): Promise<Response> {
  const { request, pathname } = context;
  const actor = { ...signedIn, livemode: !isTestMode(request.headers.get('cookie'), app.config) };
  const list = listOf(pathname);
  if (code === 'not_found' && (await isInOtherMode(app.db, pathname, actor.livemode)))
    return otherModePage(app, actor, pathname);
  return appPage(
    { app, actor },
    {
      title,
      section: null,
      // Not that of the page, which does not exist or may not be opened.
      path: '/',
      status,
      headers: { 'cache-control': 'no-store' },
      children: (
        <>
          <Notice tone="fail">{detail}</Notice>
          {code === 'not_found' && <p>It may have been deleted, or the link may be incomplete.</p>}
          {code === 'forbidden' && (
            <p>
              An admin of the team can change your role and the tags that your access is limited to.
            </p>
          )}
          {code === 'body_too_large' && (
            <p>Nothing was saved. Go back, and choose a smaller file or enter less text.</p>
          )}
          <div class="actions">
            <BackToForm code={code} context={context} />
            {list && code !== 'forbidden' && !REPEATABLE.includes(code) && (
              <a class="button primary" href={list}>
                Back to the list
              </a>
            )}
            <a class="button" href="/">
              Go to the overview
            </a>
          </div>
          <RequestId id={request_id} />
        </>
      ),
    },
  );
}

/** Links in mails and events don't say to which mode an object belongs. */
function otherModePage(app: App, actor: Actor, pathname: string): Promise<Response> {
  const mode = actor.livemode ? 'test' : 'live';
  return appPage(
    { app, actor },
    {
      title: `This page is in ${mode} mode`,
      section: null,
      path: pathname,
      status: 404,
      headers: { 'cache-control': 'no-store' },
      children: (
        <>
          <p>
            You are in {actor.livemode ? 'live' : 'test'} mode. Switch to {mode} mode to open it.
          </p>
          <div class="actions">
            <ActionButton action="/mode" fields={{ mode, next: pathname, same: 'yes' }} primary>
              Switch to {mode} mode and open
            </ActionButton>
            <a class="button" href="/">
              Go to the overview
            </a>
          </div>
        </>
      ),
    },
  );
}

/** The page above; null if there is none. */
function listOf(pathname: string): string | null {
  const [first = '', ...rest] = pathname.split('/').filter(Boolean);
  if (first === 'incidents') return '/alerts';
  const [, within] = /^(\/reports\/(?:shares|schedules))\/./.exec(pathname) ?? [];
  if (within) return within;
  return rest.length > 0 && LISTS.includes(first) ? `/${first}` : null;
}

/** The page of the form where it has the same path, else the list that contains it. */
const pageOfForm = (pathname: string): string => {
  if (/^\/(?:tests|monitors)\/new$/.test(pathname)) return pathname;
  const first = pathname.split('/').find(Boolean) ?? '';
  return LISTS.includes(first) ? `/${first}` : '/';
};

// Objects that the reader can't open now, but could after switching between live and test mode.

/** `livemode` is 1 for live objects and 0 for those of test mode. */
type Find = (db: Db, id: string, livemode: 0 | 1) => Promise<unknown>;

const FINDERS: [path: RegExp, find: Find][] = [
  [/^\/tests\/(test_\w+)(?:\/edit)?$/, findIn('tests')],
  [/^\/webhooks\/(whe_\w+)$/, findIn('webhook_endpoints')],
  [/^\/reports\/shares\/(rpt_\w+)$/, findIn('shared_reports')],
  [
    /^\/webhooks\/deliveries\/(whd_\w+)$/,
    (db, id, livemode) =>
      db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
        .select('webhook_deliveries.id')
        .where('webhook_deliveries.id', '=', id)
        .where('livemode', '=', livemode)
        .executeTakeFirst(),
  ],
];

function findIn(table: 'tests' | 'webhook_endpoints' | 'shared_reports'): Find {
  return (db, id, livemode) =>
    db
      .selectFrom(table)
      .select('id')
      .where('id', '=', id)
      .where('livemode', '=', livemode)
      .executeTakeFirst();
}

/** Whether the page at this path exists in the mode that the reader does not see. */
async function isInOtherMode(db: Db, path: string, isLive: boolean): Promise<boolean> {
  for (const [pattern, find] of FINDERS) {
    const [, id] = pattern.exec(path) ?? [];
    if (id) return (await find(db, id, isLive ? 0 : 1)) !== undefined;
  }
  return false;
}
