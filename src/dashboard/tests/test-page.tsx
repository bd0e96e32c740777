/** The page of a test. It shows the progress, updates itself, and becomes the report without being loaded again. */

import { renderToString } from 'preact-render-to-string';
import * as v from 'valibot';
import type { Config } from '../../config/config.ts';
import type { Call } from '../../http/route.ts';
import { waitUntil } from '../../lib/concurrency.ts';
import { isReservedName } from '../../lib/domain-names.ts';
import { AppError } from '../../lib/errors.ts';
import { liveSignal } from '../../mailtests/live.ts';
import { presentListed } from '../../mailtests/present.ts';
import { testOr404 } from '../../mailtests/queries.ts';
import { renderTestPage } from '../../mailtests/report.ts';
import { testOperations } from '../../mailtests/routes.ts';
import { titleOfTest } from '../../mailtests/titles.ts';
import { oneLine } from '../../report/blocks.ts';
import type { TestRow } from '../../store/tables.generated.ts';
import { findMember } from '../../team/members.ts';
import { reauthorize } from '../../team/permissions.ts';
import { APP_REPORT_CSP } from '../../ui/frame.tsx';
import { appPage, Breadcrumbs, readerOf, shellOf } from '../frame/app-page.tsx';
import { REPORT_ASSETS } from '../frame/assets.ts';
import { type ApiCall, PageTools } from '../frame/curl.tsx';
import { Notice } from '../frame/form.tsx';
import { page } from '../frame/page-route.ts';
import { ReaderContext } from '../frame/reader.tsx';
import { ManageActions, TestActions } from './actions.tsx';
import { History, historyCall, readTestHistory, SinceLastTest } from './history.tsx';
import {
  nextChangeMs,
  type Progress,
  readProgress,
  reportVersionOf,
  versionOf,
} from './progress.ts';
import { ProgressPage, placementText, type SmtpServer, statusText } from './progress-view.tsx';

/** The longest that a request may wait for a change. Proxies end requests that take longer. */
const MAX_WAIT_SECONDS = 25;

const Query = v.strictObject({
  wait: v.optional(v.pipe(v.string(), v.transform(Number)), '0'),
  seen: v.optional(v.string()),
  done: v.optional(v.string()),
});

type TestCall = Pick<
  Call<'viewer', undefined, undefined>,
  'app' | 'actor' | 'invoke' | 'params' | 'signal'
>;

interface State {
  row: TestRow;
  progress: Progress;
  version: string;
}

const show = page({
  path: '/tests/:id',
  operation: 'showTest',
  limited: true,
  role: 'viewer',
  summary: 'Show the progress or the report of a test',
  query: Query,
  async handle(call) {
    const { wait, seen, done } = call.query;
    const state =
      seen !== undefined && wait > 0 ? await waitForChange(call, seen, wait) : await read(call);
    // The browser has this state already.
    if (state.version === seen) return new Response(null, { status: 204 });
    return state.row.checks !== null && state.row.status === 'completed'
      ? reportPage(call, state, done)
      : progressPage(call, state, done);
  },
});

async function read({ app, actor, params }: TestCall): Promise<State> {
  const row = await testOr404(app, params.id!, actor.livemode);
  const progress = await readProgress(app, row);
  return { row, progress, version: versionOf(row, progress) };
}

/** The state as soon as it differs from `seen`, or whatever it is after some time. */
async function waitForChange(call: TestCall, seen: string, seconds: number): Promise<State> {
  const { app, params, signal } = call;
  const first = await read(call);
  if (first.version !== seen) return first;
  const ms = Math.min(
    (Number.isFinite(seconds) ? Math.min(seconds, MAX_WAIT_SECONDS) : 0) * 1000,
    nextChangeMs(app, first.row),
  );
  const state = await waitUntil(
    app,
    { name: [params.id!, liveSignal(params.id!)], ms, abort: signal },
    () => read(call),
    ({ version }) => version !== seen,
  );
  // The session may have ended while the request waited.
  await reauthorize(app.db, call, 'viewer');
  return state;
}

// Before there is a result.

function progressPage(call: TestCall, state: State, done: string | undefined): Promise<Response> {
  const { row, progress } = state;
  const test = presentListed(row, call.app.config, []);
  return appPage(call, {
    title: titleOf(row),
    section: 'tests',
    path: `/tests/${row.id}`,
    parents: [TESTS],
    // The report, which this page becomes, needs it.
    policy: APP_REPORT_CSP,
    actions: (
      <>
        <TestActions row={row} />
        <ManageActions row={row} />
      </>
    ),
    calls: callsOf(row),
    children: (
      <>
        <DoneNotice done={done} />
        <Watched
          {...state}
          status={statusText(test, progress)}
          isActive={row.status !== 'failed'}
        />
        <ProgressPage test={test} progress={progress} server={localServer(call.app.config)} />
      </>
    ),
  });
}

/** Null if the inbox domain can have MX records. */
function localServer({ INBOX_DOMAIN, SMTP_HOST, SMTP_PORT }: Config): SmtpServer | null {
  const isEveryAddress = SMTP_HOST === '0.0.0.0' || SMTP_HOST === '::';
  return isReservedName(INBOX_DOMAIN)
    ? { host: isEveryAddress ? '127.0.0.1' : SMTP_HOST, port: SMTP_PORT }
    : null;
}

const TESTS = { href: '/tests', text: 'Tests' };

const titleOf = (row: TestRow): string => oneLine(titleOfTest(row), 80);

const callsOf = ({ id }: TestRow): ApiCall[] => [{ route: testOperations.get, params: { id } }];

interface WatchedProps extends State {
  status: string;
  /** Whether the script of the page asks for changes. */
  isActive: boolean;
}

/** Tells the script of the page what it shows. `data-watch` is one of the attributes that a base path applies to. */
function Watched({ row, progress, version, status, isActive }: WatchedProps) {
  return (
    <div
      id="watched"
      data-live
      data-watch={isActive ? `/tests/${row.id}` : undefined}
      data-version={version}
      data-status={status}
      data-report={reportVersionOf(row, progress)}
      data-stage={row.status === 'processing' ? 'waiting' : row.status}
      hidden
    />
  );
}

const DONE: Record<string, string> = {
  saved: 'Changes saved.',
  reanalyzed: 'The message was analyzed again with the current DNS records and rules.',
};

function DoneNotice({ done }: { done: string | undefined }) {
  if (done === undefined || !Object.hasOwn(DONE, done)) return null;
  return <Notice tone="pass">{DONE[done]}</Notice>;
}

// The report, with the navigation and the actions around it.

async function reportPage(
  call: TestCall,
  state: State,
  done: string | undefined,
): Promise<Response> {
  const { app, actor, signal } = call;
  const { row, progress } = state;
  const member = await findMember(app.db, actor.memberId);
  if (!member) throw new AppError('unauthenticated', 'Your session has expired. Sign in again.');
  const reader = readerOf(app, actor, member);
  const inContext = (content: preact.ComponentChildren) =>
    renderToString(<ReaderContext.Provider value={reader}>{content}</ReaderContext.Provider>);
  const history = await readTestHistory(call, row.id);
  const hasChosenTimes = member.time_zone !== null || member.date_locale !== null;
  const status =
    `${statusText(presentListed(row, app.config, []), progress)} ${placementText(row)}`.trim();
  return renderTestPage({ app, actor, signal }, row, {
    shell: shellOf(member, { actor, section: 'tests', path: `/tests/${row.id}` }),
    assets: REPORT_ASSETS,
    above: inContext(
      <div class="report-head">
        <div class="page-head">
          <div>
            <Breadcrumbs parents={[TESTS]} />
            <p class="test-name">
              <bdi>{titleOf(row)}</bdi>
            </p>
          </div>
          <PageTools
            appUrl={app.config.APP_URL}
            path={`/tests/${row.id}`}
            calls={[...callsOf(row), historyCall(row.id)]}
          />
        </div>
        <SinceLastTest history={history} />
        <div class="actions toolbar screen-only">
          <TestActions row={row} />
          <ManageActions row={row} />
        </div>
        {progress.isReanalysis ? (
          <Notice tone="info">
            The message is being analyzed again. This page shows the previous result until then.
          </Notice>
        ) : (
          <DoneNotice done={done} />
        )}
        <Watched
          {...state}
          status={status}
          isActive={progress.isReanalysis || row.placement_status === 'waiting'}
        />
      </div>,
    ),
    below: inContext(<History history={history} />),
    times: hasChosenTimes ? { timeZone: reader.timeZone, locale: reader.locale } : null,
  });
}

export const testPages = [show];
