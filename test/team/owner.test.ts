/** One owner, never two: made at the machine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOwner } from '../../src/team/members.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { openTeam } from './open-team.ts';

test('a team without an owner gets a new member', async (t) => {
  const { context, members, db } = openTeam(t);
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
  });
  assert.deepEqual(await members(), [['ann.lee@example.com', 'owner']]);
  assert.deepEqual(await findOwner(db), owner);
});

test('a member of that address takes over, and the owner becomes an admin', async (t) => {
  const { context, members, addMember } = openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const bob = await addMember('bob@example.com', 'viewer');
  const { owner, created } = await makeOwner(context, 'BOB@example.com');
  assert.deepEqual([owner.id, owner.role, created], [bob, 'owner', false]);
  assert.deepEqual(await members(), [
    ['ann@example.com', 'admin'],
    ['bob@example.com', 'owner'],
  ]);
});

test('a member takes over where there is no owner', async (t) => {
  const { context, members, addMember } = openTeam(t);
  await addMember('bob@example.com', 'member');
  assert.equal((await makeOwner(context, 'bob@example.com')).created, false);
  assert.deepEqual(await members(), [['bob@example.com', 'owner']]);
});

test('an address that nobody has becomes the owner’s', async (t) => {
  const { context, members } = openTeam(t);
  const before = await makeOwner(context, 'ann@example.com');
  const { owner, created } = await makeOwner(context, 'Ann@New.example');
  assert.deepEqual([owner.id, owner.email, created], [before.owner.id, 'ann@new.example', false]);
  assert.deepEqual(await members(), [['ann@new.example', 'owner']]);
});

test('the owner’s own address changes nothing', async (t) => {
  const { context, members } = openTeam(t);
  const first = await makeOwner(context, 'ann@example.com');
  const again = await makeOwner(context, 'ANN@example.com');
  assert.deepEqual(again, { owner: first.owner, created: false });
  assert.deepEqual(await members(), [['ann@example.com', 'owner']]);
});

test('of many at once one is the owner in the end', async (t) => {
  const { context, members, addMember } = openTeam(t);
  const emails = Array.from({ length: 6 }, (_, i) => `m${i}@example.com`);
  for (const email of emails.slice(0, 3)) await addMember(email, 'member');
  await Promise.all(emails.map((email) => makeOwner(context, email)));
  const owners = (await members()).filter(([, role]) => role === 'owner');
  assert.equal(owners.length, 1);
});

test('the database itself refuses a second owner', async (t) => {
  const { context, addMember, db } = openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const id = await addMember('bob@example.com', 'admin');
  const second = db.updateTable('members').set({ role: 'owner' }).where('id', '=', id).execute();
  await assert.rejects(second, /UNIQUE/);
});

test('what is done at the machine is in the audit log, and another role ends sessions', async (t) => {
  const { context, addMember, db } = openTeam(t);
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
        },
      ],
      [
        'member.changed',
        bob,
        null,
        { email: { from: 'bob@example.com', to: 'carol@example.com' } },
      ],
    ],
  );
});
