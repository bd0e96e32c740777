/** Operations on API keys (contract §3 and §6). */

import { requireLive } from '../http/authorize.ts';
import { tagsToStore } from '../http/limited.ts';
import { resource } from '../http/resource.ts';
import { route } from '../http/route.ts';
import { deletedOf } from '../http/schemas.ts';
import { apiKeyOr404, findKeyExpiry, insertApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { requireLimitable } from './members.ts';
import { requireCanAssign, requireCanRevoke, requireRole } from './permissions.ts';
import { ApiKey, ApiKeyWithSecret, ListQuery, NewApiKey, presentApiKey } from './schema.ts';

const apiKeys = resource({
  type: 'api_key',
  prefix: 'key',
  path: '/v1/api_keys',
  name: 'ApiKey',
  noun: 'API key',
  roles: { read: 'member', change: 'member' },
  response: ApiKey,
  find: (db, id, actor) => apiKeyOr404(db, actor, id),
  present: (rows) => rows.map(presentApiKey),
});

const create = route({
  method: 'POST',
  path: '/v1/api_keys',
  operation: 'createApiKey',
  limited: true,
  role: 'member',
  summary: 'Create an API key',
  description:
    'Creates an API key for yourself. Only this response contains the key. If you create it with a key that expires, the new key expires no later than that key.',
  body: NewApiKey,
  status: 201,
  location: ({ id }) => `/v1/api_keys/${id}`,
  response: ApiKeyWithSecret,
  async handle(call) {
    const { actor, body } = call;
    return call.transact(async (tx, { member, role }) => {
      requireCanAssign(role, body.role);
      if (body.tags) requireLimitable(body.role, body.tags);
      if (body.tags && actor.tags) tagsToStore(actor, body.tags);
      const { key, row } = await insertApiKey(tx, call, {
        memberId: member.id,
        name: body.name,
        role: body.role,
        livemode: body.livemode ?? true,
        // A limited key must not create one that sees more.
        tags: body.tags ?? (actor.keyId === null ? null : actor.tags),
        expiresIn: body.expires_in == null ? null : body.expires_in * 1000,
        // A leaked key must not create keys that outlive it.
        notAfter: actor.keyId === null ? null : await findKeyExpiry(tx, actor.keyId),
      });
      return { ...presentApiKey(row), key };
    });
  },
});

const list = apiKeys.list({
  limited: true,
  description:
    'Returns your API keys, newest first. Admins and the owner get the keys of all members.',
  query: ListQuery,
  rows: (db, query, { actor }) => listApiKeys(db, actor, query),
});

const get = apiKeys.get({
  limited: true,
  description: "Returns the key's settings, but not the key itself.",
});

const revoke = route({
  method: 'DELETE',
  path: '/v1/api_keys/:id',
  params: apiKeys.params,
  operation: 'revokeApiKey',
  limited: true,
  changesCaller: true,
  // Every key may revoke itself, so that anyone who finds a leaked key can revoke it. Only members may
  // revoke other keys.
  role: 'viewer',
  // A test-mode key may revoke itself, but no other key.
  hasTestMode: true,
  errors: ['live_mode_required'],
  summary: 'Revoke an API key',
  description:
    'Revokes an API key immediately. Test-mode keys and viewer keys can revoke only themselves.',
  response: deletedOf('api_key', 'key'),
  async handle(call) {
    const { actor, params } = call;
    const id = params.id!;
    const isOwnKey = id === actor.keyId;
    if (!isOwnKey) requireLive(actor);
    return call.transact(async (tx, current) => {
      if (!isOwnKey) requireRole(current.role, 'member');
      const key = await apiKeyOr404(tx, { memberId: current.member.id, role: current.role }, id);
      requireCanRevoke(current, key);
      await revokeApiKey(tx, call, key);
      return { id, object: 'api_key', deleted: true };
    });
  },
});

export const apiKeyOperations = { create, list, get, revoke };
