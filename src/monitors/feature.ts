/** Monitors: domains and IP addresses that are checked on a schedule. */

import { domainRemoved } from '../domains/change-domain.ts';
import type { Feature } from '../feature.ts';
import { subscribe } from '../store/subscribers.ts';
import { deleteMonitorsOfDomain } from './change-monitor.ts';
import { monitorRoutes } from './routes.ts';
import { expireRunsJob, resumeMonitors, runMonitorsJob } from './run.ts';

export const monitors: Feature = {
  name: 'monitors',
  routes: monitorRoutes,
  jobs: (app) => [runMonitorsJob(app), expireRunsJob(app)],
  subscribers: () => [subscribe(domainRemoved, deleteMonitorsOfDomain)],
  onStart: resumeMonitors,
};
