/** The emails that the service sends. */

import type { Feature } from '../feature.ts';
import { expireMailJob } from './expire.ts';
import { sendMailJob } from './send.ts';

export const outbox: Feature = {
  name: 'outbox',
  jobs: (app) => [sendMailJob(app), expireMailJob(app)],
};
