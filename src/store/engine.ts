/** What differs between the databases for queries: which one it is, and row locks. */

import {
  type RawBuilder,
  type SelectQueryBuilder,
  SqliteAdapter,
  type StringReference,
  sql,
} from 'kysely';
import type { Tables } from './tables.generated.ts';
import type { Db, Engine, Tx } from './types.ts';

/** The engine behind a connection or a transaction. */
export const engineOf = (db: Db | Tx): Engine =>
  db.getExecutor().adapter instanceof SqliteAdapter ? 'sqlite' : 'postgres';

/**
 * The text of a column for a response that passes it on. SQLite returns the bytes as stored, in UTF-8, which
 * saves converting a long text twice.
 */
export function passedOn(db: Db | Tx, column: string): RawBuilder<string | Uint8Array | null> {
  return engineOf(db) === 'sqlite'
    ? sql`cast(${sql.ref(column)} as blob)`
    : sql`${sql.ref(column)}`;
}

type TableWithId = {
  [Table in keyof Tables]: Tables[Table] extends { id: string } ? Table : never;
}[keyof Tables];

/**
 * Makes other transactions that lock or change the row wait until this one ends. Read the row only
 * afterwards. SQLite has a single writer, so there it costs one lookup. Returns false if there is no such row.
 * For other conditions, use Kysely's `forUpdate()` and `skipLocked()`, which add nothing on SQLite.
 */
export async function lockRow(tx: Tx, table: TableWithId, id: string): Promise<boolean> {
  const rows = await tx
    .selectFrom(table as 'tests')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .execute();
  return rows.length > 0;
}

/**
 * In a transaction, makes other transactions that lock or change the selected rows wait until it ends, so
 * that a decision about them is still right when it is stored. Outside of one, and on SQLite, it changes
 * nothing. `of` names the table to lock in a query with joins.
 */
export function lockIn<DB, TB extends keyof DB & string, O>(
  db: Db | Tx,
  query: SelectQueryBuilder<DB, TB, O>,
  of?: TB,
): SelectQueryBuilder<DB, TB, O> {
  if (!db.isTransaction) return query;
  return of === undefined ? query.forNoKeyUpdate() : query.forNoKeyUpdate(of as never);
}

/**
 * As `lockIn`, for rows that this transaction only relies on: others may read and share them too, but not
 * change them. Never change a row that you have locked like this: two transactions would wait for each other.
 */
export function shareIn<DB, TB extends keyof DB & string, O>(
  db: Db | Tx,
  query: SelectQueryBuilder<DB, TB, O>,
  of?: TB,
): SelectQueryBuilder<DB, TB, O> {
  if (!db.isTransaction) return query;
  return of === undefined ? query.forShare() : query.forShare(of as never);
}

/**
 * Selects rows in the order in which all transactions lock them. SQLite locks none, and needs longer to sort one row than to
 * find it.
 */
export function inLockOrder<DB, TB extends keyof DB & string, O>(
  db: Db | Tx,
  query: SelectQueryBuilder<DB, TB, O>,
  column: StringReference<DB, TB>,
): SelectQueryBuilder<DB, TB, O> {
  return engineOf(db) === 'sqlite' ? query : query.orderBy(column);
}

/** The prefix of the names of lock rows. */
export const LOCK_PREFIX = 'lock: ';

/**
 * Makes other transactions that lock the same name wait until this one ends, for decisions about rows that
 * cannot be locked because they don't exist yet. A row and not an advisory lock, which some databases that
 * speak PostgreSQL's protocol accept and ignore. The row is deleted at once, so that none is left. Others still wait until
 * this transaction ends.
 */
export const lockName = (tx: Tx, name: string): Promise<void> => lockNames(tx, [name]);

/** Locks several names, sorted to avoid deadlocks. */
export async function lockNames(tx: Tx, names: string[]): Promise<void> {
  if (engineOf(tx) === 'sqlite' || names.length === 0) return;
  const rows = [...new Set(names)]
    .sort()
    .map((name) => ({ name: `${LOCK_PREFIX}${name}`, value: '' }));
  await tx
    .insertInto('service_facts')
    .values(rows)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: '' }))
    .execute();
  await tx
    .deleteFrom('service_facts')
    .where(
      'name',
      'in',
      rows.map(({ name }) => name),
    )
    .execute();
}
