/** A team in its own database, without a service. */

import type { TestContext } from 'node:test';
import type { Role } from '../../src/http/actor.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import type { TeamContext } from '../../src/team/members.ts';
import { testClock } from '../helpers/clock.ts';
import { openTestStore } from '../helpers/store.ts';

export async function openTeam(t: TestContext) {
  const store = await openTestStore(t);
  const clock = testClock();
  const context: TeamContext = { db: store.db, clock, newId: createIdGenerator(clock) };
  return {
    ...context,
    context,
    clock,
    /** Addresses and roles in the order of joining. */
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
