/** Publishes DNS records at name servers for the team: what is proposed, what is changed, and undoing it. */

import type { Feature } from '../feature.ts';
import { AUDITED_CHANGE } from './apply.ts';
import { dnsChangeOperations, dnsServerOperations } from './routes.ts';
import { settleJob } from './settle-job.ts';
import { AUDITED_SERVER, addConfiguredServers } from './stored-servers.ts';
import { dnsChangeTools } from './tools.ts';

export const dnsChanges: Feature = {
  name: 'dns-changes',
  audited: [AUDITED_SERVER, AUDITED_CHANGE],
  routes: [...Object.values(dnsChangeOperations), ...Object.values(dnsServerOperations)],
  tools: dnsChangeTools,
  jobs: (app) => [settleJob(app)],
  onStart: addConfiguredServers,
};
