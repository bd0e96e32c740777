/** Feedback: what receivers report about the mail of the domains. */

import type { Feature } from '../feature.ts';
import { feedbackDestination } from './destination.ts';
import { deleteRemovedJob, expireJob } from './expire.ts';
import { readJob } from './read-job.ts';
import { feedbackOperations } from './routes.ts';
import { FEEDBACK_EVENTS } from './schema.ts';
import { stoppedJob } from './stopped-job.ts';
import { trustJob } from './trust-job.ts';

export const feedback: Feature = {
  name: 'feedback',
  events: FEEDBACK_EVENTS,
  routes: Object.values(feedbackOperations),
  destinations: (app) => [feedbackDestination(app)],
  jobs: (app) => [
    readJob(app),
    trustJob(app),
    stoppedJob(app),
    expireJob(app),
    deleteRemovedJob(app),
  ],
};
