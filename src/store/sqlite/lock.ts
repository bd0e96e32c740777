/** Ensures that only one service uses an SQLite database; a crash leaves nothing to clean up. */

import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { createFolder } from '../../lib/folders.ts';
import { StoreError } from '../errors.ts';

/**
 * Locks a database file until the returned function is called or the process ends, even in a crash. Uses
 * an operating system lock on a small file next to the database. Throws a StoreError if another process
 * has the lock.
 */
export function lockStore(path: string): () => void {
  if (path === ':memory:') return () => {};
  let lock: BetterSqlite.Database | undefined;
  try {
    // The first start creates the data folder here.
    createFolder(dirname(path));
    lock = new BetterSqlite(`${path}.lock`, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY')
      throw new StoreError(`Another instance of the service is using ${path}. Stop it first.`);
    throw new StoreError(`Could not lock ${path}.lock: ${(error as Error).message}.`);
  }
  const acquiredLock = lock;
  return () => acquiredLock.close();
}
