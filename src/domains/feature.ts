/** The team's domains: their verification by DNS record, and their health. */

import type { Feature } from '../feature.ts';
import { domainOperations } from './routes.ts';
import { verifyDomainsJob } from './verify-job.ts';

export const domains: Feature = {
  name: 'domains',
  routes: Object.values(domainOperations),
  jobs: (app) => [verifyDomainsJob(app)],
};
