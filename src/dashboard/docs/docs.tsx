/** The pages of the API reference. They show the document of `/openapi.json` and load no other resources. */

import type { VNode } from 'preact';
import type { App } from '../../app.ts';
import { type DeclaredApi, describeApi } from '../../health/describe-api.ts';
import { type Route, route } from '../../http/route.ts';
import { type StaticDocument, staticResponse } from '../../http/static-document.ts';
import { AppError } from '../../lib/errors.ts';
import { memoizePerObject } from '../../lib/memoize.ts';
import { PAGE_CSP, renderPage } from '../../report/html/frame.tsx';
import { LinkContext } from './cards.tsx';
import { GroupContents, GroupPage } from './group.tsx';
import { readReference } from './operations.ts';
import { DOCS_PATH, pagesOf, pathOf, placesOf, WHOLE_PATH } from './places.ts';
import { StartContents, StartPage } from './start.tsx';
import { DOCS_STYLE } from './style.ts';
import { WholeContents, WholeReference } from './whole.tsx';

interface DocsContent {
  title: string;
  aside: VNode;
  main: VNode;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${PAGE_CSP}; frame-ancestors 'none'`,
  'cache-control': 'no-cache',
};

/** The API reference of these routes. Each page is rendered by its first request. */
export function docsPages(api: DeclaredApi): Route[] {
  const contentOf = memoizePerObject((app: App) => readDocs(api, app));
  const rendered = memoizePerObject((_app: App) => new Map<string, StaticDocument>());
  const respond = (app: App, path: string): Response => {
    const pages = rendered(app);
    const content = contentOf(app).get(path);
    if (!content) throw new AppError('not_found', 'Page not found. Check the URL.');
    const page = pages.get(path) ?? { text: renderDocs(content()), headers: HEADERS };
    pages.set(path, page);
    return staticResponse(page);
  };
  return [
    route({
      method: 'GET',
      path: DOCS_PATH,
      operation: 'showDocs',
      role: 'public',
      summary: 'Show the start page of the API reference',
      produces: ['text/html'],
      handle: ({ app }) => respond(app, DOCS_PATH),
    }),
    route({
      method: 'GET',
      path: `${DOCS_PATH}/:page`,
      operation: 'showDocsPage',
      role: 'public',
      summary: 'Show a group of the API reference, or all of it',
      produces: ['text/html'],
      handle: ({ app, params }) => respond(app, `${DOCS_PATH}/${params.page}`),
    }),
  ];
}

/** What each page shows, by its path. */
function readDocs(api: DeclaredApi, { config, version }: App): Map<string, () => DocsContent> {
  const reference = readReference(describeApi(api, config, version));
  const baseUrl = config.BASE_URL.replace(/\/$/, '');
  const service = { baseUrl, version, rate: config.RATE_LIMIT };
  const pages = pagesOf(reference);
  const places = placesOf(pages);
  return new Map<string, () => DocsContent>([
    [
      DOCS_PATH,
      () => ({
        title: 'API reference',
        aside: <StartContents pages={pages} />,
        main: <StartPage pages={pages} service={service} />,
      }),
    ],
    [
      WHOLE_PATH,
      () => ({
        title: 'API reference on one page',
        aside: <WholeContents reference={reference} />,
        main: <WholeReference reference={reference} service={service} />,
      }),
    ],
    ...pages.map((page): [string, () => DocsContent] => [
      pathOf(page),
      () => ({
        title: `${page.title} · API reference`,
        aside: <GroupContents page={page} pages={pages} />,
        main: (
          <LinkContext.Provider
            value={(anchor) => {
              const path = places.get(anchor);
              return path === pathOf(page) ? `#${anchor}` : `${path}#${anchor}`;
            }}
          >
            <GroupPage page={page} baseUrl={baseUrl} />
          </LinkContext.Provider>
        ),
      }),
    ]),
  ]);
}

const renderDocs = ({ title, aside, main }: DocsContent): string =>
  renderPage({
    title: `${title} · Deliverability`,
    skip: 'Skip to content',
    style: DOCS_STYLE,
    aside,
    main,
  });
