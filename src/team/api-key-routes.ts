/** The operations on API keys (contract §3 and §6). */

import type { Actor } from '../http/actor.ts';
import { route } from '../http/route.ts';
import { listOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { apiKeyOr404, insertApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { requireMayGive, standing } from './permissions.ts';
import { presentApiKey } from './present.ts';
import { ApiKey, deletedOf, ListQuery, NewApiKey, NewApiKeyAnswer } from './schema.ts';

const create = route({
  method: 'POST',
  path: '/v1/api_keys',
  operation: 'createApiKey',
  role: 'member',
  summary: 'Make an API key of your own; the key itself is in this answer alone',
  body: NewApiKey,
  status: 201,
  location: ({ id }) => `/v1/api_keys/${id}`,
  response: NewApiKeyAnswer,
  async handle(call) {
    const { app, actor, body } = call;
    const livemode = chosenMode(actor, body.livemode);
    return app.db.transaction().execute(async (tx) => {
      const { member, role } = await standing(tx, actor, 'member');
      requireMayGive(role, body.role);
      const { key, row } = await insertApiKey(tx, call, {
        memberId: member.id,
        name: body.name,
        role: body.role,
        livemode,
        expiresIn: body.expires_in == null ? null : body.expires_in * 1000,
      });
      const answer = { ...presentApiKey(row), key };
      await call.keep(tx, answer);
      return answer;
    });
  },
});

/** Unless said, the mode of the request; a test-mode key is no way to live data. */
function chosenMode({ keyId, livemode }: Actor, wanted: boolean | undefined): boolean {
  if (wanted && keyId !== null && !livemode)
    throw new AppError('forbidden', 'A test-mode key makes test-mode keys only.');
  return wanted ?? livemode;
}

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
  role: 'member',
  summary: 'Revoke an API key at once',
  response: deletedOf('api_key'),
  async handle(call) {
    const { app, actor, params } = call;
    const id = params.id!;
    await app.db.transaction().execute(async (tx) => {
      const { member, role } = await standing(tx, actor, 'member');
      await revokeApiKey(tx, call, { memberId: member.id, role }, id);
    });
    return { id, object: 'api_key' as const, deleted: true as const };
  },
});

export const apiKeyRoutes = [create, list, get, revoke];
