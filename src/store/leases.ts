/** Leases on rows of work: one worker claims a row, and others skip it until the lease expires. */

import { type SelectQueryBuilder, sql } from 'kysely';
import { type Clock, isoTime } from '../lib/clock.ts';
import type { NewId } from '../lib/ids.ts';
import { type Db, type Tx, transact } from './open.ts';
import type { Tables } from './tables.generated.ts';

const LEASED_TABLES = [
  'tests',
  'outbox',
  'domains',
  'monitors',
  'alert_notifications',
  'report_schedules',
] as const;
type LeasedTable = (typeof LEASED_TABLES)[number];

interface Claim<Table extends LeasedTable, Row> {
  table: Table;
  /** Selects the due rows, leased or not, in the order in which to process them, with a limit. */
  due: SelectQueryBuilder<Tables, Table, Row>;
  /** How long other workers skip the claimed rows. */
  leaseMs: number;
  /** Runs first, in the same transaction. */
  before?(tx: Tx): Promise<void>;
}

/** Claims the due rows without a valid lease. Takes the write lock only if there are any. */
export async function claimRows<Table extends LeasedTable, Row extends { id: string }>(
  { db, clock, newId }: { db: Db; clock: Clock; newId: NewId },
  { table, due, leaseMs, before }: Claim<Table, Row>,
): Promise<(Row & { lease: string; leased_until: string })[]> {
  const now = isoTime(clock.now());
  const leased_until = isoTime(clock.now() + leaseMs);
  // A lease that ends later than a new one would was taken before the clock was set back.
  const unleased = due.where(
    sql<boolean>`(leased_until is null or leased_until < ${now} or leased_until > ${leased_until})`,
  );
  if ((await unleased.limit(1).execute()).length === 0) return [];
  const lease = newId('req');
  return transact(db, async (tx) => {
    await before?.(tx);
    // Rows that another worker is claiming at this moment are its own.
    const { rows } = await tx.executeQuery(unleased.forNoKeyUpdate().skipLocked());
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx
      .updateTable(table as LeasedTable)
      .set({ lease, leased_until })
      .where('id', 'in', ids)
      .execute();
    return rows.map((row) => ({ ...row, lease, leased_until }));
  });
}

/** Removes all leases. Call at start: only one process uses the database, so no lease is in use. */
export async function releaseLeases(db: Db): Promise<void> {
  for (const table of LEASED_TABLES)
    await db
      .updateTable(table)
      .set({ lease: null, leased_until: null })
      .where('lease', 'is not', null)
      .execute();
}

/** Makes rows due now whose due time is more than `maxWaitMs` ahead, because the clock was set back. */
export async function makeDistantDueNow(
  { db, clock }: { db: Db; clock: Clock },
  table: 'outbox' | 'alert_notifications' | 'webhook_deliveries',
  maxWaitMs: number,
): Promise<void> {
  const latest = isoTime(clock.now() + maxWaitMs);
  const distantRows = db.selectFrom(table).select('id').where('due_at', '>', latest);
  // Usually there are none, so this read avoids the write lock.
  if ((await distantRows.limit(1).execute()).length === 0) return;
  await db
    .updateTable(table)
    .set({ due_at: isoTime(clock.now()) })
    .where('due_at', '>', latest)
    .execute();
}
