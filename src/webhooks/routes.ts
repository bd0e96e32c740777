/** The operations on webhooks, in the order of their documentation. */

import { route } from '../http/route.ts';
import { listSchema } from '../http/schemas.ts';
import { audit } from '../team/audit.ts';
import { deletedOf } from '../team/schema.ts';
import {
  deliveryOr404,
  listDeliveries,
  recoverDeliveries,
  resendDelivery,
  waitForAttempt,
  withAttempts,
} from './deliveries.ts';
import { requireAllowedUrl } from './endpoint-url.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  endpointOr404,
  listEndpoints,
  requireActive,
  rotateSecret,
  type SecretEndpoint,
} from './endpoints.ts';
import { deliverSample } from './enqueue.ts';
import {
  DeliveryListQuery,
  DeliveryWaitQuery,
  EndpointListQuery,
  EndpointPatch,
  EndpointWithSecret,
  ListedDelivery,
  NewEndpoint,
  presentDelivery,
  presentEndpoint,
  presentListed,
  RecoveryRequest,
  Rotation,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookRecovery,
} from './schema.ts';

// The operations on deliveries (contract §9).

const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id/deliveries',
  operation: 'listWebhookDeliveries',
  role: 'admin',
  summary: 'List the deliveries of a webhook endpoint, newest first',
  query: DeliveryListQuery,
  response: listSchema(ListedDelivery),
  async handle({ app, params, query }) {
    const { id } = await endpointOr404(app.db, params.id!);
    const { rows, hasMore } = await listDeliveries(app.db, id, query);
    return { object: 'list' as const, data: rows.map(presentListed), has_more: hasMore };
  },
});

const getDeliveryRoute = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries/:id',
  operation: 'getWebhookDelivery',
  role: 'admin',
  summary:
    'Get a delivery with its attempts; with `wait`, wait up to that many seconds for the current attempt',
  query: DeliveryWaitQuery,
  response: WebhookDelivery,
  async handle({ app, actor, params, query: { wait }, signal }) {
    const id = params.id!;
    const row =
      wait === 0
        ? await deliveryOr404(app.db, id)
        : await waitForAttempt(app, id, wait * 1000, signal);
    return presentDelivery(await withAttempts(app.db, row), actor.livemode);
  },
});

const sendSampleRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/test',
  operation: 'testWebhookEndpoint',
  role: 'admin',
  summary: 'Send a sample event to a webhook endpoint and get its delivery',
  status: 201,
  location: ({ id }) => `/v1/webhooks/deliveries/${id}`,
  response: WebhookDelivery,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params } = call;
    return call.transact(async (tx) => {
      const endpoint = await endpointOr404(tx, params.id!);
      requireActive(endpoint);
      const row = { ...(await deliverSample(tx, app, endpoint)), event_livemode: null };
      await audit(tx, call, {
        action: 'webhook_endpoint.tested',
        object: { type: 'webhook_endpoint', id: endpoint.id },
        details: { delivery_id: row.id },
      });
      return presentDelivery({ row, event: null, attempts: [] }, actor.livemode);
    });
  },
});

const resendDeliveryRoute = route({
  method: 'POST',
  path: '/v1/webhooks/deliveries/:id/resend',
  operation: 'resendWebhookDelivery',
  role: 'admin',
  summary: 'Resend a delivery now, with up to six more attempts',
  response: WebhookDelivery,
  errors: ['conflict', 'gone'],
  async handle(call) {
    const { actor, params } = call;
    return call.transact(async (tx) => {
      const row = await resendDelivery(tx, call, await deliveryOr404(tx, params.id!));
      return presentDelivery(await withAttempts(tx, row), actor.livemode);
    });
  },
});

const recoverDeliveriesRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/recover',
  operation: 'recoverWebhookDeliveries',
  role: 'admin',
  summary: 'Resend all deliveries that failed or were held since a given time',
  body: RecoveryRequest,
  response: WebhookRecovery,
  errors: ['conflict'],
  handle: (call) => recoverDeliveries(call, call.params.id!, call.body.since),
});

const deliveryRoutes = [
  listDeliveriesRoute,
  getDeliveryRoute,
  sendSampleRoute,
  resendDeliveryRoute,
  recoverDeliveriesRoute,
];

// The operations on webhook endpoints (contract §9).

const presentSecret = ({ row, secret }: SecretEndpoint) => ({ ...presentEndpoint(row), secret });

const createEndpointRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints',
  operation: 'createWebhookEndpoint',
  role: 'admin',
  summary: 'Create a webhook endpoint; only this response includes its signing secret',
  body: NewEndpoint,
  status: 201,
  location: ({ id }) => `/v1/webhooks/endpoints/${id}`,
  response: EndpointWithSecret,
  errors: ['conflict'],
  async handle(call) {
    const { app, body } = call;
    requireAllowedUrl(body.url, app.config.WEBHOOK_ALLOW_NETWORKS);
    return call.transact(async (tx) => presentSecret(await createEndpoint(tx, call, body)));
  },
});

const listEndpointsRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints',
  operation: 'listWebhookEndpoints',
  role: 'admin',
  summary: 'List webhook endpoints, newest first',
  query: EndpointListQuery,
  response: listSchema(WebhookEndpoint),
  async handle({ app, query }) {
    const { rows, hasMore } = await listEndpoints(app.db, query);
    return { object: 'list' as const, data: rows.map(presentEndpoint), has_more: hasMore };
  },
});

const getEndpointRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id',
  operation: 'getWebhookEndpoint',
  role: 'admin',
  summary: 'Get a webhook endpoint',
  etag: true,
  response: WebhookEndpoint,
  async handle({ app, params }) {
    return presentEndpoint(await endpointOr404(app.db, params.id!));
  },
});

const updateEndpointRoute = route({
  method: 'PATCH',
  path: '/v1/webhooks/endpoints/:id',
  operation: 'updateWebhookEndpoint',
  role: 'admin',
  summary: 'Update, enable or disable a webhook endpoint; a disabled one receives no events',
  etag: true,
  body: EndpointPatch,
  response: WebhookEndpoint,
  async handle(call) {
    const { app, params, body } = call;
    if (body.url !== undefined) requireAllowedUrl(body.url, app.config.WEBHOOK_ALLOW_NETWORKS);
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, params.id!);
      call.ifMatch(presentEndpoint(current));
      return presentEndpoint(await changeEndpoint(tx, call, current, body));
    });
  },
});

const deleteEndpointRoute = route({
  method: 'DELETE',
  path: '/v1/webhooks/endpoints/:id',
  operation: 'deleteWebhookEndpoint',
  role: 'admin',
  summary: 'Delete a webhook endpoint and its deliveries, including pending ones',
  response: deletedOf('webhook_endpoint'),
  async handle(call) {
    const { params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, id);
      call.ifMatch(presentEndpoint(current));
      await deleteEndpoint(tx, call, current);
      return { id, object: 'webhook_endpoint', deleted: true };
    });
  },
});

const rotateSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/rotate-secret',
  operation: 'rotateWebhookSecret',
  role: 'admin',
  summary:
    'Rotate the signing secret; events are also signed with the previous one for `overlap` seconds',
  body: Rotation,
  response: EndpointWithSecret,
  async handle(call) {
    const { params, body } = call;
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, params.id!);
      return presentSecret(await rotateSecret(tx, call, current, body.overlap));
    });
  },
});

const endpointRoutes = [
  createEndpointRoute,
  listEndpointsRoute,
  getEndpointRoute,
  updateEndpointRoute,
  deleteEndpointRoute,
  rotateSecretRoute,
];

export const webhookRoutes = [...endpointRoutes, ...deliveryRoutes];
