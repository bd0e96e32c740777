/** Tests: a test address, the message sent to it, and the result of its analysis. */

import type { Feature } from '../feature.ts';
import type { Route } from '../http/route.ts';
import { deleteChunksOfLastRun } from '../store/chunks.ts';
import { analyzeJob } from './analyze.ts';
import { AUDITED_INBOX, AUDITED_TEST } from './audited.ts';
import { deleteOldTestsJob, expireTalliesJob, expireTestsJob } from './expire.ts';
import { imageOperations } from './image-routes.ts';
import { inboxDestination } from './inbox-mail.ts';
import { inboxOperations } from './inbox-routes.ts';
import { monitorDestination } from './monitor-mail.ts';
import { postmasterDestination } from './postmaster-mail.ts';
import { submitTestByType, testOperations } from './routes.ts';
import { TEST_EVENTS } from './schema.ts';
import { testDestination } from './test-mail.ts';
import { mailtestTools } from './tools.ts';
import { unsubscribeOperations } from './unsubscribe.ts';

export const mailtests: Feature = {
  name: 'mailtests',
  events: TEST_EVENTS,
  audited: [AUDITED_TEST, AUDITED_INBOX],
  routes: [testOperations, imageOperations, unsubscribeOperations, inboxOperations].flatMap<Route>(
    (operations) => Object.values(operations),
  ),
  tools: mailtestTools,
  undocumentedRoutes: () => [submitTestByType],
  destinations: (app) => [
    testDestination(app),
    inboxDestination(app),
    monitorDestination(app),
    postmasterDestination(app),
  ],
  jobs: (app) => [
    analyzeJob(app),
    expireTestsJob(app),
    deleteOldTestsJob(app),
    expireTalliesJob(app),
  ],
  onStart: deleteChunksOfLastRun,
};
