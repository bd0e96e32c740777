/** The API reference: a list of all operations, and a page for each. It shows the document of `/openapi.json`. */

import type { App } from '../../app.ts';
import { type DeclaredApi, describeApi } from '../../health/describe-api.ts';
import { type Route, route } from '../../http/route.ts';
import { type StaticDocument, staticResponse } from '../../http/static-document.ts';
import { AppError } from '../../lib/errors.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { PAGE_CSP, renderPage } from '../../ui/frame.tsx';
import { DOCS_PATH, OperationPage } from './operation-page.tsx';
import { readReference } from './operations.ts';
import { Overview } from './overview.tsx';
import { DOCS_STYLE } from './style.ts';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${PAGE_CSP}; frame-ancestors 'none'`,
  'cache-control': 'no-cache',
};

/** The API reference of these routes. Each page is rendered by its first request. */
export function docsPages(api: DeclaredApi): Route[] {
  const renderersOf = memoizePerObject((app: App) => readPages(api, app));
  const rendered = memoizePerObject((_app: App) => new Map<string, StaticDocument>());
  const respond = (app: App, name: string): Response => {
    const pages = rendered(app);
    const render = renderersOf(app).get(name);
    if (!render) throw new AppError('not_found', 'Page not found. Check the URL.');
    const page = pages.get(name) ?? { text: render(), headers: HEADERS };
    pages.set(name, page);
    return staticResponse(page);
  };
  return [
    route({
      method: 'GET',
      path: DOCS_PATH,
      operation: 'showDocs',
      role: 'public',
      summary: 'Show the operations of the API reference',
      produces: ['text/html'],
      handle: ({ app }) => respond(app, ''),
    }),
    route({
      method: 'GET',
      path: `${DOCS_PATH}/:operation`,
      operation: 'showDocsPage',
      role: 'public',
      summary: 'Show an operation or an event type of the API reference',
      produces: ['text/html'],
      handle: ({ app, params }) => respond(app, params.operation!),
    }),
  ];
}

/** What renders each page, by the name of its operation. The start page has none. */
function readPages(api: DeclaredApi, { config, version }: App): Map<string, () => string> {
  const reference = readReference(describeApi(api, config, version));
  const { groups, events } = reference;
  const baseUrl = config.BASE_URL.replace(/\/$/, '');
  const service = { baseUrl, version, rate: config.RATE_LIMIT };
  const operations = groups.flatMap((group) => group.operations);
  return new Map([
    ['', () => renderDocs('', <Overview reference={reference} service={service} />)],
    ...operations.map((operation): [string, () => string] => [
      operation.operationId,
      () =>
        renderDocs(operation.summary, <OperationPage operation={operation} baseUrl={baseUrl} />),
    ]),
    ...events.map((event): [string, () => string] => [
      event.operationId,
      () => renderDocs(event.summary, <OperationPage operation={event} />),
    ]),
  ]);
}

const renderDocs = (title: string, main: preact.VNode): string =>
  renderPage({
    title: `${title && `${title.replaceAll('`', '')} · `}API reference · Deliverability`,
    skip: 'Skip to content',
    style: DOCS_STYLE,
    main,
  });
