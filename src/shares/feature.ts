/** Shared links: public URLs to the reports of one or more tests. */

import type { Feature } from '../feature.ts';
import { AUDITED_SHARE, expireSharesJob } from './change-share.ts';
import { shareOperations } from './routes.ts';

export const shares: Feature = {
  name: 'shares',
  audited: [AUDITED_SHARE],
  routes: Object.values(shareOperations),
  jobs: (app) => [expireSharesJob(app)],
};
