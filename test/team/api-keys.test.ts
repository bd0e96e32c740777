/** The actor of an API key, and what the database stores. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ROLES } from '../../src/http/actor.ts';
import { createApiKey, identifyKey, type NewKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { openTeam } from './open-team.ts';
import { auditOf, type List, membersOf, type Problem } from './team-service.ts';

/** A team with one owner and their API keys. */
async function withKeys(t: TestContext) {
  const all = await openTeam(t);
  const { owner } = await makeOwner(all.context, 'ann@example.com');
  return {
    ...all,
    owner,
    makeKey: (more: Partial<NewKey> = {}) =>
      createApiKey(all.context, {
        memberId: owner.id,
        name: 'build',
        role: 'member',
        livemode: true,
        ...more,
      }),
    identify: (key: string) => identifyKey(all.context, key),
  };
}

test('createApiKey stores only a hash; the key identifies its member and mode', async (t) => {
  const { makeKey, identify, owner, db } = await withKeys(t);
  for (const livemode of [true, false]) {
    const { key, row } = await makeKey({ livemode });
    assert.match(key, new RegExp(`^dlv_${livemode ? 'live' : 'test'}_[\\w-]{43}$`));
    assert.ok(key.startsWith(row.prefix) && row.prefix.length === 14);
    assert.ok(!JSON.stringify(await db.selectFrom('api_keys').selectAll().execute()).includes(key));
    assert.deepEqual(await identify(key), {
      memberId: owner.id,
      email: 'ann@example.com',
      keyId: row.id,
      sessionId: null,
      role: 'member',
      livemode,
      tags: null,
    });
  }
});

test('identifyKey rejects malformed, truncated and unknown keys', async (t) => {
  const { makeKey, identify } = await withKeys(t);
  const { key, row } = await makeKey();
  const wrong = ['', 'dlv_', 'nonsense', row.hash, row.prefix, key.slice(0, -1), `${key}x`];
  for (const text of [...wrong, key.toUpperCase(), key.replace('live', 'test')])
    assert.equal(await identify(text), null, text);
});

test('An API key has the lower of its own role and the member’s role', async (t) => {
  const { makeKey, identify, addMember } = await withKeys(t);
  for (const memberRole of ['viewer', 'member', 'admin'] as const) {
    const memberId = await addMember(`${memberRole}@example.com`, memberRole);
    for (const role of ROLES) {
      const { key } = await makeKey({ memberId, role });
      const lower = ROLES[Math.min(ROLES.indexOf(role), ROLES.indexOf(memberRole))];
      assert.equal((await identify(key))?.role, lower, `${role} of ${memberRole}`);
    }
  }
});

test('identifyKey rejects expired and revoked keys and keys of removed members', async (t) => {
  const { makeKey, identify, clock, db, addMember } = await withKeys(t);
  const expiring = await makeKey({ expiresIn: 1000 });
  clock.advance(999);
  assert.ok(await identify(expiring.key));
  clock.advance(1);
  assert.equal(await identify(expiring.key), null);

  const revoked = await makeKey();
  const change = { revoked_at: '2026-11-21T10:00:00.000Z' };
  await db.updateTable('api_keys').set(change).where('id', '=', revoked.row.id).execute();
  assert.equal(await identify(revoked.key), null);

  const memberId = await addMember('bob@example.com', 'member');
  const orphan = await makeKey({ memberId });
  assert.ok(await identify(orphan.key));
  await db.deleteFrom('members').where('id', '=', memberId).execute();
  assert.equal(await identify(orphan.key), null);
});

test('An API key’s last_used_at is updated at most once a minute', async (t) => {
  const { makeKey, identify, clock, db } = await withKeys(t);
  const { key } = await makeKey();
  const lastUsed = async () => {
    const row = await db.selectFrom('api_keys').select('last_used_at').executeTakeFirst();
    return row?.last_used_at;
  };
  assert.equal(await lastUsed(), null);
  await identify(key);
  assert.equal(await lastUsed(), '2026-11-21T10:00:00.000Z');
  clock.advance(59_999);
  await identify(key);
  assert.equal(await lastUsed(), '2026-11-21T10:00:00.000Z');
  clock.advance(1);
  await identify(key);
  assert.equal(await lastUsed(), '2026-11-21T10:01:00.000Z');
});

// Operations on API keys. Admins and the owner also manage the keys of others.

const KEYS = '/v1/api_keys';

interface ApiKey {
  id: string;
  name: string;
  role: string;
  livemode: boolean;
  prefix: string;
  member_id: string;
  expires_at: string | null;
  last_used_at: string | null;
  key: string;
}

async function idOf(call: TestService['call'], key: string): Promise<string> {
  const { body } = await call<{ api_key: { id: string } }>('GET', '/v1/me', { key });
  return body.api_key.id;
}

test('POST /v1/api_keys returns the key once; the key works until it expires', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call } = service;
  const [owner] = await membersOf(service);
  const json = { name: 'build', role: 'viewer', expires_in: 3600 };
  const made = await call<ApiKey>('POST', KEYS, { json });
  assert.equal(made.status, 201);
  const { key, ...row } = made.body;
  assert.equal(made.headers.get('location'), `${KEYS}/${row.id}`);
  assert.match(key, /^dlv_live_[\w-]{43}$/);
  assert.deepEqual(row, {
    id: row.id,
    object: 'api_key',
    name: 'build',
    role: 'viewer',
    livemode: true,
    prefix: key.slice(0, 14),
    member_id: owner!.id,
    created_at: '2026-11-21T10:00:00.000Z',
    expires_at: '2026-11-21T11:00:00.000Z',
    last_used_at: null,
    tags: null,
  });
  assert.equal((await call('GET', '/v1/tests', { key })).status, 200);
  const used = { ...row, last_used_at: '2026-11-21T10:00:00.000Z' };
  assert.deepEqual((await call('GET', `${KEYS}/${row.id}`)).body, used);
  const { body } = await call<List<ApiKey>>('GET', KEYS);
  assert.deepEqual(body.data[0], used);
  clock.advance(3_600_000);
  assert.equal((await call('GET', '/v1/tests', { key })).status, 401);
  assert.equal((await call('GET', `${KEYS}/${row.id}`)).status, 200);
});

test('POST /v1/api_keys defaults to role member, live mode and no expiry', async (t) => {
  const { call } = await startTestService(t);
  const live = await call<ApiKey>('POST', KEYS, { json: { name: 'x' } });
  assert.deepEqual(
    [live.body.role, live.body.livemode, live.body.expires_at],
    ['member', true, null],
  );
  const sandbox = await call<ApiKey>('POST', KEYS, { json: { name: 'x', livemode: false } });
  assert.match(sandbox.body.key, /^dlv_test_/);
  const unending = await call<ApiKey>('POST', KEYS, { json: { name: 'x', expires_in: null } });
  assert.equal(unending.body.expires_at, null);
});

test('An API key created with an expiring key expires no later than that key', async (t) => {
  const clock = testClock();
  const { call, makeKey } = await startTestService(t, { clock });
  const make = async (json: object, key?: string) => {
    const { status, body } = await call<ApiKey>('POST', KEYS, {
      json: { name: 'x', ...json },
      key,
    });
    assert.equal(status, 201);
    return body;
  };
  const mother = await make({ role: 'admin', expires_in: 3600 });
  assert.equal(mother.expires_at, '2026-11-21T11:00:00.000Z');
  clock.advance(60_000);
  for (const json of [{}, { expires_in: null }, { expires_in: 3541 }, { expires_in: 86_400 }]) {
    const made = await make(json, mother.key);
    assert.equal(made.expires_at, mother.expires_at, JSON.stringify(json));
  }
  const shorter = await make({ expires_in: 3539 }, mother.key);
  assert.equal(shorter.expires_at, '2026-11-21T10:59:59.000Z');
  assert.equal((await make({}, await makeKey('owner'))).expires_at, null);
});

test('A test-mode key cannot create API keys and can revoke only itself', async (t) => {
  const { call, key: live, makeKey } = await startTestService(t);
  const key = await makeKey('owner', false);
  const own = await idOf(call, key);
  for (const [method, path, json] of [
    ['POST', KEYS, { name: 'x' }],
    ['POST', KEYS, { name: 'x', livemode: false }],
    ['DELETE', `${KEYS}/${await idOf(call, live)}`],
    ['DELETE', `${KEYS}/${await idOf(call, await makeKey('viewer', false))}`],
  ] as const) {
    const { status, body } = await call<Problem>(method, path, { key, json });
    assert.deepEqual([status, body.code], [403, 'live_mode_required'], `${method} ${path}`);
    assert.match(body.detail, /^Test-mode keys can't use this endpoint/);
  }
  assert.equal((await call('GET', KEYS, { key })).status, 200);
  assert.equal((await call('DELETE', `${KEYS}/${own}`, { key })).status, 200);
  assert.equal((await call('GET', KEYS, { key })).status, 401);
});

test('DELETE /v1/api_keys/{id} lets a key revoke itself and its member’s keys up to its role', async (t) => {
  const { call, makeKey, makeMember } = await startTestService(t);
  const admin = await makeMember('admin');
  for (const by of ['viewer', 'member', 'admin'] as const)
    for (const role of ROLES) {
      const key = await makeKey(by, true, admin.id);
      const target = await makeKey(role, true, admin.id);
      const path = `${KEYS}/${await idOf(call, target)}`;
      const { status, body } = await call<Problem>('DELETE', path, { key });
      // A key of an admin has at most the admin role.
      const weight = Math.min(ROLES.indexOf(role), ROLES.indexOf('admin'));
      const may = by !== 'viewer' && weight <= ROLES.indexOf(by);
      assert.equal(status, may ? 200 : 403, `${by} revokes ${role}`);
      if (!may)
        assert.match(
          body.detail,
          /^This operation requires the (member|admin) role\. Your role is /,
        );
      assert.equal((await call('GET', '/v1/me', { key: target })).status, may ? 401 : 200);
      assert.equal((await call('DELETE', `${KEYS}/${await idOf(call, key)}`, { key })).status, 200);
      assert.equal((await call('GET', '/v1/me', { key })).status, 401);
    }
});

test('POST /v1/api_keys rejects a role above the caller’s role with 403', async (t) => {
  const { call, makeKey, makeMember } = await startTestService(t);
  const member = await makeMember('member');
  const strong = await makeKey('owner', true, member.id);
  for (const by of ROLES) {
    const key = await makeKey(by);
    for (const role of ROLES) {
      const { status } = await call('POST', KEYS, { key, json: { name: 'x', role } });
      const may = by !== 'viewer' && ROLES.indexOf(role) <= ROLES.indexOf(by);
      assert.equal(status, may ? 201 : 403, `${by} makes ${role}`);
    }
  }
  const raised = await call<Problem>('POST', KEYS, {
    key: strong,
    json: { name: 'x', role: 'admin' },
  });
  assert.equal(raised.status, 403);
  assert.match(raised.body.detail, /can't assign the admin role, because your role is member/);
});

test('POST /v1/api_keys rejects invalid and unknown fields with 422', async (t) => {
  const { call } = await startTestService(t);
  for (const more of [
    { name: '' },
    { role: 'king' },
    { livemode: 'yes' },
    { expires_in: 59 },
    { expires_in: 1e9 },
    { expires_in: 60.5 },
    { member_id: 'mem_x' },
  ]) {
    const { status, body } = await call<Problem>('POST', KEYS, { json: { name: 'x', ...more } });
    const params = body.errors?.map(({ param }) => param);
    assert.deepEqual([status, params], [422, Object.keys(more)]);
  }
  assert.equal((await call('POST', KEYS, { json: {} })).status, 422);
});

test('Members can list and revoke their own API keys; admins and the owner, all keys', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, makeKey } = service;
  const admin = await makeMember('admin');
  const ann = await makeMember('member');
  const bob = await makeMember('member');
  const viewer = await makeMember('viewer');
  const owners = (key: string) =>
    call<List<ApiKey>>('GET', `${KEYS}?limit=100`, { key }).then(({ body }) => body.data);
  const all = await owners(service.key);
  assert.equal(all.length, 5);
  const keyOf = (member: { id: string }) => all.find((key) => key.member_id === member.id)!.id;
  assert.deepEqual(
    (await owners(admin.key)).map(({ id }) => id),
    all.map(({ id }) => id),
  );
  assert.deepEqual(
    (await owners(ann.key)).map(({ id }) => id),
    [keyOf(ann)],
  );
  // An admin's key with the member role sees only what members see.
  const weak = await makeKey('member', true, admin.id);
  assert.ok((await owners(weak)).every(({ member_id }) => member_id === admin.id));
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await call(method, `${KEYS}/${keyOf(bob)}`, { key: ann.key })).status, 404);
    assert.equal((await call(method, `${KEYS}/${keyOf(bob)}`, { key: weak })).status, 404);
    assert.equal((await call(method, `${KEYS}/key_none`)).status, 404);
  }
  for (const path of [KEYS, `${KEYS}/${keyOf(viewer)}`])
    assert.equal((await call('GET', path, { key: viewer.key })).status, 403);
  // Keys that the caller may not see look like missing ones.
  assert.equal((await call('DELETE', `${KEYS}/${keyOf(ann)}`, { key: viewer.key })).status, 403);
  const revoked = await call('DELETE', `${KEYS}/${keyOf(bob)}`, { key: admin.key });
  assert.deepEqual(
    [revoked.status, revoked.body],
    [200, { id: keyOf(bob), object: 'api_key', deleted: true }],
  );
  assert.equal((await call('GET', '/v1/tests', { key: bob.key })).status, 401);
  for (const method of ['GET', 'DELETE'])
    assert.equal((await call(method, `${KEYS}/${keyOf(bob)}`)).status, 404);
  assert.ok((await owners(service.key)).every(({ id }) => id !== keyOf(bob)));
  // A key may revoke itself.
  assert.equal((await call('DELETE', `${KEYS}/${keyOf(ann)}`, { key: ann.key })).status, 200);
  assert.equal((await call('GET', KEYS, { key: ann.key })).status, 401);
  assert.deepEqual(await auditOf(service, { object_id: keyOf(bob) }), [
    ['api_key.revoked', { name: 'member', role: 'member', member_id: bob.id }],
    [
      'api_key.created',
      { name: 'member', role: 'member', livemode: true, member_id: bob.id, expires_at: null },
    ],
  ]);
});
