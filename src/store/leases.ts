/** Work that stands in a table, taken by one at a time: a lease says by whom, and until when others leave it alone. */

import { type SelectQueryBuilder, sql } from 'kysely';
import { type Clock, isoTime } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import { type Db, type Tx, transact } from './open.ts';
import type { Tables } from './tables.generated.ts';

const LEASED = [
  'tests',
  'outbox',
  'domains',
  'monitors',
  'alert_notifications',
  'report_schedules',
] as const;
type Leased = (typeof LEASED)[number];

interface Claim<Table extends Leased, Row> {
  table: Table;
  /** Those that are due, whoever has them, in the order in which they are to be taken, and at most how many. */
  due: SelectQueryBuilder<Tables, Table, Row>;
  /** How long others leave them alone. */
  leaseMs: number;
  /** What is to be done in the same transaction before. */
  before?(tx: Tx): Promise<void>;
}

/** Takes what is due and nobody has; where nothing is, as mostly, without the write lock. */
export async function claimRows<Table extends Leased, Row extends { id: string }>(
  { db, clock, newId }: { db: Db; clock: Clock; newId: NewId },
  { table, due, leaseMs, before }: Claim<Table, Row>,
): Promise<(Row & { lease: string; leased_until: string })[]> {
  const now = isoTime(clock.now());
  const leased_until = isoTime(clock.now() + leaseMs);
  // No lease ends later: the clock was set back since one that seems to.
  const free = due.where(
    sql<boolean>`(leased_until is null or leased_until < ${now} or leased_until > ${leased_until})`,
  );
  if ((await free.limit(1).execute()).length === 0) return [];
  const lease = newId('req');
  return transact(db, async (tx) => {
    await before?.(tx);
    const { rows } = await tx.executeQuery(free);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx
      .updateTable(table as Leased)
      .set({ lease, leased_until })
      .where('id', 'in', ids)
      .execute();
    return rows.map((row) => ({ ...row, lease, leased_until }));
  });
}

/** At the start of the one process on a file: what is leased is nobody's. */
export async function freeLeases(db: Db): Promise<void> {
  for (const table of LEASED)
    await db
      .updateTable(table)
      .set({ lease: null, leased_until: null })
      .where('lease', 'is not', null)
      .execute();
}

/** What seems to be due longer after now than anything waits is due now: the clock was set back since. */
export async function bringForward(
  { db, clock }: { db: Db; clock: Clock },
  table: 'outbox' | 'alert_notifications' | 'webhook_deliveries',
  longestWaitMs: number,
): Promise<void> {
  const never = isoTime(clock.now() + longestWaitMs);
  const far = db.selectFrom(table).select('id').where('due_at', '>', never);
  // Mostly there is none: asked without the write lock.
  if ((await far.limit(1).execute()).length === 0) return;
  await db
    .updateTable(table)
    .set({ due_at: isoTime(clock.now()) })
    .where('due_at', '>', never)
    .execute();
}
