/** Databases on the PostgreSQL server of the test run, each a copy of a migrated template. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { SERVICE_LIMITS } from '../../src/store/postgres/pool.ts';
import { skipOrFail } from './installed.ts';

/** Set by scripts/test/main.ts if it started a server. */
const SERVER = process.env.TEST_POSTGRES_URL;
const TEMPLATE = 'deliverability_template';

/** For the `skip` option of a test that needs a PostgreSQL server. */
export const skipWithoutPostgres = (): string | false =>
  SERVER ? false : skipOrFail('PostgreSQL is not installed: scripts/setup-test-machine.sh');

/**
 * For the `skip` option of tests of several nodes, or of PostgreSQL itself. `TEST_DATABASE=postgres npm test` runs them:
 * together with all others, they would take too long.
 */
export const skipUnlessOnPostgres = (): string | false =>
  process.env.TEST_DATABASE === 'postgres' ? false : 'Runs with TEST_DATABASE=postgres';

// In a new database, each connection reads the catalog again, which takes longer than most tests: with ten connections,
// twice as long. Services in processes of their own have all of them.
SERVICE_LIMITS.connections = 3;

const admin = SERVER
  ? new pg.Pool({ connectionString: `${SERVER}/postgres`, max: 2, allowExitOnIdle: true })
  : null;
// The server stops before the last test processes have ended.
admin?.on('error', () => {});

/** Call once per test run. */
export async function createTemplate(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  await (await openPostgres(`${server}/${TEMPLATE}`)).close();
}

const nameOf = (key: string): string =>
  `test_${createHash('sha256').update(key).digest('hex').slice(0, 20)}`;

const DUPLICATE_DATABASE = '42P04';

let strategy: Promise<string> | undefined;

/** Copying the files takes a third of the time that the default of PostgreSQL 15 takes. Older ones know no other way. */
async function copyStrategy(): Promise<string> {
  strategy ??= admin!
    .query<{ version: number }>("SELECT current_setting('server_version_num')::int AS version")
    .then(({ rows }) => (rows[0]!.version >= 150_000 ? 'STRATEGY file_copy' : ''));
  return strategy;
}

/** The URL of the database for `key`, such as a folder. Creates it when it is first used. */
export async function postgresDatabase(key: string, template = TEMPLATE): Promise<string> {
  await dropReleased();
  const name = nameOf(key);
  try {
    await admin!.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${await copyStrategy()}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
  return `${SERVER}/${name}`;
}

const released = new Set<string>();

/** Drops the database of `key` once nothing is connected to it. */
export function releasePostgresDatabase(key: string): void {
  released.add(nameOf(key));
}

/**
 * A database that is still in use is dropped later: hooks of a test run before its service has stopped.
 * PostgreSQL itself would wait five seconds for the connections to close.
 */
async function dropReleased(): Promise<void> {
  if (released.size === 0) return;
  const { rows } = await admin!.query<{ name: string }>(
    'SELECT DISTINCT datname AS name FROM pg_stat_activity WHERE datname IS NOT NULL',
  );
  const used = new Set(rows.map(({ name }) => name));
  for (const name of [...released].filter((candidate) => !used.has(candidate))) {
    released.delete(name);
    await admin!.query(`DROP DATABASE IF EXISTS ${name}`).catch(() => released.add(name));
  }
}
