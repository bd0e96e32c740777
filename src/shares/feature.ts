/** Shared links: public URLs to the reports of one or more tests. */

import type { Feature } from '../feature.ts';
import { expireSharesJob } from './change-share.ts';
import { shareRoutes } from './routes.ts';

export const shares: Feature = {
  name: 'shares',
  routes: shareRoutes,
  jobs: (app) => [expireSharesJob(app)],
};
