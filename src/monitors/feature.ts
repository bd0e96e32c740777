/** Monitors: domains and IP addresses that are checked on a schedule, and the placement of scheduled messages. */

import { domainRemoved } from '../domains/change-domain.ts';
import { healthRecorded } from '../domains/transitions.ts';
import type { Feature } from '../feature.ts';
import { placementSettled } from '../placement/settle.ts';
import { subscribe } from '../store/subscribers.ts';
import { AUDITED_MONITOR, deleteMonitorsOfDomain } from './change-monitor.ts';
import { followHealth } from './check-domain.ts';
import { recordPlacementRun } from './placement.ts';
import { monitorOperations } from './routes.ts';
import { expireRunsJob, resumeMonitors, runMonitorsJob } from './run.ts';
import { MONITOR_EVENTS } from './schema.ts';

export const monitors: Feature = {
  name: 'monitors',
  events: MONITOR_EVENTS,
  audited: [AUDITED_MONITOR],
  routes: Object.values(monitorOperations),
  jobs: (app) => [runMonitorsJob(app), expireRunsJob(app)],
  subscribers: (app) => [
    subscribe(domainRemoved, deleteMonitorsOfDomain),
    subscribe(healthRecorded, followHealth(app)),
    subscribe(placementSettled, recordPlacementRun(app)),
  ],
  onStart: resumeMonitors,
};
