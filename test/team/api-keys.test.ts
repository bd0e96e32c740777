/** What an API key stands for, and what is kept of it. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ROLES } from '../../src/http/actor.ts';
import { createApiKey, identifyKey, type NewKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { openTeam } from './open-team.ts';

/** A team with one owner, and keys of that member. */
async function withKeys(t: TestContext) {
  const all = openTeam(t);
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
      email: 'ann@example.com',
      keyId: row.id,
      sessionId: null,
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
