/** The operations on webhook endpoints (contract §9). */

import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { transact } from '../store/after-commit.ts';
import { standing } from '../team/permissions.ts';
import { deletedOf } from '../team/schema.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  rotateSecret,
  type SecretEndpoint,
} from './change-endpoint.ts';
import { requireOpen } from './endpoint-url.ts';
import { endpointOr404, listEndpoints } from './endpoints.ts';
import { presentEndpoint } from './present.ts';
import {
  EndpointListQuery,
  EndpointPatch,
  EndpointWithSecret,
  NewEndpoint,
  Rotation,
  WebhookEndpoint,
} from './schema.ts';

const presentSecret = ({ row, secret }: SecretEndpoint) => ({ ...presentEndpoint(row), secret });

const create = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints',
  operation: 'createWebhookEndpoint',
  role: 'admin',
  summary: 'Have events sent to an address; the secret that signs them is in this answer alone',
  body: NewEndpoint,
  status: 201,
  location: ({ id }) => `/v1/webhooks/endpoints/${id}`,
  response: EndpointWithSecret,
  errors: ['conflict'],
  async handle(call) {
    const { app, body, keep } = call;
    requireOpen(body.url, app.config.WEBHOOK_ALLOW_NETWORKS);
    return app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'admin');
      const answer = presentSecret(await createEndpoint(tx, call, body));
      await keep(tx, answer);
      return answer;
    });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/webhooks/endpoints',
  operation: 'listWebhookEndpoints',
  role: 'admin',
  summary: 'List webhook endpoints, newest first',
  query: EndpointListQuery,
  response: listOf(WebhookEndpoint),
  async handle({ app, query }) {
    const { rows, hasMore } = await listEndpoints(app.db, query);
    return { object: 'list' as const, data: rows.map(presentEndpoint), has_more: hasMore };
  },
});

const get = route({
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

const update = route({
  method: 'PATCH',
  path: '/v1/webhooks/endpoints/:id',
  operation: 'updateWebhookEndpoint',
  role: 'admin',
  summary: 'Change a webhook endpoint, or switch it off and on; what is off gets no events',
  etag: true,
  body: EndpointPatch,
  response: WebhookEndpoint,
  async handle(call) {
    const { app, params, body } = call;
    if (body.url !== undefined) requireOpen(body.url, app.config.WEBHOOK_ALLOW_NETWORKS);
    return app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'admin');
      const present = await endpointOr404(tx, params.id!);
      call.ifMatch(presentEndpoint(present));
      return presentEndpoint(await changeEndpoint(tx, call, present, body));
    });
  },
});

const remove = route({
  method: 'DELETE',
  path: '/v1/webhooks/endpoints/:id',
  operation: 'deleteWebhookEndpoint',
  role: 'admin',
  summary: 'Delete a webhook endpoint with its deliveries; what was still to be sent is not',
  response: deletedOf('webhook_endpoint'),
  async handle(call) {
    const { app, params } = call;
    const id = params.id!;
    await transact(app.db, async (tx) => {
      await standing(tx, call, 'admin');
      const present = await endpointOr404(tx, id);
      call.ifMatch(presentEndpoint(present));
      await deleteEndpoint(tx, call, present);
    });
    return { id, object: 'webhook_endpoint' as const, deleted: true as const };
  },
});

const rotate = route({
  method: 'POST',
  path: '/v1/webhooks/endpoints/:id/rotate-secret',
  operation: 'rotateWebhookSecret',
  role: 'admin',
  summary: 'Get a new secret; the present one signs beside it for `overlap` seconds',
  body: Rotation,
  response: EndpointWithSecret,
  async handle(call) {
    const { app, params, body, keep } = call;
    return app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'admin');
      const present = await endpointOr404(tx, params.id!);
      const answer = presentSecret(await rotateSecret(tx, call, present, body.overlap));
      await keep(tx, answer);
      return answer;
    });
  },
});

export const endpointRoutes = [create, list, get, update, remove, rotate];
