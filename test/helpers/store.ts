/** The database of a test: SQLite, or with `TEST_DATABASE=postgres` its own PostgreSQL database. */

import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore, type Store } from '../../src/store/open.ts';
import { SCHEMA } from '../../src/store/schema.generated.ts';
import { openConnected } from '../../src/store/sqlite/open.ts';
import { postgresDatabase, releasePostgresDatabase } from './postgres.ts';

export const onPostgres = process.env.TEST_DATABASE === 'postgres';

/** For the `skip` option of a test of SQLite files: locks, backups, the WAL, kill -9 of the only process. */
export const skipOnPostgres: string | false =
  onPostgres && 'about SQLite files, or the only process that uses one';

/** An empty database, without a file on SQLite. */
export async function openTestStore(t: TestContext): Promise<Store> {
  const store = onPostgres
    ? await openStore(await postgresDatabase(keyOf(t)))
    : openConnected(new BetterSqlite(emptyDatabase()), ':memory:');
  t.after(() => store.close());
  return store;
}

let empty: Buffer | undefined;

/**
 * The bytes of an SQLite database with the current schema and no rows, made once per test process. Creating all tables
 * takes five times as long as opening these bytes.
 */
function emptyDatabase(): Buffer {
  if (empty === undefined) {
    const sqlite = new BetterSqlite(':memory:');
    // As in the program: only an empty file can be set to this.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    sqlite.exec(SCHEMA);
    sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
    empty = sqlite.serialize();
    sqlite.close();
  }
  return empty;
}

/** Stores an empty database where a service with this data folder would create one. The folder must exist. */
export function storeEmptyDatabase(folder: string): void {
  const path = join(folder, 'deliverability.db');
  if (!onPostgres && !existsSync(path)) writeFileSync(path, emptyDatabase());
}

function keyOf(t: TestContext): string {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return key;
}

/** The location of the database of a service with this data folder. */
export async function databaseIn(folder: string): Promise<string> {
  return onPostgres ? postgresDatabase(folder) : join(folder, 'deliverability.db');
}

/** For a service that uses an SQLite file in any test run, such as for the key file beside it. */
export const sqliteEnvironment = (folder: string): Record<string, string> => ({
  DELIVERABILITY_DATABASE_URL: `sqlite:${join(folder, 'deliverability.db')}`,
  DELIVERABILITY_SECRET_KEY: '',
});

export const TEST_SECRET_KEY = 'the secret key of all nodes in tests';

/**
 * For a service that starts again after a stop or a kill. On PostgreSQL, it then continues the work that it had
 * claimed. Without a name, each start is a new node, and waits for the end of the leases.
 */
export const SAME_NODE = { DELIVERABILITY_NODE_NAME: 'same' };

/** The variables for a service with this data folder. Empty on SQLite, where the defaults apply. */
export async function databaseEnvironment(folder: string): Promise<Record<string, string>> {
  if (!onPostgres) return {};
  return {
    DELIVERABILITY_DATABASE_URL: await postgresDatabase(folder),
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
  };
}
