/** Every operation of the API, in the order of its documentation. */

import { alertRoutes } from './alerts/routes.ts';
import { badgeRoutes } from './badges/routes.ts';
import { allPages } from './dashboard/routes.ts';
import { domainRoutes } from './domains/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { healthRoutes, openApiRoute } from './health/routes.ts';
import type { Route } from './http/route.ts';
import { testRoutes } from './mailtests/routes.ts';
import { monitorRoutes } from './monitors/routes.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { shareRoutes } from './shares/routes.ts';
import { summaryRoutes } from './summary/routes.ts';
import { teamRoutes } from './team/routes.ts';
import { sessionRoutes } from './team/session-routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

// The operations on reports (contract §5).

const reportRoutes = [...summaryRoutes, ...shareRoutes, ...badgeRoutes, ...scheduleRoutes];

const documented: Route[] = [
  ...healthRoutes,
  ...testRoutes,
  ...domainRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...monitorRoutes,
  ...alertRoutes,
  ...reportRoutes,
  ...teamRoutes,
  ...sessionRoutes,
];

/** Pages for people stand outside of the documentation of the API. */
export const ROUTES: Route[] = [...documented, openApiRoute(documented), ...allPages(documented)];
/** What `openapi` prints and `/openapi.json` serves. */
export const DOCUMENTED_ROUTES = documented;
