/** Every job of the running service: what it does by itself as time goes on. */

import { alertJobs } from './alerts/jobs.ts';
import type { App } from './app.ts';
import { verifyDomainsJob } from './domains/verify.ts';
import { expireEventsJob } from './events/expire.ts';
import { expireAnswers } from './http/idempotency.ts';
import { analyzeJob } from './mailtests/analyze.ts';
import { expireTestsJob, retireTestsJob } from './mailtests/expire.ts';
import { expireTalliesJob } from './mailtests/expire-tallies.ts';
import { expireRunsJob } from './monitors/expire.ts';
import { runMonitorsJob } from './monitors/run.ts';
import { expireMailJob } from './outbox/expire.ts';
import { sendMailJob } from './outbox/send.ts';
import { expireReportRunsJob } from './reports/run-expire.ts';
import { sendReportsJob } from './reports/run-send.ts';
import { expireSharesJob } from './reports/share-expire.ts';
import type { Job } from './scheduler/scheduler.ts';
import { expireSessionsJob } from './team/session-expire.ts';
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
