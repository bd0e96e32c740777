/** Reports emailed on a schedule. */

import type { Feature } from '../feature.ts';
import { mailSettled } from '../outbox/expire.ts';
import { subscribe } from '../store/subscribers.ts';
import { AUDITED_SCHEDULE } from './change-schedule.ts';
import { scheduleOperations } from './routes.ts';
import { expireReportRunsJob, recordCopyOutcomes, sendReportsJob } from './send.ts';

export const schedules: Feature = {
  name: 'schedules',
  audited: [AUDITED_SCHEDULE],
  routes: Object.values(scheduleOperations),
  jobs: (app) => [sendReportsJob(app), expireReportRunsJob(app)],
  subscribers: () => [subscribe(mailSettled, recordCopyOutcomes)],
};
