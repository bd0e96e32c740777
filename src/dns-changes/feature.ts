/** Publishes DNS records at name servers for the team: what is proposed, what is changed, and undoing it. */

import type { Feature } from '../feature.ts';
import { dnsChangeOperations, dnsServerOperations } from './routes.ts';
import { settleJob } from './settle-job.ts';

export const dnsChanges: Feature = {
  name: 'dns-changes',
  routes: [...Object.values(dnsChangeOperations), ...Object.values(dnsServerOperations)],
  jobs: (app) => [settleJob(app)],
};
