/** Every job of the running service: what it does by itself as time goes on. */

import { alertJobs } from './alerts/jobs.ts';
import type { App } from './app.ts';
import { verifyDomainsJob } from './domains/verify-job.ts';
import { expireEventsJob } from './events/events.ts';
import { expireAnswers } from './http/idempotency.ts';
import { analyzeJob } from './mailtests/analyze.ts';
import { expireTalliesJob, expireTestsJob, retireTestsJob } from './mailtests/expire.ts';
import { expireRunsJob, runMonitorsJob } from './monitors/run.ts';
import { expireMailJob } from './outbox/expire.ts';
import { sendMailJob } from './outbox/send.ts';
import type { Job } from './scheduler/scheduler.ts';
import { expireReportRunsJob, sendReportsJob } from './schedules/send.ts';
import { expireSharesJob } from './shares/change-share.ts';
import { expireSessionsJob } from './team/sessions.ts';
import { deliverJob } from './webhooks/deliver.ts';
import { expireDeliveriesJob } from './webhooks/expire.ts';

export const jobsOf = (app: App): Job[] => [
  analyzeJob(app),
  expireTestsJob(app),
  retireTestsJob(app),
  expireTalliesJob(app),
  expireEventsJob(app),
  sendMailJob(app),
  expireMailJob(app),
  expireSessionsJob(app),
  verifyDomainsJob(app),
  deliverJob(app),
  ...alertJobs(app),
  expireDeliveriesJob(app),
  runMonitorsJob(app),
  expireRunsJob(app),
  sendReportsJob(app),
  expireReportRunsJob(app),
  expireSharesJob(app),
  { name: 'expire answers', tick: '0 37 * * * *', run: () => expireAnswers(app) },
  { name: 'test blocklists', tick: '0 * * * * *', run: async () => void app.blocklists.retest() },
];
