/** All that is done for alert rules at its time. */

import type { App } from '../app.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { closeIncidentsJob } from './close.ts';
import { expireIncidentsJob } from './expire.ts';
import { tellOfManyJob } from './mail-cap.ts';
import { notifyJob } from './notify.ts';
import { sweepIncidentsJob } from './sweep.ts';

export const alertJobs = (app: App): Job[] => [
  notifyJob(app),
  closeIncidentsJob(app),
  sweepIncidentsJob(app),
  tellOfManyJob(app),
  expireIncidentsJob(app),
];
