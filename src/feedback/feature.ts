/** Feedback: what receivers report about the mail of the domains. */

import { observed } from '../events/observations.ts';
import type { Feature } from '../feature.ts';
import { isoTime } from '../lib/clock.ts';
import { subscribe } from '../store/subscribers.ts';
import { AUDITED_REPORT, AUDITED_REPORTER, AUDITED_SOURCE } from './audited.ts';
import { feedbackDestination } from './destination.ts';
import { deleteRemovedJob, expireJob } from './expire.ts';
import { FEEDBACK_EVENTS } from './feedback-events.ts';
import { importJob } from './mailboxes/job.ts';
import { mailboxOperations } from './mailboxes/routes.ts';
import { AUDITED_MAILBOX } from './mailboxes/stored.ts';
import { readJob } from './read-job.ts';
import { attributeJob } from './record/attribute.ts';
import { removeJob } from './record/remove.ts';
import { feedbackOperations } from './routes.ts';
import { sourcesJob } from './sources/look-up-job.ts';
import { lookUpAfterTest } from './sources/own-tests.ts';
import { sourceOperations } from './sources/routes.ts';
import { SOURCE_EVENTS } from './sources/schema.ts';
import { stoppedJob } from './stopped-job.ts';
import { storageJob } from './storage/watch-job.ts';
import { feedbackTools } from './tools.ts';
import { trustJob } from './trust-job.ts';
import { watchJob } from './watch/watch-job.ts';

export const feedback: Feature = {
  name: 'feedback',
  events: [...FEEDBACK_EVENTS, ...SOURCE_EVENTS],
  audited: [AUDITED_REPORT, AUDITED_SOURCE, AUDITED_REPORTER, AUDITED_MAILBOX],
  routes: [
    ...Object.values(feedbackOperations),
    ...Object.values(mailboxOperations),
    ...Object.values(sourceOperations),
  ],
  tools: feedbackTools,
  subscribers: ({ clock }) => [
    subscribe(observed, async (tx, observations) => {
      for (const one of observations)
        if (one.kind === 'test') await lookUpAfterTest(tx, one, isoTime(clock.now()));
    }),
  ],
  destinations: (app) => [feedbackDestination(app)],
  jobs: (app) => [
    readJob(app),
    importJob(app),
    trustJob(app),
    attributeJob(app),
    removeJob(app),
    stoppedJob(app),
    storageJob(app),
    sourcesJob(app),
    watchJob(app),
    expireJob(app),
    deleteRemovedJob(app),
  ],
};
