/** The operations on API keys (contract §3 and §6). */

import { requireLive } from '../http/authorize.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { apiKeyOr404, expiryOfKey, insertApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { requireMayGive, requireMayRevoke, requireRole } from './permissions.ts';
import {
  ApiKey,
  deletedOf,
  ListQuery,
  NewApiKey,
  NewApiKeyAnswer,
  presentApiKey,
} from './schema.ts';

const create = route({
  method: 'POST',
  path: '/v1/api_keys',
  operation: 'createApiKey',
  role: 'member',
  live: true,
  summary:
    'Make an API key of your own; the key itself is in this answer alone; asked for by a key that expires, it expires no later',
  body: NewApiKey,
  status: 201,
  location: ({ id }) => `/v1/api_keys/${id}`,
  response: NewApiKeyAnswer,
  async handle(call) {
    const { actor, body } = call;
    return call.transact(async (tx, { member, role }) => {
      requireMayGive(role, body.role);
      const { key, row } = await insertApiKey(tx, call, {
        memberId: member.id,
        name: body.name,
        role: body.role,
        livemode: body.livemode ?? true,
        expiresIn: body.expires_in == null ? null : body.expires_in * 1000,
        // A key that was found somewhere lives on in none of its making.
        notAfter: actor.keyId === null ? null : await expiryOfKey(tx, actor.keyId),
      });
      return { ...presentApiKey(row), key };
    });
  },
});

const list = route({
  method: 'GET',
  path: '/v1/api_keys',
  operation: 'listApiKeys',
  role: 'member',
  summary: 'List your API keys, newest first; admins and the owner see those of all',
  query: ListQuery,
  response: listOf(ApiKey),
  async handle({ app, actor, query }) {
    const { rows, hasMore } = await listApiKeys(app.db, actor, query);
    return { object: 'list' as const, data: rows.map(presentApiKey), has_more: hasMore };
  },
});

const get = route({
  method: 'GET',
  path: '/v1/api_keys/:id',
  operation: 'getApiKey',
  role: 'member',
  summary: 'Get an API key, without the key itself',
  response: ApiKey,
  async handle({ app, actor, params }) {
    return presentApiKey(await apiKeyOr404(app.db, actor, params.id!));
  },
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/api_keys/:id',
  operation: 'revokeApiKey',
  // Every key may end itself, one that was found somewhere too; the others are for members.
  role: 'viewer',
  summary: 'Revoke an API key at once; a test-mode key or a viewer’s revokes itself alone',
  response: deletedOf('api_key'),
  async handle(call) {
    const { actor, params } = call;
    const id = params.id!;
    const itself = id === actor.keyId;
    if (!itself) requireLive(actor);
    return call.transact(async (tx, own) => {
      if (!itself) requireRole(own.role, 'member');
      const key = await apiKeyOr404(tx, { memberId: own.member.id, role: own.role }, id);
      requireMayRevoke(own, key);
      await revokeApiKey(tx, call, key);
      return { id, object: 'api_key', deleted: true };
    });
  },
});

export const apiKeyRoutes = [create, list, get, revoke];
