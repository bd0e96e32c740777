/** Databases on the PostgreSQL server of the test run, each a copy of a migrated template. */

import { createHash } from 'node:crypto';
import pg from 'pg';
import { openPostgres } from '../../src/store/postgres/open.ts';
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

const admin = SERVER
  ? new pg.Pool({ connectionString: `${SERVER}/postgres`, max: 2, allowExitOnIdle: true })
  : null;
// The server stops before the last test processes have ended.
admin?.on('error', () => {});

/** Call once per test run. */
export async function createTemplate(server: string): Promise<void> {
  await withClient(`${server}/postgres`, (client) => client.query(`CREATE DATABASE ${TEMPLATE}`));
  await (await openPostgres(`${server}/${TEMPLATE}`)).close();
  // As a comment, because nobody may be connected to a template while it is copied.
  await withClient(`${server}/${TEMPLATE}`, async (client) =>
    client.query(`COMMENT ON DATABASE ${TEMPLATE} IS '${await schemaHash(client)}'`),
  );
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

/** The URL of the database of each key, and the databases of this process that are free again, the longest free one first. */
const urls = new Map<string, Promise<string>>();
const free: string[] = [];

/** The URL of the database for `key`, such as a folder. Creates it, or empties a free one, when it is first used. */
export function postgresDatabase(key: string, template = TEMPLATE): Promise<string> {
  const known = urls.get(key);
  if (known) return known;
  const url = provideDatabase(nameOf(key), template).then((name) => `${SERVER}/${name}`);
  urls.set(key, url);
  return url;
}

async function provideDatabase(name: string, template: string): Promise<string> {
  const emptied = template === TEMPLATE ? await emptiedDatabase() : null;
  if (emptied === null) await createDatabase(name, template);
  return emptied ?? name;
}

async function createDatabase(name: string, template: string): Promise<void> {
  try {
    await admin!.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${await copyStrategy()}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
  }
}

/** The database of `key` may be emptied for another key, once nothing is connected to it. */
export function releasePostgresDatabase(key: string): void {
  const url = urls.get(key);
  urls.delete(key);
  url?.then(
    (it) => free.push(it.slice(it.lastIndexOf('/') + 1)),
    () => {},
  );
}

/**
 * A free database, emptied. That takes a twentieth of the time of creating and dropping one. null if there is none, or if
 * the schema of the longest free one was changed. One in use waits: hooks of a test run before its service has stopped.
 */
async function emptiedDatabase(): Promise<string | null> {
  if (free.length === 0) return null;
  const { rows } = await admin!.query<{ name: string }>(
    'SELECT DISTINCT datname AS name FROM pg_stat_activity WHERE datname IS NOT NULL',
  );
  const used = new Set(rows.map(({ name }) => name));
  const index = free.findIndex((candidate) => !used.has(candidate));
  if (index === -1) return null;
  const [name] = free.splice(index, 1);
  if (await empty(name!)) return name!;
  await admin!.query(`DROP DATABASE IF EXISTS ${name}`).catch(() => {});
  return null;
}

/** What tests of migrations and races change in a schema: columns, indexes, constraints, triggers, functions, rights. */
const SCHEMA_HASH = `
  SELECT md5(string_agg(line, ' ' ORDER BY line)) AS hash FROM (
    SELECT concat_ws(' ', relname, relkind, relpersistence, relacl, attname, atttypid, attnotnull) AS line
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
      WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid
      WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT concat_ws(' ', nspname, nspacl) FROM pg_namespace
      WHERE nspname NOT LIKE 'pg_temp%' AND nspname NOT LIKE 'pg_toast_temp%'
    UNION ALL SELECT array_to_string(setconfig, ' ') FROM pg_db_role_setting JOIN pg_database ON oid = setdatabase
      WHERE datname = current_database()
    UNION ALL SELECT concat_ws(' ', 'version', version) FROM schema_version
  ) AS lines`;

/** Most tables have no rows, which is soon seen. Without foreign keys and triggers, the order does not matter. */
const DELETE_ALL_ROWS = `
  SET session_replication_role = replica;
  DO $$
  DECLARE name text; filled boolean;
  BEGIN
    FOR name IN SELECT oid::regclass FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_version'
    LOOP
      EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || name || ')' INTO filled;
      IF filled THEN EXECUTE 'DELETE FROM ' || name; END IF;
    END LOOP;
  END $$`;

const schemaHash = (client: pg.Client): Promise<string> =>
  client.query<{ hash: string }>(SCHEMA_HASH).then(({ rows }) => rows[0]!.hash);

let templateHash: Promise<string> | undefined;

const readTemplateHash = (): Promise<string> =>
  admin!
    .query<{ hash: string }>(
      "SELECT shobj_description(oid, 'pg_database') AS hash FROM pg_database WHERE datname = $1",
      [TEMPLATE],
    )
    .then(({ rows }) => rows[0]!.hash);

/** Deletes all rows, and says whether the schema is that of the template. */
async function empty(name: string): Promise<boolean> {
  templateHash ??= readTemplateHash();
  const expected = await templateHash;
  return withClient(`${SERVER}/${name}`, async (client) => {
    if ((await schemaHash(client)) !== expected) return false;
    await client.query(DELETE_ALL_ROWS);
    return true;
  }).catch(() => false);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
