/** The page about the API, made from the same document as `/openapi.json`; it needs nothing but itself. */

import type { App } from '../../app.ts';
import { describeApi } from '../../health/openapi.ts';
import { type Route, route } from '../../http/route.ts';
import { PAGE_CSP, renderPage } from '../../render/page/frame.tsx';
import { Introduction, type Setting, TOPICS } from './introduction.tsx';
import { Method, OperationCard } from './operation.tsx';
import { type Group, type Operation, readOperations } from './operations.ts';
import { DOCS_STYLE } from './style.ts';

/** The page about these routes. It is made once, when it is first asked for. */
export function docsPage(documented: Route[]): Route {
  const made = new WeakMap<App, string>();
  return route({
    method: 'GET',
    path: '/docs',
    operation: 'showDocs',
    role: 'public',
    summary: 'The reference of the API',
    produces: ['text/html'],
    handle({ app }) {
      let html = made.get(app);
      if (html === undefined) {
        html = renderDocs(documented, app);
        made.set(app, html);
      }
      return new Response(html, {
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
