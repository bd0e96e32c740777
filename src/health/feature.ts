/** Health, readiness, status, capabilities, and the OpenAPI document. */

import type { Feature } from '../feature.ts';
import { metricsRoute } from './metrics.ts';
import { healthOperations, openApiRoute } from './routes.ts';
import { shrinkJob } from './shrink-job.ts';

export const health: Feature = {
  name: 'health',
  routes: [...Object.values(healthOperations), metricsRoute],
  jobs: (app) => [shrinkJob(app)],
  undocumentedRoutes: (api) => [openApiRoute(api)],
};
