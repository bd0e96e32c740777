/** One owner, never two; and what a key stands for. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ROLES, type Role } from '../../src/http/actor.ts';
import { createIds } from '../../src/lib/ids.ts';
import { openStore } from '../../src/store/open.ts';
import {
  createApiKey,
  findOwner,
  identifyKey,
  makeOwner,
  type NewKey,
  type TeamContext,
} from '../../src/team/queries.ts';
import { testClock } from '../helpers/clock.ts';

function team(t: TestContext) {
  const store = openStore(':memory:');
  t.after(() => store.close());
  const clock = testClock();
  const context: TeamContext = { db: store.db, clock, newId: createIds(clock) };
  return {
    ...context,
    context,
    clock,
    /** Addresses and roles, in the order in which they joined. */
    async members() {
      const rows = await store.db.selectFrom('members').selectAll().orderBy('id').execute();
      return rows.map(({ email, role }) => [email, role]);
    },
    async addMember(email: string, role: Exclude<Role, 'owner'>) {
      const id = context.newId('mem');
      const joined_at = '2026-11-21T10:00:00.000Z';
      await store.db
        .insertInto('members')
        .values({ id, email, name: 'X', role, joined_at })
        .execute();
      return id;
    },
  };
}

test('a team without an owner gets a new member', async (t) => {
  const { context, members, db } = team(t);
  const { owner, created } = await makeOwner(context, 'Ann.Lee@Example.com');
  assert.ok(created);
  assert.match(owner.id, /^mem_/);
  const { id, ...rest } = owner;
  assert.deepEqual(rest, {
    email: 'ann.lee@example.com',
    name: 'Ann.Lee',
    role: 'owner',
    joined_at: '2026-11-21T10:00:00.000Z',
  });
  assert.deepEqual(await members(), [['ann.lee@example.com', 'owner']]);
  assert.deepEqual(await findOwner(db), owner);
});

test('a member of that address takes over, and the owner becomes an admin', async (t) => {
  const { context, members, addMember } = team(t);
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
  const { context, members, addMember } = team(t);
  await addMember('bob@example.com', 'member');
  assert.equal((await makeOwner(context, 'bob@example.com')).created, false);
  assert.deepEqual(await members(), [['bob@example.com', 'owner']]);
});

test('an address that nobody has becomes the owner’s', async (t) => {
  const { context, members } = team(t);
  const before = await makeOwner(context, 'ann@example.com');
  const { owner, created } = await makeOwner(context, 'Ann@New.example');
  assert.deepEqual([owner.id, owner.email, created], [before.owner.id, 'ann@new.example', false]);
  assert.deepEqual(await members(), [['ann@new.example', 'owner']]);
});

test('the owner’s own address changes nothing', async (t) => {
  const { context, members } = team(t);
  const first = await makeOwner(context, 'ann@example.com');
  const again = await makeOwner(context, 'ANN@example.com');
  assert.deepEqual(again, { owner: first.owner, created: false });
  assert.deepEqual(await members(), [['ann@example.com', 'owner']]);
});

test('of many at once one is the owner in the end', async (t) => {
  const { context, members, addMember } = team(t);
  const emails = Array.from({ length: 6 }, (_, i) => `m${i}@example.com`);
  for (const email of emails.slice(0, 3)) await addMember(email, 'member');
  await Promise.all(emails.map((email) => makeOwner(context, email)));
  const owners = (await members()).filter(([, role]) => role === 'owner');
  assert.equal(owners.length, 1);
});

test('the database itself refuses a second owner', async (t) => {
  const { context, addMember, db } = team(t);
  await makeOwner(context, 'ann@example.com');
  const id = await addMember('bob@example.com', 'admin');
  const second = db.updateTable('members').set({ role: 'owner' }).where('id', '=', id).execute();
  await assert.rejects(second, /UNIQUE/);
});

/** A team with one owner, and keys of that member. */
async function withKeys(t: TestContext) {
  const all = team(t);
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

test('a key says its mode, is kept as a hash, and stands for its member', async (t) => {
  const { makeKey, identify, owner, db } = await withKeys(t);
  for (const livemode of [true, false]) {
    const { key, row } = await makeKey({ livemode });
    assert.match(key, new RegExp(`^dlv_${livemode ? 'live' : 'test'}_[\\w-]{43}$`));
    assert.ok(key.startsWith(row.prefix) && row.prefix.length === 14);
    assert.ok(!JSON.stringify(await db.selectFrom('api_keys').selectAll().execute()).includes(key));
    assert.deepEqual(await identify(key), {
      memberId: owner.id,
      keyId: row.id,
      role: 'member',
      livemode,
    });
  }
});

test('what is no key of ours stands for nobody', async (t) => {
  const { makeKey, identify } = await withKeys(t);
  const { key, row } = await makeKey();
  const wrong = ['', 'dlv_', 'nonsense', row.hash, row.prefix, key.slice(0, -1), `${key}x`];
  for (const text of [...wrong, key.toUpperCase(), key.replace('live', 'test')])
    assert.equal(await identify(text), null, text);
});

test('the role that counts is the lower of the key and its member', async (t) => {
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

test('an expired key, a revoked one and that of a removed member stand for nobody', async (t) => {
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

test('when a key was last used is kept to the minute, so that reading seldom writes', async (t) => {
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
