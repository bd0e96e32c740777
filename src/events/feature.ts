/** Events: records of what happened, listed by the API and sent by webhooks. */

import type { Feature } from '../feature.ts';
import { expireEventsJob } from './events.ts';
import { eventOperations } from './routes.ts';

export const events: Feature = {
  name: 'events',
  routes: Object.values(eventOperations),
  jobs: (app) => [expireEventsJob(app)],
};
