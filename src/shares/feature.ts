/** Shared links: public URLs to the reports of one or more tests. */

import type { Feature } from '../feature.ts';
import { expireSharesJob } from './change-share.ts';
import { shareOperations } from './routes.ts';

export const shares: Feature = {
  name: 'shares',
  routes: Object.values(shareOperations),
  jobs: (app) => [expireSharesJob(app)],
};
