/** Events: records of what happened, listed by the API and sent by webhooks. */

import type { Feature } from '../feature.ts';
import { expireEventsJob } from './events.ts';
import { eventRoutes } from './routes.ts';

export const events: Feature = {
  name: 'events',
  routes: eventRoutes,
  jobs: (app) => [expireEventsJob(app)],
};
