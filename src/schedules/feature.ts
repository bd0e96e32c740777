/** Reports emailed on a schedule. */

import type { Feature } from '../feature.ts';
import { mailEnded } from '../outbox/expire.ts';
import { subscribe } from '../store/subscribers.ts';
import { scheduleRoutes } from './routes.ts';
import { expireReportRunsJob, keepCopyEnds, sendReportsJob } from './send.ts';

export const schedules: Feature = {
  name: 'schedules',
  routes: scheduleRoutes,
  jobs: (app) => [sendReportsJob(app), expireReportRunsJob(app)],
  subscribers: () => [subscribe(mailEnded, keepCopyEnds)],
};
