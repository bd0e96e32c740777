/** The operation that searches. */

import { route } from '../http/route.ts';
import { SearchQuery, SearchResults } from './schema.ts';
import { search } from './search.ts';

export const searchRoute = route({
  method: 'GET',
  path: '/v1/search',
  operation: 'search',
  limited: true,
  role: 'viewer',
  summary: 'Search',
  description:
    'Finds domains, pages of the web application, tests and chapters of the help. Tests are found by name, subject, sender, address or ID among the latest 100,000 of the mode of your key. The groups are in this order, and a domain with exactly the name that you search for is the first result. Returns only what your role allows you to see: viewers get no domains. Senders of tests that an earlier version analyzed are found by their whole domain or address.',
  query: SearchQuery,
  response: SearchResults,
  async handle({ app, actor, query }) {
    const groups = await search(app, actor, query);
    return { object: 'search_results' as const, groups };
  },
});
