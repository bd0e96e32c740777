/** Inbox placement: looks for the messages of tests in seed mailboxes, and records where they arrived. */

import type { Feature } from '../feature.ts';
import { storeConfiguredSignIns } from '../sign-ins/credentials.ts';
import { cleanUpJob } from './clean-up.ts';
import { keepAliveJob } from './keep-alive.ts';
import { lookJob } from './look-job.ts';
import { registerSeeds } from './seeds.ts';
import { settleJob } from './settle.ts';

export const placement: Feature = {
  name: 'placement',
  jobs: (app) => [lookJob(app), settleJob(app), keepAliveJob(app), cleanUpJob(app)],
  async onStart(app) {
    await registerSeeds(app);
    await storeConfiguredSignIns(app, 'seed');
  },
};
