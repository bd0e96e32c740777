/** Health, readiness, status, capabilities, and the OpenAPI document. */

import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { formatSize } from '../lib/durations.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { engineOf } from '../store/open.ts';
import { shrink } from '../store/sqlite/shrink.ts';
import { metricsRoute } from './metrics.ts';
import { healthOperations, openApiRoute } from './routes.ts';

export const health: Feature = {
  name: 'health',
  routes: [...Object.values(healthOperations), metricsRoute],
  jobs: (app) => [shrinkJob(app)],
  undocumentedRoutes: (api) => [openApiRoute(api)],
};

function shrinkJob({ db, log }: App): Job {
  return {
    name: 'database.shrink',
    // After the jobs that delete.
    tick: '0 51 * * * *',
    async run() {
      if (engineOf(db) !== 'sqlite') return;
      const bytes = await shrink(db);
      if (bytes > 0) log.info('the database file shrank', { by: formatSize(bytes) });
    },
  };
}
