/** Upgrades of PostgreSQL while nodes with the older program run. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { DatabaseUnavailableError, StoreError } from '../../src/store/errors.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { openStore } from '../../src/store/open.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { withPostgresTypes } from '../../src/store/postgres/types.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';
import { FIRST_SCHEMA } from './first-version.ts';

const skip = skipUnlessOnPostgres();
const NEXT = SCHEMA_VERSION + 1;

async function database(t: TestContext, template?: string): Promise<string> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return postgresDatabase(key, template);
}

async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  return client;
}

/** The next version of this program, which changes the table of monitors. */
const nextProgram = (sideBySide: boolean) => ({
  schema: '',
  version: NEXT,
  steps: [
    {
      version: NEXT,
      postgres: 'ALTER TABLE monitors ADD COLUMN color text COLLATE "C"',
      sideBySide,
    },
  ],
});

const isRefusal = (message: RegExp) => (error: unknown) =>
  error instanceof StoreError && message.test(error.message);

test('A node keeps running and can start again after a side-by-side upgrade by another', {
  skip,
}, async (t) => {
  const url = await database(t);
  const running = await openStore(url);
  t.after(() => running.close());
  await running.db.selectFrom('monitors').selectAll().execute();
  const { from, to } = await migrate(await connect(t, url), nextProgram(true));
  assert.deepEqual([from, to], [SCHEMA_VERSION, NEXT]);
  // Several connections at once, so that some of them are new.
  const results = await Promise.all(
    Array.from({ length: 5 }, () => running.db.selectFrom('monitors').select('id').execute()),
  );
  assert.deepEqual(results, [[], [], [], [], []]);
  const restarted = await openStore(url);
  t.after(() => restarted.close());
  assert.deepEqual([restarted.migration.from, restarted.migration.to], [NEXT, NEXT]);
  await assert.rejects(openStore(url, 'require'), isRefusal(/A service is connected/));
});

test('An upgrade that old nodes can’t survive waits until they have stopped', {
  skip,
}, async (t) => {
  const url = await database(t);
  const running = await openStore(url);
  await running.db.selectFrom('monitors').select('id').execute();
  const client = await connect(t, url);
  await assert.rejects(
    migrate(client, nextProgram(false)),
    isRefusal(new RegExp(`some are connected \\(schema version ${SCHEMA_VERSION}\\)\\. Stop them`)),
  );
  const columns = await client.query('SELECT * FROM monitors');
  assert.ok(!columns.fields.some(({ name }) => name === 'color'), 'nothing was changed');
  await running.close();
  // The server ends a closed connection a moment later.
  while ((await client.query(SESSIONS)).rowCount! > 0);
  assert.equal((await migrate(client, nextProgram(false))).to, NEXT);
  await assert.rejects(
    openStore(url),
    isRefusal(
      new RegExp(
        `schema version ${NEXT}, but this program supports only versions up to ${SCHEMA_VERSION}`,
      ),
    ),
  );
});

const SESSIONS =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'deliverability%'";

test('A node without a connection during such an upgrade becomes unavailable', {
  skip,
}, async (t) => {
  const url = await database(t);
  const running = await openStore(url);
  t.after(() => running.close());
  const client = await connect(t, url);
  await client.query(
    'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await migrate(client, nextProgram(false));
  const write = () =>
    running.db.insertInto('service_facts').values({ name: 'x', value: '' }).execute();
  // The pool may first hand out the connection that was lost.
  await assert.rejects(write().catch(write), (error) => {
    assert.ok(error instanceof DatabaseUnavailableError, String(error));
    assert.match(error.message, /supports only versions up to/);
    return true;
  });
  assert.deepEqual((await client.query('SELECT 1 FROM service_facts')).rows, []);
});

interface Column {
  name: string;
  type: string;
  nullable: string;
  fallback: string | null;
}

async function columnsOf(client: pg.Client): Promise<Map<string, Column>> {
  const { rows } = await client.query<Column>(
    `SELECT table_name || '.' || column_name AS name, data_type AS type, is_nullable AS nullable,
       column_default AS fallback FROM information_schema.columns WHERE table_schema = 'public'
     ORDER BY table_name, ordinal_position`,
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** What a program of the previous version could not work with. */
async function obstacles(t: TestContext, schema: string, step: string): Promise<string[]> {
  const client = await connect(t, await database(t, 'template0'));
  await client.query(schema);
  const before = await columnsOf(client);
  await client.query(step);
  const after = await columnsOf(client);
  const tables = new Set([...before.keys()].map((name) => name.split('.')[0]));
  const found: string[] = [];
  for (const [name, column] of before) {
    const now = after.get(name);
    if (!now) found.push(`${name} is missing`);
    else if (now.type !== column.type) found.push(`${name} has another type`);
    else if (now.nullable === 'NO' && column.nullable === 'YES') found.push(`${name} is required`);
  }
  for (const [name, { nullable, fallback }] of after)
    if (!before.has(name) && tables.has(name.split('.')[0]) && nullable === 'NO' && !fallback)
      found.push(`${name} has no default`);
  return found;
}

test('Steps declared side-by-side keep what the previous program needs', { skip }, async (t) => {
  const sample = 'CREATE TABLE a (x text, y bigint, z text)';
  const good = 'ALTER TABLE a ADD COLUMN w text; CREATE TABLE b (v text NOT NULL)';
  assert.deepEqual(await obstacles(t, sample, good), []);
  const bad = `ALTER TABLE a DROP COLUMN x, ALTER y TYPE text, ALTER z SET NOT NULL,
    ADD COLUMN w bigint NOT NULL`;
  assert.deepEqual(await obstacles(t, sample, bad), [
    'a.x is missing',
    'a.y has another type',
    'a.z is required',
    'a.w has no default',
  ]);
  let previous = withPostgresTypes(FIRST_SCHEMA);
  for (const { version, postgres, sideBySide } of MIGRATIONS) {
    if (sideBySide) assert.deepEqual(await obstacles(t, previous, postgres), [], `${version}`);
    previous += postgres;
  }
});
