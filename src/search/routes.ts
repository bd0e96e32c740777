/** The operation that searches. */

import { type Route, route } from '../http/route.ts';
import { docsEntries } from './docs.ts';
import { SearchQuery, SearchResults } from './schema.ts';
import { search } from './search.ts';

/** `operations` returns those of the API reference, which include this one. */
export function searchRoute(operations: () => Route[]) {
  let docs: ReturnType<typeof docsEntries> | undefined;
  return route({
    method: 'GET',
    path: '/v1/search',
    operation: 'search',
    role: 'viewer',
    summary: 'Search',
    description:
      'Finds tests by name, subject, sender, address or ID among the latest 100,000 of the mode of your key. It also finds domains, pages of the web application, and operations of this reference. Returns only what your role allows you to see: viewers get no domains. Senders of tests that an earlier version analyzed are found by their whole domain or address.',
    query: SearchQuery,
    response: SearchResults,
    async handle({ app, actor, query }) {
      docs ??= docsEntries(operations());
      const groups = await search(app, actor, { ...query, docs });
      return { object: 'search_results' as const, groups };
    },
  });
}

export type SearchRoute = ReturnType<typeof searchRoute>;
