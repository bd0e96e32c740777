/** The page about the API, made from the same document as `/openapi.json`; it needs nothing but itself. */

import type { App } from '../../app.ts';
import { describeApi } from '../../health/routes.ts';
import { type Route, route } from '../../http/route.ts';
import { oncePer } from '../../lib/once-per.ts';
import { PAGE_CSP, renderPage } from '../../report/html/frame.tsx';
import { Introduction, type Setting, TOPICS } from './introduction.tsx';
import { Method, OperationCard } from './operation.tsx';
import { type Group, type Operation, readOperations } from './operations.ts';

/** The page about these routes. It is made once, when it is first asked for. */
export function docsPage(documented: Route[]): Route {
  const htmlOf = oncePer((app: App) => renderDocs(documented, app));
  return route({
    method: 'GET',
    path: '/docs',
    operation: 'showDocs',
    role: 'public',
    summary: 'The reference of the API',
    produces: ['text/html'],
    handle({ app }) {
      return new Response(htmlOf(app), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': `${PAGE_CSP}; frame-ancestors 'none'`,
          'cache-control': 'no-cache',
        },
      });
    },
  });
}

function renderDocs(documented: Route[], { config, version }: App): string {
  const groups = readOperations(describeApi(documented, config, version));
  const setting = {
    baseUrl: config.BASE_URL.replace(/\/$/, ''),
    version,
    rate: config.RATE_LIMIT,
  };
  return renderPage({
    title: 'API reference · Deliverability',
    skip: 'Skip to the reference',
    style: DOCS_STYLE,
    aside: <Contents groups={groups} />,
    main: <Reference groups={groups} setting={setting} />,
  });
}

function Reference({ groups, setting }: { groups: Group[]; setting: Setting }) {
  return (
    <>
      <h1>API reference</h1>
      <p class="lead">
        Send a test mail to an address that the service gives you, and read what receivers make of
        it: the score, what lost points, and how to mend it. For programs there is the same
        reference as an OpenAPI document at <a href="/openapi.json">/openapi.json</a>.
      </p>
      <p class="address-of small muted">Version {setting.version}</p>
      <Introduction {...setting} />
      {groups.map(({ id, title, operations }) => (
        <section key={id} id={id} class="group" aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title}</h2>
          <ul class="short">
            <Links operations={operations} />
          </ul>
          {operations.map((operation) => (
            <OperationCard
              key={operation.operationId}
              operation={operation}
              baseUrl={setting.baseUrl}
            />
          ))}
        </section>
      ))}
    </>
  );
}

/** At the side where there is room; above, without the single operations, where there is none. */
function Contents({ groups }: { groups: Group[] }) {
  return (
    <nav class="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">On this page</h2>
      <ul>
        {TOPICS.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
        {groups.map(({ id, title, operations }) => (
          <li key={id} class="parted">
            <a href={`#${id}`}>{title}</a>
            <ul class="below">
              <Links operations={operations} />
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The version, which all share, is left out where there is little room. */
function Links({ operations }: { operations: Operation[] }) {
  return (
    <>
      {operations.map(({ operationId, method, path, summary }) => (
        <li key={operationId}>
          <a href={`#${operationId}`} title={summary.replaceAll('`', '')}>
            <Method method={method} /> <code>{path.replace(/^\/v1(?!\/status)/, '')}</code>
          </a>
        </li>
      ))}
    </>
  );
}

// The style of the page about the API, beyond that of every page.

const DOCS_STYLE = `
.with-aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 40px; }
main { padding: 24px 0 48px; outline: none; min-width: 0; }
.lead { margin-top: 8px; }
.address-of { margin-top: 12px; }
.contents { padding-top: 16px; font-size: 14px; }
.contents h2 { font-size: 14px; color: var(--muted); }
.contents > ul { display: flex; flex-wrap: wrap; gap: 0 16px; }
.contents a { display: inline-block; padding: 4px 0; }
.contents .below { display: none; }
.topic, .group { margin-top: 40px; }
.topic > * + * { margin-top: 12px; }
.topic > p code, .limits code, .errors code, .small code, td code, h4 code { overflow-wrap: anywhere; }
.group > .short { margin-top: 8px; font-size: 14px; }
.short a { display: flex; gap: 8px; align-items: baseline; padding: 4px 0; text-decoration: none; }
.short a:hover code { text-decoration: underline; }
.operation { margin-top: 16px; padding: 20px 24px; }
.operation:target { border-color: var(--accent); outline: 1px solid var(--accent); }
.operation section { margin-top: 20px; }
.operation h3 { font-size: 16px; }
.operation h4 { margin-bottom: 4px; font-size: 14px; color: var(--muted); }
.address { margin: 4px 0; }
.address a { display: inline-flex; gap: 8px; align-items: baseline; color: var(--ink); text-decoration: none; }
.address a:hover code { text-decoration: underline; }
.method { flex: none; min-width: 52px; font: 650 14px/20px var(--mono); color: var(--tone); }
.get { --tone: var(--info); }
.post { --tone: var(--pass); }
.patch { --tone: var(--warn); }
.delete { --tone: var(--fail); }
.fields > li { padding: 8px 0; border-top: 1px solid var(--line); }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: 4px 0 0 4px; padding-left: 16px; border-left: 2px solid var(--line); }
.field-line { font-size: 14px; }
.field-line .name { font-weight: 650; margin-right: 4px; }
.mark { margin-left: 4px; font-size: 14px; color: var(--muted); }
.mark.needed { color: var(--accent); font-weight: 600; }
.limits { font-size: 14px; }
.limits code { color: var(--ink); }
.command code { white-space: pre-wrap; }
.command + .command { margin-top: 8px; }
.answer > summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; padding: 4px 0; font-size: 14px; }
.answered { padding: 4px 0 8px 24px; }
.errors > div { display: grid; grid-template-columns: 40px minmax(0, 1fr); padding: 4px 0 4px 24px; font-size: 14px; }
.errors dt { font-weight: 600; }
.codes td:first-child, .codes td:nth-child(2) code { white-space: nowrap; }
@media (min-width: 1000px) {
  .with-aside { grid-template-columns: 288px minmax(0, 1fr); gap: 0 32px; }
  .contents { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 24px 8px 24px 0; }
  .contents > ul { display: block; }
  .contents > ul > li { margin-bottom: 4px; }
  .contents > ul > li.parted { margin-top: 16px; }
  .contents .below { display: block; }
  .contents .below a { display: grid; grid-template-columns: 60px minmax(0, 1fr); color: var(--ink); text-decoration: none; }
  .contents .below a:hover code { text-decoration: underline; }
  .contents > ul > li > a { text-decoration: none; }
  .contents > ul > li > a:hover { text-decoration: underline; }
  .contents .parted > a { font-weight: 600; color: var(--muted); }
  .contents .parted > a:hover { color: var(--accent); }
  .group > .short { display: none; }
}
@media (max-width: 640px) {
  .operation { padding: 16px; }
  .address a { display: block; }
  .codes thead { display: none; }
  .codes tr { display: grid; grid-template-columns: 40px minmax(0, 1fr); padding: 8px 0; border-bottom: 1px solid var(--line); }
  .codes td { padding: 0; border: 0; }
  .codes td:last-child { grid-column: 2; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
  .answered { padding-left: 8px; }
  .errors > div { padding-left: 0; }
}
@media print {
  .contents, .group > .short { display: none; }
  .with-aside { display: block; }
  main { padding: 0; }
  .operation { padding: 12px 16px; border-color: #bbb; }
  .operation > header, .command { break-inside: avoid; }
  .operation > header, .operation h4 { break-after: avoid; }
  .box { padding: 8px; background: #fff; }
  .topic, .group { margin-top: 24px; }
  .operation section { margin-top: 12px; }
  .fields > li { padding: 1px 0; }
  .fields > li > p { display: inline; }
  .fields > li > p + p::before { content: "· "; }
  .field-line, .limits, .errors > div, .command code, .fields code { font-size: 12px; line-height: 1.4; }
  .errors > div { padding: 1px 0; }
}
`;
