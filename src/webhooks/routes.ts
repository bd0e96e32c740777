/** The operations on webhooks, in the order of their documentation. */

import { resource } from '../http/resource.ts';
import { editableBy } from '../http/response.ts';
import { route } from '../http/route.ts';
import { idOf, listOf, listSchema } from '../http/schemas.ts';
import { audit } from '../team/audit.ts';
import {
  deliveryOr404,
  listDeliveries,
  recoverDeliveries,
  resendDelivery,
  waitForAttempt,
  withAttempts,
} from './deliveries.ts';
import {
  AUDITED_ENDPOINT,
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

const editableEndpoint = editableBy(EndpointPatch);
const endpoints = resource({
  type: 'webhook_endpoint',
  prefix: 'whe',
  path: '/v1/webhooks/endpoints',
  name: 'WebhookEndpoint',
  noun: 'webhook endpoint',
  roles: { read: 'admin', change: 'admin' },
  hasTestMode: true,
  response: WebhookEndpoint,
  etag: editableEndpoint,
  find: endpointOr404,
  present: (rows) => rows.map(presentEndpoint),
});
const DELIVERY_ID = idOf('whd', 'The ID of the delivery.');

// The operations on deliveries (contract §9).

const listDeliveriesRoute = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints/:id/deliveries',
  params: endpoints.params,
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
  params: endpoints.params,
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
      const details = { delivery_id: row.id };
      await audit(tx, call, AUDITED_ENDPOINT, 'webhook_endpoint.tested', endpoint.id, details);
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
  params: endpoints.params,
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
    const { body } = call;
    return call.transact(async (tx) => presentSecret(await createEndpoint(tx, call, body)));
  },
});

const listEndpointsRoute = endpoints.list({
  description: 'Returns the webhook endpoints of your team, newest first.',
  query: EndpointListQuery,
  rows: (db, query, { actor }) => listEndpoints(db, actor, query),
});

const getEndpointRoute = endpoints.get({
  description: 'Returns a webhook endpoint without its signing secret.',
});

const updateEndpointRoute = endpoints.update({
  description:
    'Changes, enables or disables a webhook endpoint. A disabled one receives no events.',
  body: EndpointPatch,
  work: changeEndpoint,
});

const deleteEndpointRoute = endpoints.remove({
  description: 'Deletes a webhook endpoint and its deliveries, including pending ones.',
  work: deleteEndpoint,
});

const rotateSecretRoute = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/rotate-secret',
  params: endpoints.params,
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
