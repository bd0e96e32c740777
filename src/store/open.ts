/** Opens the database with the settings that keep what was acknowledged. */

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Kysely, type Transaction } from 'kysely';
import { errorMessage } from '../lib/errors.ts';
import { type Migrated, migrate, StoreError } from './migrate.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import type { Tables } from './tables.generated.ts';
import { createWalSync, NOTHING_TO_SYNC } from './wal-sync.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export interface Store {
  db: Db;
  migrated: Migrated;
  /** Writes the log back into the file and closes it. */
  close(): Promise<void>;
}

/** At the start nothing else is held up; then the dialect itself waits, for this holds up all. */
const BUSY_TIMEOUT_MS = { opening: 5_000, open: 10 };

/**
 * Opens and migrates `path`, or a database in memory for `:memory:`. Throws a StoreError in plain
 * words where the folder or the file cannot be used.
 */
export function openStore(path: string): Store {
  const sqlite = connect(path);
  try {
    // First, so that the statements after it wait for another process too.
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS.opening}`);
    // Migrations wait for the disk themselves.
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma('foreign_keys = ON');
    const migrated = migrate(sqlite);
    // Only now: it is written into the file, and one that is refused stays as it is.
    sqlite.pragma('journal_mode = WAL');
    // By itself a power cut could take back what was acknowledged: `wal-sync` is what prevents that.
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS.open}`);
    const sync = path === ':memory:' ? NOTHING_TO_SYNC : createWalSync(path);
    const db: Db = new Kysely<Tables>({ dialect: sqliteDialect(sqlite, sync) });
    const close = async () => {
      await db.destroy();
      // Kysely destroys only what it has used.
      await sync.close();
      // The last that closes writes the log back into the file.
      if (sqlite.open) sqlite.close();
    };
    return { db, migrated, close };
  } catch (error) {
    sqlite.close();
    throw error instanceof StoreError ? error : new StoreError(inWords(path, error));
  }
}

function connect(path: string): BetterSqlite.Database {
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return new BetterSqlite(path);
  } catch (error) {
    throw new StoreError(inWords(path, error));
  }
}

function inWords(path: string, error: unknown): string {
  const { code } = error as { code?: string };
  if (code === 'SQLITE_NOTADB') return `${path} is not an SQLite database.`;
  if (code === 'SQLITE_BUSY') return `${path} is in use by another program.`;
  return `The database ${path} cannot be opened: ${errorMessage(error)}.`;
}

// One service on one data folder: the second is refused, and a crash leaves nothing to clean up.

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

// What is to be done once a transaction has been committed, such as waking who waits for what it wrote.

const afterCommitSteps = new WeakMap<Tx, (() => void)[]>();

/** A transaction that does, after its commit and in order, what `afterCommit` was given inside. */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const steps: (() => void)[] = [];
  const result = await db.transaction().execute((tx) => {
    afterCommitSteps.set(tx, steps);
    return work(tx);
  });
  for (const step of steps) step();
  return result;
}

/** To be called inside `transact`; what is rolled back never comes to it. Throws outside of one. */
export function afterCommit(tx: Tx, step: () => void): void {
  const steps = afterCommitSteps.get(tx);
  if (!steps) throw new Error('This transaction was not begun by transact().');
  steps.push(step);
}
