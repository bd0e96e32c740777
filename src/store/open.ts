/** Opens the database that the configuration names. */

import { isPostgresUrl } from '../lib/database-url.ts';
import { openSqlite } from './sqlite/open.ts';
import type { SchemaMode, Store } from './types.ts';

export {
  engineOf,
  inLockOrder,
  LOCK_PREFIX,
  lockIn,
  lockName,
  lockNames,
  lockRow,
  passedOn,
  shareIn,
} from './engine.ts';
export { hasOneOf, isLimited, type Limit, limitedTo } from './limited.ts';
export { type PreparedParameter, prepared, preparedLists } from './prepared.ts';
export { afterCommit, beforeCommit, inSnapshot, transact } from './transact.ts';
export type { Db, Engine, Hints, SchemaMode, Store, Tx } from './types.ts';

/**
 * Opens and migrates a database: a `postgres://` URL, the path of an SQLite file, or `:memory:`. Throws a
 * StoreError with a readable message if that is impossible.
 */
export async function openStore(location: string, mode: SchemaMode = 'upgrade'): Promise<Store> {
  if (!isPostgresUrl(location)) return openSqlite(location, mode);
  // Only when needed: the client of PostgreSQL takes memory.
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres(location, mode);
}
