/** The operations on API keys: own ones up to the own role, those of others for admins and the owner. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROLES } from '../../src/http/actor.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { auditOf, type List, membersOf, type Problem } from './team-service.ts';

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

test('a key is shown once and works until it expires', async (t) => {
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

test('without more said, a key is a member’s, for ever, in the mode of the request', async (t) => {
  const { call, makeKey } = await startTestService(t);
  const live = await call<ApiKey>('POST', KEYS, { json: { name: 'x' } });
  assert.deepEqual(
    [live.body.role, live.body.livemode, live.body.expires_at],
    ['member', true, null],
  );
  const sandbox = await call<ApiKey>('POST', KEYS, { json: { name: 'x', livemode: false } });
  assert.match(sandbox.body.key, /^dlv_test_/);
  const { key } = sandbox.body;
  const child = await call<ApiKey>('POST', KEYS, { key, json: { name: 'x', expires_in: null } });
  assert.equal(child.body.livemode, false);
  // The sandbox is no way to live data, whatever the role.
  const strong = await makeKey('owner', false);
  const json = { name: 'x', livemode: true };
  assert.equal((await call('POST', KEYS, { key: strong, json })).status, 403);
});

test('nobody makes a key above the role that they ask with', async (t) => {
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
  assert.match(raised.body.detail, /needs the role admin; yours is member/);
});

test('what a new key takes is checked', async (t) => {
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

test('members see and revoke their own keys, admins and the owner those of all', async (t) => {
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
  const idOf = (member: { id: string }) => all.find((key) => key.member_id === member.id)!.id;
  assert.deepEqual(
    (await owners(admin.key)).map(({ id }) => id),
    all.map(({ id }) => id),
  );
  assert.deepEqual(
    (await owners(ann.key)).map(({ id }) => id),
    [idOf(ann)],
  );
  // An admin's key with a member's role sees no more than that.
  const weak = await makeKey('member', true, admin.id);
  assert.ok((await owners(weak)).every(({ member_id }) => member_id === admin.id));
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await call(method, `${KEYS}/${idOf(bob)}`, { key: ann.key })).status, 404);
    assert.equal((await call(method, `${KEYS}/${idOf(bob)}`, { key: weak })).status, 404);
    assert.equal((await call(method, `${KEYS}/${idOf(viewer)}`, { key: viewer.key })).status, 403);
    assert.equal((await call(method, `${KEYS}/key_none`)).status, 404);
  }
  assert.equal((await call('GET', KEYS, { key: viewer.key })).status, 403);
  const revoked = await call('DELETE', `${KEYS}/${idOf(bob)}`, { key: admin.key });
  assert.deepEqual(
    [revoked.status, revoked.body],
    [200, { id: idOf(bob), object: 'api_key', deleted: true }],
  );
  assert.equal((await call('GET', '/v1/tests', { key: bob.key })).status, 401);
  for (const method of ['GET', 'DELETE'])
    assert.equal((await call(method, `${KEYS}/${idOf(bob)}`)).status, 404);
  assert.ok((await owners(service.key)).every(({ id }) => id !== idOf(bob)));
  // A key may end itself.
  assert.equal((await call('DELETE', `${KEYS}/${idOf(ann)}`, { key: ann.key })).status, 200);
  assert.equal((await call('GET', KEYS, { key: ann.key })).status, 401);
  assert.deepEqual(await auditOf(service, { object_id: idOf(bob) }), [
    ['api_key.revoked', { name: 'member', role: 'member', member_id: bob.id }],
    [
      'api_key.created',
      { name: 'member', role: 'member', livemode: true, member_id: bob.id, expires_at: null },
    ],
  ]);
});
