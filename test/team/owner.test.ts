/** The owner: created on the server, and exactly one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { isUniqueViolation } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/open.ts';
import { findOwner, NOT_LINKED } from '../../src/team/members.ts';
import { makeOwner, transferOwnership } from '../../src/team/owner.ts';
import { insertPasswordLink } from '../../src/team/passwords.ts';
import { startTestService, temporaryFolder } from '../helpers/app.ts';
import { databaseIn, onPostgres } from '../helpers/store.ts';
import { rejectUpdates } from '../helpers/stored-bytes.ts';
import { givePassword, ownerBrowser, PASSWORD, trySignIn } from './browser.ts';
import { openTeam } from './open-team.ts';
import {
  accept,
  auditOf,
  invite,
  membersOf,
  type Problem,
  signIn,
  tokenOf,
} from './team-service.ts';

/** The number of writes to members that succeed before the next one fails. */
const FUSE = ['CREATE TABLE IF NOT EXISTS fuse (writes INTEGER)', 'DELETE FROM fuse'];
const BURN = 'UPDATE fuse SET writes = writes - 1;';
/** A rollback also restores the fuse. */
const BURNING = onPostgres
  ? [
      `CREATE OR REPLACE FUNCTION burn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT writes <= 0 FROM fuse) THEN RAISE EXCEPTION 'cut off'; END IF;
        ${BURN}
        RETURN NEW;
      END $$`,
      'CREATE OR REPLACE TRIGGER fuse0 BEFORE INSERT OR UPDATE ON members FOR EACH ROW EXECUTE FUNCTION burn()',
      `CREATE OR REPLACE TRIGGER fuse1 BEFORE INSERT ON audit_log FOR EACH ROW
        WHEN (NEW.object_type = 'team_member') EXECUTE FUNCTION burn()`,
    ]
  : [
      'INSERT ON members',
      'UPDATE ON members',
      "INSERT ON audit_log WHEN NEW.object_type = 'team_member'",
    ].map(
      (event, i) => `CREATE TRIGGER IF NOT EXISTS fuse${i} BEFORE ${event} BEGIN
        SELECT RAISE(ABORT, 'cut off') FROM fuse WHERE writes <= 0;
        ${BURN}
      END`,
    );

test('makeOwner creates a member as owner of a team without one', async (t) => {
  const { context, members, db } = await openTeam(t);
  const { owner, created } = await makeOwner(context, 'Ann.Lee@Example.com');
  assert.ok(created);
  assert.match(owner.id, /^mem_/);
  const { id, ...rest } = owner;
  assert.deepEqual(rest, {
    email: 'ann.lee@example.com',
    name: 'Ann.Lee',
    role: 'owner',
    joined_at: '2026-11-21T10:00:00.000Z',
    password_hash: null,
    time_zone: null,
    date_locale: null,
    tags: null,
    ...NOT_LINKED,
  });
  assert.deepEqual(await members(), [['ann.lee@example.com', 'owner']]);
  assert.deepEqual(await findOwner(db), owner);
});

test('makeOwner sets the password of a new owner and keeps an existing password', async (t) => {
  const { context, db } = await openTeam(t);
  const { owner } = await makeOwner(context, 'ann@example.com', 'scrypt$first');
  assert.equal(owner.password_hash, 'scrypt$first');
  assert.deepEqual(await findOwner(db), owner);
  await makeOwner(context, 'ann@example.com', 'scrypt$second');
  assert.equal((await findOwner(db))?.password_hash, 'scrypt$first');
});

test('A first start interrupted at any write leaves no owner without a password', async (t) => {
  const folder = temporaryFolder(t);
  const env = {
    DELIVERABILITY_OWNER_EMAIL: 'ann@example.com',
    DELIVERABILITY_OWNER_PASSWORD: PASSWORD,
  };
  for (let writes = 0; ; writes++) {
    const store = await openStore(await databaseIn(folder));
    for (const statement of [...FUSE, ...BURNING]) await sql.raw(statement).execute(store.db);
    await sql`INSERT INTO fuse VALUES (${writes})`.execute(store.db);
    const service = await startTestService(t, { folder, env, store }).catch((error: Error) => {
      assert.match(error.message, /cut off/);
      return null;
    });
    if (service) {
      assert.ok(writes > 0, 'some starts were cut off');
      const { status } = await trySignIn(service, { email: 'ann@example.com', password: PASSWORD });
      assert.equal(status, 201);
      return;
    }
    const after = await openStore(await databaseIn(folder));
    const left = await after.db.selectFrom('members').select('password_hash').execute();
    await after.close();
    assert.deepEqual(left, []);
  }
});

test('makeOwner promotes an existing member and makes the former owner an admin', async (t) => {
  const { context, members, addMember } = await openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const bob = await addMember('bob@example.com', 'viewer');
  const { owner, created } = await makeOwner(context, 'BOB@example.com');
  assert.deepEqual([owner.id, owner.role, created], [bob, 'owner', false]);
  assert.deepEqual(await members(), [
    ['ann@example.com', 'admin'],
    ['bob@example.com', 'owner'],
  ]);
});

test('makeOwner promotes a member of a team without an owner', async (t) => {
  const { context, members, addMember } = await openTeam(t);
  await addMember('bob@example.com', 'member');
  assert.equal((await makeOwner(context, 'bob@example.com')).created, false);
  assert.deepEqual(await members(), [['bob@example.com', 'owner']]);
});

test('makeOwner with an unused address changes the owner’s address', async (t) => {
  const { context, members } = await openTeam(t);
  const before = await makeOwner(context, 'ann@example.com');
  const { owner, created } = await makeOwner(context, 'Ann@New.example');
  assert.deepEqual([owner.id, owner.email, created], [before.owner.id, 'ann@new.example', false]);
  assert.deepEqual(await members(), [['ann@new.example', 'owner']]);
});

test('makeOwner with a new address revokes all of the former holder’s credentials', async (t) => {
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_MAIL_URL: 'smtp://127.0.0.1:9',
      DELIVERABILITY_MAIL_FROM: 'notices@example.com',
    },
  });
  const { app, call } = service;
  await app.scheduler.stop();
  const browser = await ownerBrowser(service);
  const admin = await service.makeMember('admin');
  const { id } = (await findOwner(app.db))!;
  const { token } = await app.db
    .transaction()
    .execute((tx) => insertPasswordLink(tx, app, id, 3_600_000));
  const link = tokenOf(await invite(service, { email: 'accomplice@example.com' }));
  const other = await invite(service, { email: 'bob@example.com' }, admin.key);

  const { owner } = await makeOwner(app, 'new@example.com');
  assert.deepEqual([owner.id, owner.password_hash], [id, null]);
  assert.deepEqual(await findOwner(app.db), owner);
  assert.equal((await browser.call('GET', '/v1/me')).status, 401);
  assert.equal((await call('GET', '/v1/me')).status, 401, 'a key');
  for (const email of ['owner@example.com', 'new@example.com'])
    assert.equal((await trySignIn(service, { email, password: PASSWORD })).status, 401, email);
  const json = { token, password: 'a new password' };
  const reset = await call('POST', '/v1/password_resets/confirm', { key: null, json });
  assert.equal(reset.status, 410);
  assert.equal((await accept(service, link)).status, 410);
  const outbox = app.db.selectFrom('outbox').select(['recipient', 'status']);
  const mails = await outbox.orderBy('id').execute();
  assert.deepEqual(mails, [
    { recipient: 'accomplice@example.com', status: 'failed' },
    { recipient: 'bob@example.com', status: 'queued' },
  ]);

  assert.equal((await accept(service, tokenOf(other))).status, 201, 'those of others stay');
  assert.equal((await call('GET', '/v1/me', { key: admin.key })).status, 200);
  const { details } = await app.db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'member.changed')
    .executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(details), {
    email: { from: 'owner@example.com', to: 'new@example.com' },
    sessions_ended: 1,
    keys_ended: 1,
    assistants_ended: 0,
    invitations_revoked: 1,
  });
});

test('makeOwner for another member revokes all of the former owner’s credentials', async (t) => {
  const service = await startTestService(t);
  const { app, call } = service;
  const browser = await ownerBrowser(service);
  const next = await service.makeMember('member');
  const { id } = (await findOwner(app.db))!;
  const { token } = await app.db
    .transaction()
    .execute((tx) => insertPasswordLink(tx, app, id, 3_600_000));
  const link = tokenOf(await invite(service, { email: 'accomplice@example.com' }));

  const { owner, previous } = await makeOwner(app, next.email);
  assert.deepEqual([owner.id, previous?.id, previous?.role], [next.id, id, 'owner']);
  assert.equal((await browser.call('GET', '/v1/me')).status, 401);
  assert.equal((await call('GET', '/v1/me')).status, 401, 'a key');
  const password = { email: 'owner@example.com', password: PASSWORD };
  assert.equal((await trySignIn(service, password)).status, 401);
  const json = { token, password: 'a new password' };
  const reset = await call('POST', '/v1/password_resets/confirm', { key: null, json });
  assert.equal(reset.status, 410);
  assert.equal((await accept(service, link)).status, 410);
  assert.equal(
    (await call('GET', '/v1/me', { key: next.key })).status,
    200,
    'the new one keeps it',
  );
  const { details } = await app.db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'ownership.transferred')
    .executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(details), {
    from: { id, email: 'owner@example.com' },
    to: { id: next.id, email: next.email, role: 'member' },
    sessions_ended: 1,
    keys_ended: 1,
    assistants_ended: 0,
    invitations_revoked: 1,
  });
});

test('makeOwner with the owner’s own address changes nothing', async (t) => {
  const { context, members } = await openTeam(t);
  const first = await makeOwner(context, 'ann@example.com');
  const again = await makeOwner(context, 'ANN@example.com');
  assert.deepEqual(again, { owner: first.owner, created: false, previous: null });
  assert.deepEqual(await members(), [['ann@example.com', 'owner']]);
});

test('Concurrent makeOwner calls leave exactly one owner', async (t) => {
  const { context, members, addMember } = await openTeam(t);
  const emails = Array.from({ length: 6 }, (_, i) => `m${i}@example.com`);
  for (const email of emails.slice(0, 3)) await addMember(email, 'member');
  await Promise.all(emails.map((email) => makeOwner(context, email)));
  const owners = (await members()).filter(([, role]) => role === 'owner');
  assert.equal(owners.length, 1);
});

test('The database rejects a second owner', async (t) => {
  const { context, addMember, db } = await openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const id = await addMember('bob@example.com', 'admin');
  const second = db.updateTable('members').set({ role: 'owner' }).where('id', '=', id).execute();
  await assert.rejects(second, isUniqueViolation);
});

test('makeOwner changes are audited, and role changes end sessions', async (t) => {
  const { context, addMember, db } = await openTeam(t);
  const { owner: ann } = await makeOwner(context, 'ann@example.com');
  const bob = await addMember('bob@example.com', 'viewer');
  const time = '2026-11-21T10:00:00.000Z';
  for (const member_id of [ann.id, bob]) {
    const times = { created_at: time, last_seen_at: time, expires_at: time };
    const row = { id: context.newId('ses'), member_id, hash: member_id, ...times };
    await db.insertInto('sessions').values(row).execute();
  }
  await makeOwner(context, 'ann@example.com');
  assert.equal((await db.selectFrom('sessions').selectAll().execute()).length, 2);
  await makeOwner(context, 'bob@example.com');
  assert.deepEqual(await db.selectFrom('sessions').selectAll().execute(), []);
  await makeOwner(context, 'carol@example.com');
  const entries = await db.selectFrom('audit_log').selectAll().orderBy('id').execute();
  assert.deepEqual(
    entries.map(({ action, object_id, member_id, details }) => [
      action,
      object_id,
      member_id,
      JSON.parse(details),
    ]),
    [
      ['member.created', ann.id, null, { email: 'ann@example.com', role: 'owner' }],
      [
        'ownership.transferred',
        bob,
        null,
        {
          from: { id: ann.id, email: 'ann@example.com' },
          to: { id: bob, email: 'bob@example.com', role: 'viewer' },
          sessions_ended: 1,
          keys_ended: 0,
          assistants_ended: 0,
          invitations_revoked: 0,
        },
      ],
      [
        'member.changed',
        bob,
        null,
        {
          email: { from: 'bob@example.com', to: 'carol@example.com' },
          sessions_ended: 0,
          keys_ended: 0,
          assistants_ended: 0,
          invitations_revoked: 0,
        },
      ],
    ],
  );
});

// Ownership transfers: only by the owner, with exactly one owner at any time.

const TRANSFER = '/v1/team/transfer-ownership';

test('POST /v1/team/transfer-ownership makes the member owner and the caller admin', async (t) => {
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
    message: `${viewer.email} is now the owner, and owner@example.com is an admin.`,
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
  // It can't be undone, not even with an API key created by the owner.
  const back = await call<Problem>('POST', TRANSFER, { json: { new_owner_id: former!.id } });
  assert.deepEqual([back.status, back.body.code], [403, 'forbidden']);
});

test('POST /v1/team/transfer-ownership requires the owner and another member as target', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, makeKey } = service;
  const [owner] = await membersOf(service);
  const admin = await makeMember('admin');
  const json = { new_owner_id: admin.id };
  for (const role of ['admin', 'member', 'viewer'] as const) {
    const { key } = await makeMember(role);
    assert.equal((await call('POST', TRANSFER, { key, json })).status, 403, role);
  }
  // A key of the owner with a lower role isn't sufficient.
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

test('POST /v1/team/transfer-ownership replays its response although the caller is no longer owner', async (t) => {
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
  // All other requests run with the admin role.
  for (const refused of [await transfer(other.id), await transfer(next.id, 'k2')]) {
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
    assert.match(refused.body.detail, /owner/);
  }
  const roles = Object.fromEntries((await membersOf(service)).map(({ id, role }) => [id, role]));
  assert.deepEqual(roles, { [next.id]: 'owner', [other.id]: 'admin', [former!.id]: 'admin' });
  assert.equal((await auditOf(service, { action: 'ownership.transferred' })).length, 1);
  // A revoked credential gets no stored response.
  const key = await makeKey('owner', true, next.id);
  const gone = await call('DELETE', `/v1/team/members/${former!.id}`, { key });
  assert.equal(gone.status, 200, gone.text);
  assert.equal((await transfer(next.id)).status, 401);
});

test('After an ownership transfer the former owner keeps password and keys', async (t) => {
  const service = await startTestService(t);
  await givePassword(service, 'owner@example.com');
  const { id } = await service.makeMember('member');
  await service.call('POST', TRANSFER, { json: { new_owner_id: id } });
  assert.equal((await service.call('GET', '/v1/me')).body.role, 'admin');
  const given = { email: 'owner@example.com', password: PASSWORD };
  assert.equal((await trySignIn(service, given)).status, 201);
});

test('An ownership transfer is rolled back if its response cannot be stored; a retry succeeds', async (t) => {
  const service = await startTestService(t);
  const { call, makeMember, app } = service;
  const { id } = await makeMember('admin');
  const transfer = () =>
    call<Problem>('POST', TRANSFER, {
      json: { new_owner_id: id },
      headers: { 'idempotency-key': 'k1' },
    });
  const accept = await rejectUpdates(app.db, 'idempotency_keys');
  assert.equal((await transfer()).status, 500);
  await accept();
  assert.equal((await call('GET', '/v1/me')).body.role, 'owner');
  assert.equal((await transfer()).status, 200);
  assert.equal((await call('GET', '/v1/me')).body.role, 'admin');
});

test('Concurrent ownership transfers: exactly one succeeds', async (t) => {
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

test('A second ownership transfer authorized at the same moment is rejected', async (t) => {
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
  const results = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.owner.id : outcome.reason.code,
  );
  // With several connections, either may come first.
  const winner = targets.find(({ id }) => results.includes(id))!;
  assert.deepEqual(results.toSorted(), ['forbidden', winner.id]);
});

test('Concurrent ownership transfer and removal of its target: exactly one succeeds', async (t) => {
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
