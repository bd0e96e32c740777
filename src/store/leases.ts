/** Leases on rows of work: one worker claims a row, and others skip it until the lease ends. */

import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type Clock, isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import type { NewId } from '../lib/ids.ts';
import { timeIn } from './database-clock.ts';
import { type Db, engineOf, type Tx, transact } from './open.ts';
import type { Tables } from './tables.generated.ts';

const LEASED_TABLES = [
  'tests',
  'outbox',
  'domains',
  'monitors',
  'alert_notifications',
  'report_schedules',
  'seed_mailboxes',
  'feedback_domains',
  'feedback_mails',
  'report_mailboxes',
  'feedback_addresses',
  'image_loads',
  'receivers',
] as const;
type LeasedTable = (typeof LEASED_TABLES)[number];

/** What a claim needs to know about the worker. */
export interface Worker {
  clock: Clock;
  newId: NewId;
  /** The name of this node, which its leases begin with. */
  node: string;
}

/** Unique for each claim. The ID alone would be, but the node's next start recognizes its leases by the name. */
export const newLease = ({ node, newId }: Pick<Worker, 'node' | 'newId'>): string =>
  `${node}:${newId('req')}`;

/** Whether a lease was taken by this node, in this process or an earlier one of the same name. */
export const isLeaseOf = (node: string, column = 'lease'): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} >= ${`${node}:`} and ${sql.ref(column)} < ${`${node};`})`;

/** Whether no lease is in effect. */
export function isUnleased(clock: Clock): RawBuilder<boolean> {
  return sql<boolean>`(leased_until is null or leased_until < ${timeIn(clock)})`;
}

interface Claim<DB, From extends keyof DB, Row> {
  table: LeasedTable | 'webhook_deliveries';
  /** The alias of the table in `due`. */
  alias?: From & string;
  /** Selects due rows with their id, in the order in which to process them, with a limit. */
  due: SelectQueryBuilder<DB, From, Row>;
  /** How long other workers skip the claimed rows. */
  leaseMs: number;
  /** The column with the end of the lease. */
  until: 'leased_until' | 'due_at';
  /** More columns to set. */
  set?: Record<string, Expression<unknown>>;
}

/** Rows as they were before the claim, and the lease that they have now. */
export interface Claimed<Row> {
  rows: Row[];
  lease: string;
  leasedUntil: string;
}

/**
 * Claims the rows that `due` selects and returns them: the only way to take work. On PostgreSQL, it is one
 * statement that skips the rows that other workers are claiming, and it can run outside of a transaction. On SQLite,
 * call it in one.
 */
export async function claim<DB, From extends keyof DB, Row extends { id: string }>(
  db: Db | Tx,
  worker: Worker,
  work: Claim<DB, From, Row>,
): Promise<Claimed<Row>> {
  return engineOf(db) === 'sqlite'
    ? claimOnSqlite(db, worker, work)
    : claimOnPostgres(db, worker, work);
}

async function claimOnSqlite<DB, From extends keyof DB, Row extends { id: string }>(
  db: Db | Tx,
  worker: Worker,
  { table, due, leaseMs, until, set }: Claim<DB, From, Row>,
): Promise<Claimed<Row>> {
  const { rows } = await db.executeQuery(due);
  const lease = newLease(worker);
  const leasedUntil = isoTime(worker.clock.now() + leaseMs);
  if (rows.length > 0)
    await db
      .updateTable(table as LeasedTable)
      .set({ ...set, lease, [until]: leasedUntil })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute();
  return { rows, lease, leasedUntil };
}

/** `due` is materialized, so that it runs once, and numbered, because an update returns its rows in any order. */
async function claimOnPostgres<DB, From extends keyof DB, Row extends { id: string }>(
  db: Db | Tx,
  worker: Worker,
  { table, alias, due, leaseMs, until, set = {} }: Claim<DB, From, Row>,
): Promise<Claimed<Row>> {
  const lease = newLease(worker);
  const locked = (alias ? due.forNoKeyUpdate(alias as never) : due.forNoKeyUpdate()).skipLocked();
  const changes = Object.entries({
    ...set,
    lease: sql.val(lease),
    [until]: timeIn(worker.clock, leaseMs),
  }).map(([column, value]) => sql`${sql.id(column)} = ${value}`);
  const { rows: found } = await sql<Row & { claim_order: number; claimed_until: string }>`
    with due as materialized ${locked},
      numbered as materialized (select due.*, row_number() over () as claim_order from due),
      claimed as (
        update ${sql.table(table)} set ${sql.join(changes)}
        where id = any(array(select id from due))
        returning id as claimed_id, ${sql.id(until)} as claimed_until
      )
    select numbered.*, claimed_until
    from numbered join claimed on claimed_id = numbered.id order by claim_order`.execute(db);
  const rows = found.map(({ claim_order, claimed_until, ...row }) => row as unknown as Row);
  return { rows, lease, leasedUntil: found[0]?.claimed_until ?? '' };
}

interface RowClaim<Table extends LeasedTable, Row> {
  table: Table;
  /** Selects the due rows, leased or not, in the order in which to process them, with a limit. */
  due: SelectQueryBuilder<Tables, Table, Row>;
  leaseMs: number;
  /** Runs first, in the same transaction. */
  before?(tx: Tx): Promise<void>;
}

/** Claims the due rows without a valid lease. On SQLite, takes the write lock only if there are any. */
export async function claimRows<Table extends LeasedTable, Row extends { id: string }>(
  { db, ...worker }: Worker & { db: Db },
  { table, due, leaseMs, before }: RowClaim<Table, Row>,
): Promise<(Row & { lease: string; leased_until: string })[]> {
  const engine = engineOf(db);
  // Called again after the wait for the write lock. Leases that were taken meanwhile would end implausibly
  // late for a time from before the wait.
  const unleased = () =>
    engine === 'sqlite'
      ? due.where(isUnleasedOnSqlite(worker.clock, leaseMs))
      : due.where(isUnleased(worker.clock));
  const claimDue = (executor: Db | Tx) =>
    claim(executor, worker, {
      table,
      due: unleased(),
      leaseMs,
      until: 'leased_until',
    });
  const run = async () => {
    if (engine === 'postgres' && !before) return claimDue(db);
    if ((await unleased().limit(1).execute()).length === 0) return null;
    return transact(db, async (tx) => {
      await before?.(tx);
      return claimDue(tx);
    });
  };
  const claimed = await run();
  if (claimed === null) return [];
  const { rows, lease, leasedUntil: leased_until } = claimed;
  return rows.map((row) => ({ ...row, lease, leased_until }));
}

/**
 * A lease that ends later than a new one would was taken before the clock was set back. With several nodes, it
 * could also be that this node's clock is slow, so on PostgreSQL it is in effect.
 */
function isUnleasedOnSqlite(clock: Clock, leaseMs: number): RawBuilder<boolean> {
  const now = isoTime(clock.now());
  const latest = isoTime(clock.now() + leaseMs);
  return sql<boolean>`(leased_until is null or leased_until < ${now} or leased_until > ${latest})`;
}

/** Extends leases that are still held. */
export async function renewLeases(
  db: Db,
  clock: Clock,
  { table, leases, leaseMs }: { table: LeasedTable; leases: string[]; leaseMs: number },
): Promise<void> {
  await db
    .updateTable(table)
    .set({ leased_until: timeIn(clock, leaseMs) })
    .where('lease', 'in', leases)
    .execute();
}

/**
 * Removes leases of an earlier process; call it at start. On SQLite, those are all leases. On PostgreSQL, they
 * are those of a node with the same name; other leases end by themselves.
 */
export async function releaseLeases(db: Db, node: string): Promise<void> {
  for (const table of LEASED_TABLES)
    await db
      .updateTable(table)
      .set({ lease: null, leased_until: null })
      .where(wasLeasedEarlier(db, node))
      .execute();
}

/** Whether an earlier process took the lease. Only at start: later, it may be a lease of this process. */
export const wasLeasedEarlier = (db: Db | Tx, node: string, column = 'lease') =>
  engineOf(db) === 'sqlite'
    ? sql<boolean>`${sql.ref(column)} is not null`
    : isLeaseOf(node, column);

/** How much the clocks of nodes may differ when they judge whether a time is implausibly late. */
const CLOCK_TOLERANCE_MS = HOUR_MS;

/** The latest plausible due time of a row that is due within `maxWaitMs`. */
export const latestDueTime = (
  { db, clock }: { db: Db | Tx; clock: Clock },
  maxWaitMs: number,
): string =>
  isoTime(clock.now() + maxWaitMs + (engineOf(db) === 'sqlite' ? 0 : CLOCK_TOLERANCE_MS));

/** Makes rows due now whose due time is more than `maxWaitMs` ahead, because the clock was set back. */
export async function makeDistantDueNow(
  { db, clock }: { db: Db; clock: Clock },
  table: 'outbox' | 'alert_notifications' | 'webhook_deliveries',
  maxWaitMs: number,
): Promise<void> {
  const latest = latestDueTime({ db, clock }, maxWaitMs);
  const distantRows = db.selectFrom(table).select('id').where('due_at', '>', latest);
  // Usually there are none, so this read avoids the write lock.
  if ((await distantRows.limit(1).execute()).length === 0) return;
  await db
    .updateTable(table)
    .set({ due_at: isoTime(clock.now()) })
    .where('due_at', '>', latest)
    .execute();
}
