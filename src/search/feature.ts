/** The search over tests, domains, pages, and the API reference. */

import type { Feature } from '../feature.ts';
import type { Route } from '../http/route.ts';
import { searchRoute } from './routes.ts';

/** `operations` is called by requests: the list that it returns includes the search. */
export const search = (operations: () => Route[]): Feature => ({
  name: 'search',
  routes: [searchRoute(operations)],
});
