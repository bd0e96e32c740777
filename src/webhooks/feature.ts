/** Webhooks: events delivered to the team's endpoints. */

import { eventAppended } from '../events/events.ts';
import type { Feature } from '../feature.ts';
import type { Route } from '../http/route.ts';
import { subscribe } from '../store/subscribers.ts';
import { bringDeliveriesForward, releaseDeliveries } from './claim.ts';
import { deliverJob } from './deliver.ts';
import { AUDITED_DELIVERY } from './deliveries.ts';
import { AUDITED_ENDPOINT } from './endpoints.ts';
import { enqueueDeliveries } from './enqueue.ts';
import { expireDeliveriesJob } from './expire.ts';
import { deliveryOperations, endpointOperations } from './routes.ts';

export const webhooks: Feature = {
  name: 'webhooks',
  audited: [AUDITED_ENDPOINT, AUDITED_DELIVERY],
  routes: [endpointOperations, deliveryOperations].flatMap((group) => Object.values<Route>(group)),
  jobs: (app) => [deliverJob(app), expireDeliveriesJob(app)],
  subscribers: (app) => [subscribe(eventAppended, enqueueDeliveries(app))],
  async onStart(app) {
    await releaseDeliveries(app);
    await bringDeliveriesForward(app);
  },
};
