/** The team's domains: their verification by DNS record, and their health. */

import type { Feature } from '../feature.ts';
import { domainRoutes } from './routes.ts';
import { verifyDomainsJob } from './verify-job.ts';

export const domains: Feature = {
  name: 'domains',
  routes: domainRoutes,
  jobs: (app) => [verifyDomainsJob(app)],
};
