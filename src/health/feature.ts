/** Health, readiness, status, capabilities, and the OpenAPI document. */

import type { Feature } from '../feature.ts';
import { healthRoutes, openApiRoute } from './routes.ts';

export const health: Feature = {
  name: 'health',
  routes: healthRoutes,
  undocumentedRoutes: (documented) => [openApiRoute(documented)],
};
