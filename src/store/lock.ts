/** One service on one data folder: the second is refused, and a crash leaves nothing to clean up. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { StoreError } from './migrate.ts';

/**
 * Takes the lock of a database file until the returned function is called or the process ends, however it
 * ends: the lock is the operating system's, on a small file beside the database. Throws a StoreError
 * where another process has it.
 */
export function lockStore(path: string): () => void {
  if (path === ':memory:') return () => {};
  let lock: BetterSqlite.Database | undefined;
  try {
    // On the first start this is what makes the data folder.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    lock = new BetterSqlite(`${path}.lock`, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY')
      throw new StoreError(`Another service is running on ${path}. Stop it first.`);
    throw new StoreError(`The lock ${path}.lock cannot be taken: ${(error as Error).message}.`);
  }
  const held = lock;
  return () => held.close();
}
