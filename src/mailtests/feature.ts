/** Tests: a test address, the message sent to it, and the result of its analysis. */

import type { Feature } from '../feature.ts';
import { analyzeJob } from './analyze.ts';
import { deleteOldTestsJob, expireTalliesJob, expireTestsJob } from './expire.ts';
import { inboxOperations } from './inbox-routes.ts';
import { deleteChunksOfLastRun } from './messages.ts';
import { submitTestByType, testOperations } from './routes.ts';

export const mailtests: Feature = {
  name: 'mailtests',
  routes: [...Object.values(testOperations), ...Object.values(inboxOperations)],
  undocumentedRoutes: () => [submitTestByType],
  jobs: (app) => [
    analyzeJob(app),
    expireTestsJob(app),
    deleteOldTestsJob(app),
    expireTalliesJob(app),
  ],
  onStart: deleteChunksOfLastRun,
};
