/** Opens the database so that acknowledged writes are never lost. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Kysely, type Transaction } from 'kysely';
import { errorMessage } from '../lib/errors.ts';
import { type MigrationResult, migrate, StoreError } from './migrate.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import type { Tables } from './tables.generated.ts';
import { createWalSync, NO_WAL_SYNC } from './wal-sync.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export interface Store {
  db: Db;
  migration: MigrationResult;
  /** Checkpoints the WAL and closes the database. */
  close(): Promise<void>;
}

/** Waiting in SQLite blocks the process, so the timeout is short once the database is open; the dialect retries. */
const BUSY_TIMEOUT_MS = { opening: 5_000, open: 10 };

/**
 * Opens and migrates `path`, or an in-memory database for `:memory:`. Throws a StoreError with a
 * readable message if it can't use the folder or the file.
 */
export function openStore(path: string): Store {
  const sqlite = connect(path);
  try {
    // First, so that the following statements wait for other processes too.
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS.opening}`);
    // Migrations run without `wal-sync`, so SQLite itself must sync them.
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma('foreign_keys = ON');
    const migrated = migrate(sqlite);
    // Only now, because this changes the file, and a rejected file must stay unchanged.
    sqlite.pragma('journal_mode = WAL');
    // On its own, this could lose acknowledged writes in a power failure: `wal-sync` prevents that.
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS.open}`);
    const sync = path === ':memory:' ? NO_WAL_SYNC : createWalSync(path);
    const db: Db = new Kysely<Tables>({ dialect: sqliteDialect(sqlite, sync) });
    const close = async () => {
      await db.destroy();
      // Kysely destroys only drivers that it has used.
      await sync.close();
      // The last connection that closes checkpoints the WAL.
      if (sqlite.open) sqlite.close();
    };
    return { db, migration: migrated, close };
  } catch (error) {
    sqlite.close();
    throw error instanceof StoreError ? error : new StoreError(openProblem(path, error));
  }
}

function connect(path: string): BetterSqlite.Database {
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new BetterSqlite(path);
  } catch (error) {
    throw new StoreError(openProblem(path, error));
  }
}

function openProblem(path: string, error: unknown): string {
  const { code } = error as { code?: string };
  if (code === 'SQLITE_NOTADB') return `${path} is not an SQLite database.`;
  if (code === 'SQLITE_BUSY') return `${path} is in use by another program.`;
  return `Could not open the database ${path}: ${errorMessage(error)}.`;
}

// The lock ensures that only one service uses a database; a crash leaves nothing to clean up.

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
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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

// Steps after the commit of a transaction, such as waking a job for the new rows.

const afterCommitSteps = new WeakMap<Tx, (() => void)[]>();

/** Runs a transaction, and after its commit the `afterCommit` steps in order. */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const steps: (() => void)[] = [];
  const result = await db.transaction().execute((tx) => {
    afterCommitSteps.set(tx, steps);
    return work(tx);
  });
  for (const step of steps) step();
  return result;
}

/** Runs `step` after the transaction commits; never after a rollback. Throws unless `transact` started it. */
export function afterCommit(tx: Tx, step: () => void): void {
  const steps = afterCommitSteps.get(tx);
  if (!steps) throw new Error('This transaction was not started by transact().');
  steps.push(step);
}
