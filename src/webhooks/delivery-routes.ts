/** The operations on deliveries: seen, sent to try an endpoint, and sent once more (contract §9). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { transact } from '../store/after-commit.ts';
import { audit } from '../team/audit.ts';
import { standing } from '../team/permissions.ts';
import { deliveryOr404, listDeliveries, wholeDelivery } from './deliveries.ts';
import { endpointOr404, requireActive } from './endpoints.ts';
import { presentDelivery, presentListed } from './present.ts';
import { recoverDeliveries } from './recover.ts';
import { resendDelivery } from './resend.ts';
import { deliverSample } from './sample.ts';
import {
  DeliveryListQuery,
  DeliveryWaitQuery,
  ListedDelivery,
  RecoveryRequest,
  WebhookDelivery,
  WebhookRecovery,
} from './schema.ts';
import { waitForAttempt } from './wait.ts';

const list = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id/deliveries',
  operation: 'listWebhookDeliveries',
  role: 'admin',
  summary: 'List what was sent, or is to be sent, to a webhook endpoint, newest first',
  query: DeliveryListQuery,
  response: listOf(ListedDelivery),
  async handle({ app, params, query }) {
    const { id } = await endpointOr404(app.db, params.id!);
    const { rows, hasMore } = await listDeliveries(app.db, id, query);
    return { object: 'list' as const, data: rows.map(presentListed), has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries/:id',
  operation: 'getWebhookDelivery',
  role: 'admin',
  summary:
    'Get a delivery with its attempts; with `wait`, as soon as the present one ends or after that many seconds',
  query: DeliveryWaitQuery,
  response: WebhookDelivery,
  async handle({ app, actor, params, query: { wait }, signal }) {
    const id = params.id!;
    const row =
      wait === 0
        ? await deliveryOr404(app.db, id)
        : await waitForAttempt(app, id, wait * 1000, signal);
    return presentDelivery(await wholeDelivery(app.db, row), actor.livemode);
  },
});

const sendSample = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/test',
  operation: 'testWebhookEndpoint',
  role: 'admin',
  summary: 'Send a sample event to a webhook endpoint; the answer is its delivery, to look at',
  status: 201,
  location: ({ id }) => `/v1/webhooks/deliveries/${id}`,
  response: WebhookDelivery,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params, keep } = call;
    return transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const endpoint = await endpointOr404(tx, params.id!);
      requireActive(endpoint);
      const row = { ...(await deliverSample(tx, app, endpoint)), event_livemode: null };
      await audit(tx, call, {
        action: 'webhook_endpoint.tested',
        object: { type: 'webhook_endpoint', id: endpoint.id },
        details: { delivery_id: row.id },
      });
      const answer = presentDelivery({ row, event: null, attempts: [] }, actor.livemode);
      await keep(tx, answer);
      return answer;
    });
  },
});

const resend = route({
  method: 'POST',
  path: '/v1/webhooks/deliveries/:id/resend',
  operation: 'resendWebhookDelivery',
  role: 'admin',
  summary: 'Send a delivery once more, at once and with six attempts as the first time',
  response: WebhookDelivery,
  errors: ['conflict', 'gone'],
  async handle(call) {
    const { app, actor, params, keep } = call;
    return transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const row = await resendDelivery(tx, call, await deliveryOr404(tx, params.id!));
      const answer = presentDelivery(await wholeDelivery(tx, row), actor.livemode);
      await keep(tx, answer);
      return answer;
    });
  },
});

const recover = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/recover',
  operation: 'recoverWebhookDeliveries',
  role: 'admin',
  summary: 'Send once more all that failed, or was held, since a time',
  body: RecoveryRequest,
  response: WebhookRecovery,
  errors: ['conflict'],
  handle: (call) => recoverDeliveries(call, call.params.id!, call.body.since),
});

export const deliveryRoutes = [list, get, sendSample, resend, recover];
