/** Changes between the authorization of a request and its transaction are detected in the transaction. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Test } from '../../src/mailtests/schema.ts';
import { createApiKey } from '../../src/team/api-keys.ts';
import { findMember, removeMember, setRole } from '../../src/team/members.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { reauthorize } from '../../src/team/permissions.ts';
import { insertSession } from '../../src/team/sessions.ts';
import { type CallOptions, startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { openTeam } from './open-team.ts';
import { invite, membersOf, type Problem } from './team-service.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const code = (expected: string) => (error: unknown) =>
  (error as { code?: string }).code === expected;

test('reauthorize rejects members who were removed or lost the required role', async (t) => {
  const { db, context, addMember } = await openTeam(t);
  const memberId = await addMember('ann@example.com', 'admin');
  const stand = (role: 'admin' | 'member') => {
    const actor = { memberId, role, keyId: null, sessionId: null, tags: null };
    return db.transaction().execute((tx) => reauthorize(tx, { app: context, actor }, 'admin'));
  };
  assert.equal((await stand('admin')).role, 'admin');
  await assert.rejects(stand('member'), code('forbidden'));
  await db.updateTable('members').set({ role: 'viewer' }).where('id', '=', memberId).execute();
  await assert.rejects(stand('admin'), code('forbidden'));
  await db.deleteFrom('members').where('id', '=', memberId).execute();
  await assert.rejects(stand('admin'), code('unauthenticated'));
});

test('setRole and removeMember reject a member who has since become the owner', async (t) => {
  const { db, context, addMember } = await openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const stale = (await findMember(db, await addMember('bob@example.com', 'admin')))!;
  await makeOwner(context, 'bob@example.com');
  const lower = db.transaction().execute((tx) => setRole(tx, stale, 'viewer', NOW));
  await assert.rejects(lower, code('conflict'));
  const remove = db.transaction().execute((tx) => removeMember(tx, stale, NOW));
  await assert.rejects(remove, code('conflict'));
  assert.equal((await findMember(db, stale.id))?.role, 'owner');
});

type Change = [method: string, path: string, options?: CallOptions];
const MESSAGE = [
  '/v1/tests',
  { body: goodMessage(), headers: { 'content-type': 'message/rfc822' } },
] as const;

/** Every change of the team, the own account, and tests. The owner may make each of them. */
async function changesOf(service: TestService, sessionId: string): Promise<Change[]> {
  const { call, makeMember, createTest } = service;
  const [changed, deleted] = [(await createTest()).id, (await createTest()).id];
  const analysed = (await call<Test>('POST', ...MESSAGE)).body.id;
  assert.equal((await service.getTest(analysed, '?wait=20')).status, 'completed');
  const [lowered, removed, heir] = [
    await makeMember('admin'),
    await makeMember('member'),
    await makeMember('admin'),
  ];
  const invited = async (email: string) => (await invite(service, { email })).body.id;
  const { body: key } = await call('POST', '/v1/api_keys', { json: { name: 'other' } });
  return [
    ['POST', '/v1/tests', { json: { name: 'new' } }],
    ['POST', ...MESSAGE],
    ['PATCH', `/v1/tests/${changed}`, { json: { name: 'Renamed' } }],
    ['DELETE', `/v1/tests/${deleted}`],
    ['POST', `/v1/tests/${analysed}/reanalyze`],
    ['PATCH', `/v1/team/members/${lowered.id}`, { json: { role: 'viewer', name: 'Lowered' } }],
    ['DELETE', `/v1/team/members/${removed.id}`],
    ['POST', '/v1/team/invitations', { json: { email: 'new@example.com' } }],
    ['DELETE', `/v1/team/invitations/${await invited('one@example.com')}`],
    ['POST', `/v1/team/invitations/${await invited('two@example.com')}/resend`],
    ['POST', '/v1/api_keys', { json: { name: 'new' } }],
    ['DELETE', `/v1/api_keys/${key.id}`],
    ['PATCH', '/v1/me', { json: { name: 'Renamed' } }],
    ['DELETE', `/v1/sessions/${sessionId}`],
    ['POST', '/v1/team/transfer-ownership', { json: { new_owner_id: heir.id } }],
  ];
}

/** Runs once, between the authorization of a request and its transaction. */
function beforeTransaction({ app: { db } }: TestService, act: () => Promise<void>): void {
  const { transaction } = db;
  db.transaction = () => {
    db.transaction = transaction;
    const begun = db.transaction();
    const execute: typeof begun.execute = async (work) => {
      await act();
      return begun.execute(work);
    };
    return { execute } as typeof begun;
  };
}

/** Everything that the changes could affect. */
function stateOf({ app: { db } }: TestService): Promise<object[][]> {
  const tables = [
    'members',
    'invitations',
    'api_keys',
    'sessions',
    'audit_log',
    'outbox',
    'tests',
    'messages',
    'message_chunks',
    'events',
  ] as const;
  return Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
}

async function startWithOwner(t: TestContext) {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { app } = service;
  const { id: memberId } = (await membersOf(service)).find(({ role }) => role === 'owner')!;
  const begin = async () => {
    const { token, row } = await app.db
      .transaction()
      .execute((tx) => insertSession(tx, app, memberId, { ip: null, userAgent: null }));
    const headers = { cookie: `deliverability=${token}`, 'sec-fetch-site': 'same-origin' };
    return { id: row.id, options: { key: null, headers } };
  };
  const makeKey = async () => {
    const seed = { memberId, name: 'waiting', role: 'owner', livemode: true } as const;
    const { key, row } = await createApiKey(app, { ...seed, expiresIn: 60_000 });
    return { id: row.id, options: { key } };
  };
  return { service, clock, begin, makeKey };
}

test('Writes are rejected when the key or session ends while the request waits', async (t) => {
  const { service, clock, begin, makeKey } = await startWithOwner(t);
  const { app, call } = service;
  const { id: otherSession } = await begin();
  const revoke = async (id: string) => {
    const change = { revoked_at: '2026-11-21T10:00:00.000Z' };
    await app.db.updateTable('api_keys').set(change).where('id', '=', id).execute();
  };
  const endSession = async (id: string) => {
    await app.db.deleteFrom('sessions').where('id', '=', id).execute();
  };
  const ends: [string, () => Promise<{ id: string; options: CallOptions }>, typeof revoke][] = [
    ['revoked', makeKey, revoke],
    ['expired', makeKey, async () => clock.advance(60_000)],
    ['signed out', begin, endSession],
  ];
  const changes = await changesOf(service, otherSession);
  for (const [method, path, options] of changes)
    for (const [how, make, end] of ends) {
      const { id, options: asker } = await make();
      let before: object[][] = [];
      beforeTransaction(service, async () => {
        await end(id);
        before = await stateOf(service);
      });
      const { status, body, headers } = await call<Problem>(method, path, {
        ...options,
        ...asker,
        headers: { ...options?.headers, ...asker.headers },
      });
      assert.deepEqual([status, body.code], [401, 'unauthenticated'], `${method} ${path} ${how}`);
      assert.equal(headers.get('www-authenticate'), 'Bearer');
      assert.deepEqual(await stateOf(service), before, `${method} ${path} ${how}`);
    }
  for (const [method, path, options] of changes) {
    const { status, text } = await call(method, path, options);
    assert.ok(status === 200 || status === 201, `${method} ${path} is no change: ${text}`);
  }
});

test('A waiting GET /v1/tests/{id} gets 401 if the credential ends meanwhile', async (t) => {
  const service = await startTestService(t);
  const { app, call, createTest, makeMember } = service;
  const member = await makeMember('viewer');
  const { id } = await createTest();
  const { wait } = app.signals;
  const waiting = new Promise<void>((resolve) => {
    app.signals.wait = (...about) => {
      resolve();
      return wait(...about);
    };
  });
  const answer = call<Problem>('GET', `/v1/tests/${id}?wait=30`, { key: member.key });
  await waiting;
  await call('DELETE', `/v1/team/members/${member.id}`);
  await app.db.updateTable('tests').set({ status: 'completed' }).where('id', '=', id).execute();
  app.signals.raise(id);
  const { status, body } = await answer;
  assert.deepEqual([status, body.code], [401, 'unauthenticated']);
});
