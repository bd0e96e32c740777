/** The operations on webhooks, in the order of their documentation. */

import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { deletedOf, idOf, listOf, listSchema } from '../http/schemas.ts';
import { audit } from '../team/audit.ts';
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
  type EndpointAndSecret,
  endpointOr404,
  listEndpoints,
  requireActive,
  rotateSecret,
} from './endpoints.ts';
import { enqueueSample } from './enqueue.ts';
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

const WEBHOOK_ENDPOINT_ID = idOf('whe', 'The ID of the webhook endpoint.');
const DELIVERY_ID = idOf('whd', 'The ID of the delivery.');

// The operations on deliveries (contract §9).

const editableEndpoint = editableBy(EndpointPatch);

const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id/deliveries',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'listWebhookDeliveries',
  role: 'admin',
  summary: 'List the deliveries of an endpoint',
  description: 'Returns the deliveries of a webhook endpoint, newest first.',
  query: DeliveryListQuery,
  response: listSchema(ListedDelivery),
  async handle({ app, actor, params, query }) {
    const { id } = await endpointOr404(app.db, params.id!, actor);
    const { rows, hasMore } = await listDeliveries(app.db, id, query);
    return listOf(rows.map(presentListed), hasMore);
  },
});

const getDeliveryRoute = route({
  method: 'GET',
  path: '/v1/webhooks/deliveries/:id',
  params: { id: DELIVERY_ID },
  operation: 'getWebhookDelivery',
  role: 'admin',
  summary: 'Get a delivery',
  description:
    'Returns a delivery with its attempts. With `wait`, the response comes when the current attempt ends, or after that many seconds.',
  query: DeliveryWaitQuery,
  response: WebhookDelivery,
  async handle({ app, actor, params, query: { wait }, signal }) {
    const id = params.id!;
    const row =
      wait === 0
        ? await deliveryOr404(app.db, id, actor)
        : await waitForAttempt(app, { id, actor }, wait * 1000, signal);
    return presentDelivery(await withAttempts(app.db, row), actor.livemode);
  },
});

const sendSampleRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/test',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'testWebhookEndpoint',
  role: 'admin',
  hasTestMode: true,
  summary: 'Send a sample event',
  description:
    'Sends a sample `test.completed` event to a webhook endpoint, and returns its delivery.',
  status: 201,
  location: ({ id }) => `/v1/webhooks/deliveries/${id}`,
  response: WebhookDelivery,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params } = call;
    return call.transact(async (tx) => {
      const endpoint = await endpointOr404(tx, params.id!, call.actor);
      requireActive(endpoint);
      const row = { ...(await enqueueSample(tx, app, endpoint)), event_livemode: null };
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
  params: { id: DELIVERY_ID },
  operation: 'resendWebhookDelivery',
  role: 'admin',
  hasTestMode: true,
  summary: 'Resend a delivery',
  description:
    'Sends the event again now. A delivery that has ended gets up to six more attempts. One that waits for its next attempt keeps its schedule.',
  response: WebhookDelivery,
  errors: ['conflict', 'gone'],
  async handle(call) {
    const { actor, params } = call;
    return call.transact(async (tx) => {
      const row = await resendDelivery(tx, call, params.id!);
      return presentDelivery(await withAttempts(tx, row), actor.livemode);
    });
  },
});

const recoverDeliveriesRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/recover',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'recoverWebhookDeliveries',
  role: 'admin',
  hasTestMode: true,
  summary: 'Resend failed deliveries',
  description:
    'Resends all deliveries of a webhook endpoint that failed or were held since a given time.',
  body: RecoveryRequest,
  response: WebhookRecovery,
  errors: ['conflict'],
  handle: (call) => recoverDeliveries(call, call.params.id!, call.body.since),
});

// The operations on webhook endpoints (contract §9).

const presentSecret = ({ row, secret }: EndpointAndSecret) => ({ ...presentEndpoint(row), secret });

const createEndpointRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints',
  operation: 'createWebhookEndpoint',
  role: 'admin',
  hasTestMode: true,
  summary: 'Create a webhook endpoint',
  description:
    'Creates an endpoint that receives events. Only this response and that of a rotation include the signing secret.',
  body: NewEndpoint,
  status: 201,
  etag: editableEndpoint,
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
  summary: 'List webhook endpoints',
  description: 'Returns the webhook endpoints of your team, newest first.',
  query: EndpointListQuery,
  response: listSchema(WebhookEndpoint),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listEndpoints(app.db, actor, query);
    return listOf(rows.map(presentEndpoint), hasMore);
  },
});

const getEndpointRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'getWebhookEndpoint',
  role: 'admin',
  summary: 'Get a webhook endpoint',
  description: 'Returns a webhook endpoint without its signing secret.',
  etag: editableEndpoint,
  response: WebhookEndpoint,
  async handle({ app, actor, params }) {
    return presentEndpoint(await endpointOr404(app.db, params.id!, actor));
  },
});

const updateEndpointRoute = route({
  method: 'PATCH',
  path: '/v1/webhooks/endpoints/:id',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'updateWebhookEndpoint',
  role: 'admin',
  hasTestMode: true,
  summary: 'Update a webhook endpoint',
  description:
    'Changes, enables or disables a webhook endpoint. A disabled one receives no events.',
  etag: editableEndpoint,
  body: EndpointPatch,
  response: WebhookEndpoint,
  async handle(call) {
    const { app, params, body } = call;
    if (body.url !== undefined) requireAllowedUrl(body.url, app.config.WEBHOOK_ALLOW_NETWORKS);
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, params.id!, call.actor);
      call.ifMatch(presentEndpoint(current));
      return presentEndpoint(await changeEndpoint(tx, call, current, body));
    });
  },
});

const deleteEndpointRoute = route({
  method: 'DELETE',
  path: '/v1/webhooks/endpoints/:id',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'deleteWebhookEndpoint',
  role: 'admin',
  hasTestMode: true,
  summary: 'Delete a webhook endpoint',
  description: 'Deletes a webhook endpoint and its deliveries, including pending ones.',
  response: deletedOf('webhook_endpoint', 'whe'),
  async handle(call) {
    const { params } = call;
    const id = params.id!;
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, id, call.actor);
      call.ifMatch(presentEndpoint(current));
      await deleteEndpoint(tx, call, current);
      return { id, object: 'webhook_endpoint', deleted: true };
    });
  },
});

const rotateSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/rotate-secret',
  params: { id: WEBHOOK_ENDPOINT_ID },
  operation: 'rotateWebhookSecret',
  role: 'admin',
  hasTestMode: true,
  summary: 'Rotate the signing secret',
  description:
    'Creates a new signing secret. Events are also signed with the previous one for `overlap` seconds.',
  body: Rotation,
  response: EndpointWithSecret,
  async handle(call) {
    const { params, body } = call;
    return call.transact(async (tx) => {
      const current = await endpointOr404(tx, params.id!, call.actor);
      return presentSecret(await rotateSecret(tx, call, current, body.overlap));
    });
  },
});

export const endpointOperations = {
  create: createEndpointRoute,
  list: listEndpointsRoute,
  get: getEndpointRoute,
  update: updateEndpointRoute,
  remove: deleteEndpointRoute,
  rotateSecret: rotateSecretRoute,
};

export const deliveryOperations = {
  list: listDeliveriesRoute,
  get: getDeliveryRoute,
  sendSample: sendSampleRoute,
  resend: resendDeliveryRoute,
  recover: recoverDeliveriesRoute,
};
