/** Every operation of the API, in the order of its documentation. */

import { openApiRoute } from './health/openapi.ts';
import { healthRoutes } from './health/routes.ts';
import type { Route } from './http/route.ts';
import { testRoutes } from './mailtests/routes.ts';
import { teamRoutes } from './team/routes.ts';
import { sessionRoutes } from './team/session-routes.ts';

const documented: Route[] = [...healthRoutes, ...testRoutes, ...teamRoutes, ...sessionRoutes];

export const ROUTES: Route[] = [...documented, openApiRoute(documented)];
/** What `openapi` prints and `/openapi.json` serves. */
export const DOCUMENTED_ROUTES = documented;
