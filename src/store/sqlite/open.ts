/** Opens an SQLite database so that acknowledged writes are never lost. */

import { dirname } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Kysely } from 'kysely';
import { errorMessage } from '../../lib/errors.ts';
import { createFolder } from '../../lib/folders.ts';
import { StoreError } from '../errors.ts';
import { requireMode } from '../schema-mode.ts';
import type { Tables } from '../tables.generated.ts';
import type { Db, SchemaMode, Store } from '../types.ts';
import { isSystemTooOld, SYSTEM_TOO_OLD } from './addon.ts';
import { sqliteDialect } from './dialect.ts';
import { migrate } from './migrate.ts';
import { createWalSync, NO_WAL_SYNC } from './wal-sync.ts';

/** The log grows while another program reads, such as for a backup. Afterwards, it shrinks to this size. */
const MAX_IDLE_WAL_BYTES = 64 * 1024 * 1024;

/** Waiting in SQLite blocks the process, so SQLite does not wait once the database is open: the dialect does. */
const BUSY_TIMEOUT_MS = { opening: 5_000, open: 0 };

/**
 * Opens and migrates `path`, or an in-memory database for `:memory:`. Throws a StoreError with a
 * readable message if it can't use the folder or the file.
 */
export function openSqlite(path: string, mode: SchemaMode = 'upgrade'): Store {
  return openConnected(connect(path), path, mode);
}

/** Like `openSqlite`, with a connection to `path`. Closes it if it can't be used. */
export function openConnected(
  sqlite: BetterSqlite.Database,
  path: string,
  mode: SchemaMode = 'upgrade',
): Store {
  try {
    // First, so that the following statements wait for other processes too.
    sqlite.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS.opening}`);
    // Migrations run without `wal-sync`, so SQLite itself must sync them.
    sqlite.pragma('synchronous = FULL');
    sqlite.pragma('foreign_keys = ON');
    requireMode(mode, sqlite.pragma('user_version', { simple: true }) as number);
    // Effective only in an empty file, before its first table: see `shrink`.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    const migrated = migrate(sqlite);
    // Only now, because this changes the file, and a rejected file must stay unchanged.
    sqlite.pragma('journal_mode = WAL');
    // On its own, this could lose acknowledged writes in a power failure: `wal-sync` prevents that.
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`journal_size_limit = ${MAX_IDLE_WAL_BYTES}`);
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
    return { db, engine: 'sqlite', migration: migrated, hints: null, close };
  } catch (error) {
    sqlite.close();
    throw error instanceof StoreError ? error : new StoreError(openProblem(path, error));
  }
}

function connect(path: string): BetterSqlite.Database {
  try {
    if (path !== ':memory:') createFolder(dirname(path));
    return new BetterSqlite(path);
  } catch (error) {
    throw new StoreError(openProblem(path, error));
  }
}

function openProblem(path: string, error: unknown): string {
  const { code } = error as { code?: string };
  if (isSystemTooOld(error)) return SYSTEM_TOO_OLD;
  if (code === 'SQLITE_NOTADB') return `${path} is not an SQLite database.`;
  if (code === 'SQLITE_BUSY') return `${path} is in use by another program.`;
  return `Could not open the database ${path}: ${errorMessage(error)}.`;
}
