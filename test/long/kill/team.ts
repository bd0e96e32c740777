/** Changes of the team, and sign-ins: each takes effect once, with its entry in the audit log. */

import assert from 'node:assert/strict';
import { isoTime, systemClock } from '../../../src/lib/clock.ts';
import { hashPassword } from '../../../src/lib/crypto.ts';
import { createIdGenerator } from '../../../src/lib/ids.ts';
import type { Db } from '../../../src/store/open.ts';
import { findOwner } from '../../../src/team/members.ts';
import { countRows, type Load, untilMore } from './load.ts';

const PASSWORD = 'correct horse battery';
const ROLES = ['member', 'viewer'] as const;

export function createTeam(): Load {
  const newId = createIdGenerator(systemClock);
  const memberId = newId('mem');
  /** By address; null if no response said. */
  const invitations = new Map<string, string | null>();
  const sessions: string[] = [];
  let owner = '';
  let signIns = 0;
  let roleChanges = 0;
  let entriesBefore = 0;
  return {
    name: 'team',
    maxPauseMs: 1_000,
    async prepare(db) {
      const { id, email } = (await findOwner(db))!;
      owner = email;
      const password_hash = await hashPassword(PASSWORD);
      await db.updateTable('members').set({ password_hash }).where('id', '=', id).execute();
      const member = { id: memberId, email: 'member@example.com', name: 'The member' };
      const joined_at = isoTime(systemClock.now());
      await db
        .insertInto('members')
        .values({ ...member, role: ROLES[0], joined_at })
        .execute();
    },
    async work(site) {
      const email = `guest-${invitations.size}@example.com`;
      invitations.set(email, null);
      const invited = await site.call('POST', '/v1/team/invitations', {
        body: JSON.stringify({ email, role: 'viewer' }),
        idempotencyKey: email,
      });
      invitations.set(email, invited?.id ?? null);
      roleChanges += 1;
      const role = ROLES[roleChanges % 2]!;
      const changed = await site.call('PATCH', `/v1/team/members/${memberId}`, {
        body: JSON.stringify({ role }),
      });
      assert.equal(changed!.role, role);
      signIns += 1;
      const body = JSON.stringify({ email: owner, password: PASSWORD });
      const session = await site.call('POST', '/v1/sessions', { body, anonymous: true });
      sessions.push(session!.id);
    },
    moments: [
      {
        name: 'change',
        async reach({ db }) {
          entriesBefore = await countRows(db, 'audit_log');
          await untilMore(() => countRows(db, 'audit_log'));
        },
        end: async (db) => (await countRows(db, 'audit_log')) > entriesBefore,
      },
    ],
    async verify(db) {
      const invited = await db
        .selectFrom('invitations')
        .select(['id', 'email', 'mail_id'])
        .execute();
      const stored = new Map(invited.map(({ id, email }) => [email, id]));
      assert.equal(stored.size, invited.length);
      for (const { email } of invited) assert.ok(invitations.has(email), `nobody invited ${email}`);
      for (const [email, id] of invitations)
        if (id !== null) assert.equal(stored.get(email), id, `the invitation of ${email}`);
      const mails = await db
        .selectFrom('outbox')
        .select(['id', 'recipient'])
        .where('recipient', 'like', 'guest-%')
        .execute();
      assert.deepEqual(
        mails.map(({ id, recipient }) => `${id} ${recipient}`).sort(),
        invited.map(({ mail_id, email }) => `${mail_id} ${email}`).sort(),
      );
      assert.deepEqual(
        await objectsOf(db, 'invitation.created'),
        invited.map(({ id }) => id).sort(),
      );
      const changes = await objectsOf(db, 'member.changed');
      assert.deepEqual(changes, Array(roleChanges).fill(memberId));
      const { role } = await db
        .selectFrom('members')
        .select('role')
        .where('id', '=', memberId)
        .executeTakeFirstOrThrow();
      assert.equal(role, ROLES[roleChanges % 2]);
      const open = await db.selectFrom('sessions').select('id').execute();
      const ids = open.map(({ id }) => id);
      assert.deepEqual(
        sessions.filter((id) => !ids.includes(id)),
        [],
      );
      assert.deepEqual(await objectsOf(db, 'session.created'), ids.toSorted());
      return { invitations: invited.length, signIns, sessions: ids.length, roleChanges };
    },
  };
}

/** The objects of all entries with the action. */
async function objectsOf(db: Db, action: string): Promise<string[]> {
  const entries = await db
    .selectFrom('audit_log')
    .select('object_id')
    .where('action', '=', action)
    .execute();
  return entries.map(({ object_id }) => object_id).sort();
}
