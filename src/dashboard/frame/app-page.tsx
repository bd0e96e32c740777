/** Pages for signed-in members: navigation, heading with actions, content, and the API calls behind it. */

import type { ComponentChildren } from 'preact';
import type { App } from '../../app.ts';
import { tagsInUse } from '../../domains/queries.ts';
import { helpPanelOf } from '../../help/panels.ts';
import { type Actor, allows } from '../../http/actor.ts';
import type { Call } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { NAVIGATION, type Section } from '../../search/pages.ts';
import type { MemberRow } from '../../store/tables.generated.ts';
import { findMember } from '../../team/members.ts';
import { FORM_REFERRER, renderPage } from '../../ui/frame.tsx';
import type { Shell } from '../../ui/shell.tsx';
import { ASSETS } from './assets.ts';
import { type ApiCall, PageTools } from './curl.tsx';
import { PAGE_POLICY, pageHeaders } from './policy.ts';
import { DEFAULT_LOCALE, type Reader, ReaderContext } from './reader.tsx';
import { TagOptions } from './tags-field.tsx';

/** The part of a request that functions which render a page need. */
export type PageCall = Pick<Call<'viewer', undefined, undefined>, 'app' | 'actor' | 'invoke'>;

interface AppPage {
  /** The heading, and the title of the browser tab. */
  title: string;
  /** Null for a page that belongs to none. */
  section: Section | 'account' | null;
  /** The path and query of this page. */
  path: string;
  /** Pages above this one. */
  parents?: { href: string; text: string }[];
  /** Buttons beside the heading. */
  actions?: ComponentChildren;
  children: ComponentChildren;
  /** The API calls that return what the page shows. */
  calls?: ApiCall[];
  status?: number;
  headers?: Record<string, string>;
  /** Fields with `list={TAG_LIST}` suggest the tags of domains. */
  suggestTags?: boolean;
  /** The Content-Security-Policy. Default: `PAGE_POLICY`. */
  policy?: string;
}

/** Rejects with `unauthenticated` if the member was removed in the meantime. */
export async function appPage(
  { app, actor }: Pick<PageCall, 'app' | 'actor'>,
  page: AppPage,
): Promise<Response> {
  const { title, section, path, parents = [], actions, children, calls = [] } = page;
  const { status = 200, headers = {}, policy = PAGE_POLICY, suggestTags = false } = page;
  const member = await findMember(app.db, actor.memberId);
  if (!member) throw new AppError('unauthenticated', 'Your session has expired. Sign in again.');
  const tags = suggestTags ? await tagsInUse(app.db) : [];
  const html = renderPage({
    title: `${status < 400 ? '' : 'Error: '}${title} · Deliverability`,
    skip: 'Skip to content',
    style: '',
    csp: policy,
    referrer: FORM_REFERRER,
    assets: ASSETS,
    shell: shellOf(member, { actor, section, path }),
    main: (
      <ReaderContext.Provider value={readerOf(app, actor, member)}>
        <Breadcrumbs parents={parents} />
        <div class="page-head">
          <h1>{title}</h1>
          <div class="actions">
            {actions && <div class="actions screen-only">{actions}</div>}
            {status < 400 && <PageTools appUrl={app.config.APP_URL} path={path} calls={calls} />}
          </div>
        </div>
        <div class="page" data-now={app.clock.now()}>
          {children}
          {suggestTags && <TagOptions tags={tags} />}
        </div>
      </ReaderContext.Provider>
    ),
  });
  return new Response(html, { status, headers: { ...pageHeaders(policy), ...headers } });
}

/** What pages know about the reader. */
export function readerOf(app: App, actor: Actor, member: MemberRow): Reader {
  return {
    now: app.clock.now(),
    role: actor.role,
    limit: actor.tags,
    timeZone: member.time_zone,
    locale: member.date_locale ?? DEFAULT_LOCALE,
    hasOwnLocale: member.date_locale !== null,
    baseUrl: app.config.BASE_URL.replace(/\/$/, ''),
    testMode: !actor.livemode,
  };
}

/** The navigation, with the links that the role allows. */
export function shellOf(
  { id, name, email }: Pick<MemberRow, 'id' | 'name' | 'email'>,
  { actor, section, path }: { actor: Actor; section: Section | 'account' | null; path: string },
): Shell {
  return {
    groups: NAVIGATION.map(({ title, sections }) => ({
      title,
      links: sections
        .filter(({ role, wholeTeam }) => allows(actor.role, role) && !(actor.tags && wholeTeam))
        .map(({ id: own, path: href, title: text, icon }) => ({
          href,
          text,
          icon,
          current: own === section,
        })),
    })).filter(({ links }) => links.length > 0),
    member: { id, name, email, limit: actor.tags },
    // Pages of errors have the path of the overview, to which their switches return.
    help: path === '/' && section === null ? null : helpPanelOf(path),
    testMode: !actor.livemode,
    canCreateTests: allows(actor.role, 'member'),
    path,
  };
}

export function Breadcrumbs({ parents }: { parents: { href: string; text: string }[] }) {
  if (parents.length === 0) return null;
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumb">
      <ol>
        {parents.map(({ href, text }) => (
          <li key={href}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
