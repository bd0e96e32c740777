/** Due emails in the outbox, and their claims, for tests of leases. */

import { type Clock, isoTime } from '../../src/lib/clock.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { claimRows } from '../../src/store/leases.ts';
import type { Db } from '../../src/store/open.ts';

const MINUTE_MS = 60_000;
const BATCH = 20;

/** Due emails, in the order of their ids. */
export async function insertMails(db: Db, count: number, due_at: string): Promise<void> {
  const row = {
    created_at: due_at,
    recipient: 'ann@example.com',
    status: 'queued' as const,
    attempts: 0,
    bulk: 0,
    due_at,
  };
  const ids = Array.from({ length: count }, (_, i) => `mail_${String(i).padStart(6, '0')}`);
  for (let first = 0; first < count; first += 1000)
    await db
      .insertInto('outbox')
      .values(ids.slice(first, first + 1000).map((id) => ({ id, ...row })))
      .execute();
}

export interface Claimer {
  db: Db;
  clock: Clock;
  node?: string;
}

/** Claims due emails as a node with the name `node`. */
export const claimMails = (
  { db, clock, node = 'here' }: Claimer,
  { limit = BATCH, leaseMs = MINUTE_MS, due = isoTime(clock.now()) } = {},
) =>
  claimRows(
    { db, clock, node, newId: createIdGenerator(clock) },
    {
      table: 'outbox',
      due: db
        .selectFrom('outbox')
        .select(['id', 'attempts'])
        .where('due_at', '<=', due)
        .orderBy('due_at')
        .orderBy('id')
        .limit(limit),
      leaseMs,
    },
  );
