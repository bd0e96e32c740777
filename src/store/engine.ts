/** What differs between the databases for queries: which one it is, and row locks. */

import { SqliteAdapter } from 'kysely';
import type { Tables } from './tables.generated.ts';
import type { Db, Engine, Tx } from './types.ts';

/** The engine behind a connection or a transaction. */
export const engineOf = (db: Db | Tx): Engine =>
  db.getExecutor().adapter instanceof SqliteAdapter ? 'sqlite' : 'postgres';

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
