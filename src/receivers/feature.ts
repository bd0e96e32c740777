/** Receivers: what Google Postmaster Tools and Microsoft SNDS publish about domains and addresses. */

import { domainRemoved } from '../domains/change-domain.ts';
import type { Feature } from '../feature.ts';
import { storeConfiguredSignIns } from '../sign-ins/credentials.ts';
import { subscribe } from '../store/subscribers.ts';
import { registerReceivers } from './accounts.ts';
import { deleteFiguresOfDomain, expireJob } from './expire.ts';
import { fetchJob } from './fetch-job.ts';
import { AUDITED_RECEIVER } from './request-fetch.ts';
import { receiverOperations } from './routes.ts';
import { RECEIVER_EVENTS } from './schema.ts';

export const receivers: Feature = {
  name: 'receivers',
  events: RECEIVER_EVENTS,
  audited: [AUDITED_RECEIVER],
  routes: Object.values(receiverOperations),
  jobs: (app) => [fetchJob(app), expireJob(app)],
  subscribers: () => [subscribe(domainRemoved, deleteFiguresOfDomain)],
  async onStart(app) {
    await registerReceivers(app);
    await storeConfiguredSignIns(app, 'receiver');
  },
};
