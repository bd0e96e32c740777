/** The transfer of the ownership: by the owner alone, one owner at every moment. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { makeOwner, transferOwnership } from '../../src/team/owner.ts';
import { startTestService } from '../helpers/app.ts';
import { givePassword, PASSWORD, trySignIn } from './browser.ts';
import { auditOf, membersOf, type Problem, signIn } from './team-service.ts';

const TRANSFER = '/v1/team/transfer-ownership';

test('the owner hands the ownership on and becomes an admin', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const [former] = await membersOf(service);
  const viewer = await makeMember('viewer');
  for (const id of [former!.id, viewer.id]) await signIn(service, id);
  const { status, body } = await call('POST', TRANSFER, { json: { new_owner_id: viewer.id } });
  assert.equal(status, 200);
  assert.deepEqual(body, {
    object: 'ownership_transfer',
    success: true,
    message: `${viewer.email} is the owner now, and owner@example.com an admin.`,
    new_owner: { id: viewer.id, email: viewer.email, role: 'owner' },
  });
  const roles = Object.fromEntries((await membersOf(service)).map(({ id, role }) => [id, role]));
  assert.deepEqual(roles, { [viewer.id]: 'owner', [former!.id]: 'admin' });
  assert.deepEqual(await app.db.selectFrom('sessions').selectAll().execute(), []);
  assert.deepEqual(await auditOf(service, { action: 'ownership.transferred' }), [
    [
      'ownership.transferred',
      {
        from: { id: former!.id, email: 'owner@example.com' },
        to: { id: viewer.id, email: viewer.email, role: 'viewer' },
      },
    ],
  ]);
  // It cannot be taken back, not by a key that was an owner's either.
  const back = await call<Problem>('POST', TRANSFER, { json: { new_owner_id: former!.id } });
  assert.deepEqual([back.status, back.body.code], [403, 'forbidden']);
});

test('only the owner, and only to another member', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, makeKey } = service;
  const [owner] = await membersOf(service);
  const admin = await makeMember('admin');
  const json = { new_owner_id: admin.id };
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const { key } = await makeMember(role);
    assert.equal((await call('POST', TRANSFER, { key, json })).status, 403, role);
  }
  // A key of the owner that may less is no owner's.
  const key = await makeKey('admin');
  assert.equal((await call('POST', TRANSFER, { key, json })).status, 403);
  assert.equal((await call('POST', TRANSFER, { key: null, json })).status, 401);
  for (const wrong of [
    {},
    { new_owner_id: null },
    { new_owner_id: 'mem_none' },
    { new_owner_id: owner!.id },
  ]) {
    const { status, body } = await call<Problem>('POST', TRANSFER, { json: wrong });
    assert.deepEqual([status, body.errors?.[0]?.param], [422, 'new_owner_id']);
  }
  assert.deepEqual(await auditOf(service, { action: 'ownership.transferred' }), []);
});

test('whose answer was lost is answered again, although the former owner may no more', async (t) => {
  const service = await startTestService(t);
  const { call, makeKey, makeMember } = service;
  const [former] = await membersOf(service);
  const [next, other] = [await makeMember('admin'), await makeMember('admin')];
  const transfer = (id: string, idempotencyKey = 'k1') =>
    call<Problem>('POST', TRANSFER, {
      json: { new_owner_id: id },
      headers: { 'idempotency-key': idempotencyKey },
    });
  const lost = await transfer(next.id);
  const again = await transfer(next.id);
  assert.deepEqual([lost.status, again.status, again.text], [200, 200, lost.text]);
  assert.equal(lost.headers.get('idempotent-replayed'), null);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  // Whatever else is asked is asked by an admin.
  for (const refused of [await transfer(other.id), await transfer(next.id, 'k2')]) {
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
    assert.match(refused.body.detail, /owner/);
  }
  const roles = Object.fromEntries((await membersOf(service)).map(({ id, role }) => [id, role]));
  assert.deepEqual(roles, { [next.id]: 'owner', [other.id]: 'admin', [former!.id]: 'admin' });
  assert.equal((await auditOf(service, { action: 'ownership.transferred' })).length, 1);
  // A credential that has ended is one no more, whatever was answered to it.
  const key = await makeKey('owner', true, next.id);
  const gone = await call('DELETE', `/v1/team/members/${former!.id}`, { key });
  assert.equal(gone.status, 200, gone.text);
  assert.equal((await transfer(next.id)).status, 401);
});

test('the former owner keeps password and keys: it is they who hand the ownership on', async (t) => {
  const service = await startTestService(t);
  await givePassword(service, 'owner@example.com');
  const { id } = await service.makeMember('member');
  await service.call('POST', TRANSFER, { json: { new_owner_id: id } });
  assert.equal((await service.call('GET', '/v1/me')).body.role, 'admin');
  const given = { email: 'owner@example.com', password: PASSWORD };
  assert.equal((await trySignIn(service, given)).status, 201);
});

test('a transfer whose answer cannot be kept is not made, and the repetition makes it', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const { id } = await makeMember('admin');
  const transfer = () =>
    call<Problem>('POST', TRANSFER, {
      json: { new_owner_id: id },
      headers: { 'idempotency-key': 'k1' },
    });
  await sql`CREATE TRIGGER cut BEFORE UPDATE ON idempotency_keys
    BEGIN SELECT RAISE(ABORT, 'cut off'); END`.execute(app.db);
  assert.equal((await transfer()).status, 500);
  await sql`DROP TRIGGER cut`.execute(app.db);
  assert.equal((await call('GET', '/v1/me')).body.role, 'owner');
  assert.equal((await transfer()).status, 200);
  assert.equal((await call('GET', '/v1/me')).body.role, 'admin');
});

test('of several transfers at once exactly one is made', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember } = service;
  const targets = await Promise.all(Array.from({ length: 6 }, () => makeMember('admin')));
  const answers = await Promise.all(
    targets.map(({ id }) => call('POST', TRANSFER, { json: { new_owner_id: id } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403, 403, 403, 403]);
  const winner = targets[answers.findIndex(({ status }) => status === 200)]!;
  const owners = (await membersOf(service)).filter(({ role }) => role === 'owner');
  assert.deepEqual(
    owners.map(({ id }) => id),
    [winner.id],
  );
});

test('of two transfers that were let in at the same moment, the second is refused', async (t) => {
  const service = await startTestService(t);
  const { makeMember, app } = service;
  const [owner] = await membersOf(service);
  const targets = [await makeMember('admin'), await makeMember('viewer')];
  const actor = { memberId: owner!.id, email: owner!.email, keyId: null, sessionId: null };
  const author = { app, actor, caller: { ip: null } };
  const outcomes = await Promise.allSettled(
    targets.map(({ id }) =>
      app.db.transaction().execute((tx) => transferOwnership(tx, author, id)),
    ),
  );
  assert.deepEqual(
    outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.owner.id : outcome.reason.code,
    ),
    [targets[0]!.id, 'forbidden'],
  );
});

test('a transfer and the removal of who is to get it: one of the two is made', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const { key } = await makeMember('admin');
  for (let round = 0; round < 4; round++) {
    const { id } = await makeMember('member');
    const ask = [
      async () => (await call('POST', TRANSFER, { json: { new_owner_id: id } })).status,
      async () => (await call('DELETE', `/v1/team/members/${id}`, { key })).status,
    ];
    if (round % 2) ask.reverse();
    const statuses = await Promise.all(ask.map((one) => one()));
    if (round % 2) statuses.reverse();
    assert.ok(['200 403', '422 200'].includes(statuses.join(' ')), statuses.join(' '));
    const owners = (await membersOf(service)).filter(({ role }) => role === 'owner');
    assert.equal(owners.length, 1);
    assert.equal(owners[0]!.id === id, statuses[0] === 200);
    await makeOwner(app, 'owner@example.com');
  }
});
