/** The table of domains: figures, headline and first step of each, kept current so that many are read at once. */

import type { Feature } from '../feature.ts';
import { refreshJob, refreshSubscriptions } from './refresh.ts';
import { tableOperations } from './routes.ts';
import { tableTools } from './tools.ts';

export const domainTable: Feature = {
  name: 'domain-table',
  routes: Object.values(tableOperations),
  tools: tableTools,
  jobs: (app) => [refreshJob(app)],
  subscribers: refreshSubscriptions,
};
