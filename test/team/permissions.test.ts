/** What has changed between the look at a request and its transaction is seen there. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMember, removeMember, setRole } from '../../src/team/members.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { standing } from '../../src/team/permissions.ts';
import { openTeam } from './open-team.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const code = (expected: string) => (error: unknown) =>
  (error as { code?: string }).code === expected;

test('who was removed or lowered since the request came is refused', async (t) => {
  const { db, addMember } = openTeam(t);
  const memberId = await addMember('ann@example.com', 'admin');
  const stand = (role: 'admin' | 'member') =>
    db.transaction().execute((tx) => standing(tx, { memberId, role }, 'admin'));
  assert.equal((await stand('admin')).role, 'admin');
  await assert.rejects(stand('member'), code('forbidden'));
  await db.updateTable('members').set({ role: 'viewer' }).where('id', '=', memberId).execute();
  await assert.rejects(stand('admin'), code('forbidden'));
  await db.deleteFrom('members').where('id', '=', memberId).execute();
  await assert.rejects(stand('admin'), code('unauthenticated'));
});

test('a member who became the owner meanwhile is neither lowered nor removed', async (t) => {
  const { db, context, addMember } = openTeam(t);
  await makeOwner(context, 'ann@example.com');
  const stale = (await findMember(db, await addMember('bob@example.com', 'admin')))!;
  await makeOwner(context, 'bob@example.com');
  const lower = db.transaction().execute((tx) => setRole(tx, stale, 'viewer', NOW));
  await assert.rejects(lower, code('conflict'));
  const remove = db.transaction().execute((tx) => removeMember(tx, stale, NOW));
  await assert.rejects(remove, code('conflict'));
  assert.equal((await findMember(db, stale.id))?.role, 'owner');
});
