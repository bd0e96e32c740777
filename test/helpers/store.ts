/** The database of a test: SQLite, or with `TEST_DATABASE=postgres` its own PostgreSQL database. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openStore, type Store } from '../../src/store/open.ts';
import { postgresDatabase, releasePostgresDatabase } from './postgres.ts';

export const onPostgres = process.env.TEST_DATABASE === 'postgres';

/** For the `skip` option of a test of SQLite files: locks, backups, the WAL, kill -9 of the only process. */
export const skipOnPostgres: string | false =
  onPostgres && 'about SQLite files, or the only process that uses one';

/** An empty database, without a file on SQLite. */
export async function openTestStore(t: TestContext): Promise<Store> {
  const store = await openStore(onPostgres ? await postgresDatabase(keyOf(t)) : ':memory:');
  t.after(() => store.close());
  return store;
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
