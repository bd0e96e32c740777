/** Events: what has happened, as the API lists it and webhooks carry it. */

import type { Feature } from '../feature.ts';
import { expireEventsJob } from './events.ts';
import { eventRoutes } from './routes.ts';

export const events: Feature = {
  name: 'events',
  routes: eventRoutes,
  jobs: (app) => [expireEventsJob(app)],
};
