/** The groups and operations of the API reference, to be found by name. */

import { slugOf, tagOf } from '../http/openapi/tags.ts';
import type { Route } from '../http/route.ts';
import type { Entry } from './words.ts';

export interface DocsEntry extends Entry {
  path: string;
  detail: string | null;
}

/** What the API reference has about these operations: the groups first. */
export function docsEntries(routes: Route[]): DocsEntry[] {
  const tags = new Set(routes.flatMap(({ path }) => tagOf(path) ?? []));
  const reference: DocsEntry = {
    title: 'API reference',
    words: 'docs documentation authentication errors pagination rate limits test mode',
    path: '/docs',
    detail: null,
  };
  const groups = [...tags].map((tag) => ({
    title: `API: ${tag}`,
    words: 'docs reference',
    path: `/docs/${slugOf(tag)}`,
    detail: null,
  }));
  const operations = routes.flatMap((route) => {
    const tag = tagOf(route.path);
    if (tag === undefined) return [];
    const detail = `${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`;
    return {
      title: route.summary.replaceAll('`', ''),
      words: `${route.operation} ${detail} ${tag} api`,
      path: `/docs/${slugOf(tag)}#${route.operation}`,
      detail,
    };
  });
  return [reference, ...groups, ...operations];
}
