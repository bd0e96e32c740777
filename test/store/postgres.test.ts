/** PostgreSQL: what is refused at start, and what happens to transactions that meet or lose their connection. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { CommitUnknownError, StoreError } from '../../src/store/errors.ts';
import { FIRST_VERSION, SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { lockRow, openStore, type Store, transact } from '../../src/store/open.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { parseNumber } from '../../src/store/postgres/pool.ts';
import { withPostgresTypes } from '../../src/store/postgres/types.ts';
import { freePort } from '../helpers/daemon.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';
import { FIRST_SCHEMA } from './first-version.ts';

const skip = skipUnlessOnPostgres();

/** A database of its own, a copy of the migrated template or of another one. */
async function database(t: TestContext, template?: string): Promise<string> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return postgresDatabase(key, template);
}

async function open(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url);
  t.after(() => store.close());
  return store;
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const assertRefused = (url: string, message: RegExp): Promise<void> =>
  assert.rejects(openStore(url), (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });

const insertFact = (name: string) => ({ name, value: '' });

test('openStore explains why a PostgreSQL server is unreachable, without the password', {
  skip,
}, async (t) => {
  const url = new URL(await database(t));
  url.password = 'hunter2';
  const at = (change: Partial<URL>) => Object.assign(new URL(url), change).href;
  await assertRefused(
    at({ port: String(await freePort()) }),
    /^Could not open the database postgres:\/\/127\.0\.0\.1:\d+\/\w+: nothing accepts connections there/,
  );
  await assertRefused(at({ pathname: '/missing' }), /the database does not exist/);
  await assertRefused(at({ username: 'nobody_known' }), /role "nobody_known" does not exist/);
});

test('openStore refuses a PostgreSQL database that it cannot rely on', { skip }, async (t) => {
  const other = await database(t, 'template0');
  await run(other, 'CREATE TABLE theirs (x text)');
  await assertRefused(other, /tables of another program/);

  const newer = await database(t);
  await run(newer, 'UPDATE schema_version SET version = 999, oldest_program = 998');
  await assertRefused(newer, /schema version 999, but this program supports only/);

  const collated = await database(t);
  await run(collated, 'ALTER TABLE events ALTER COLUMN id TYPE text COLLATE "POSIX"');
  await assertRefused(collated, /events\.id .* does not have the collation "C"/);

  const lax = await database(t);
  const name = new URL(lax).pathname.slice(1);
  await run(lax, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  await assertRefused(lax, /synchronous_commit = off, so acknowledged messages could be lost/);
  await run(lax, `ALTER DATABASE ${name} RESET synchronous_commit`);
  await run(lax, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await assertRefused(lax, /accepts no writes\. Connect to the primary/);

  const ascii = new URL(lax);
  ascii.pathname = `/ascii_${process.pid}`;
  const create = `CREATE DATABASE ascii_${process.pid} TEMPLATE template0 ENCODING SQL_ASCII LOCALE 'C'`;
  await run(collated, create);
  t.after(() => run(collated, `DROP DATABASE ascii_${process.pid}`));
  await assertRefused(ascii.href, /encoding SQL_ASCII/);
});

test('A PostgreSQL database requires a SECRET_KEY', () => {
  const DELIVERABILITY_DATABASE_URL = 'postgres://ann:hunter2@db.example/mail';
  assert.throws(
    () => readConfig({ DELIVERABILITY_DATABASE_URL }),
    (error) =>
      error instanceof ConfigError &&
      /SECRET_KEY is missing: a PostgreSQL database needs one/.test(error.message) &&
      !error.message.includes('hunter2'),
  );
});

test('Nodes that start at the same time create the PostgreSQL schema once', {
  skip,
}, async (t) => {
  const url = await database(t, 'template0');
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(t, url)));
  assert.deepEqual(stores.map(({ migration }) => migration.from).sort(), [
    0,
    SCHEMA_VERSION,
    SCHEMA_VERSION,
    SCHEMA_VERSION,
  ]);
});

/** Everything about columns and indexes that queries depend on. */
async function shapeOf(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const columns = await client.query(
    `SELECT c.relname, c.relpersistence, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
       a.attnotnull, co.collname, pg_get_expr(d.adbin, d.adrelid) AS default_value
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       LEFT JOIN pg_collation co ON co.oid = a.attcollation
       LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1, 3`,
  );
  const indexes = await client.query(
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
  );
  await client.end();
  return [columns.rows, indexes.rows];
}

test('Migrating the first PostgreSQL schema yields the current one', { skip }, async (t) => {
  const [old, fresh] = [await database(t, 'template0'), await database(t)];
  const schema = withPostgresTypes(FIRST_SCHEMA);
  await run(
    old,
    schema,
    'CREATE TABLE schema_version (version bigint NOT NULL, oldest_program bigint NOT NULL)',
  );
  await run(old, `INSERT INTO schema_version VALUES (${FIRST_VERSION}, ${FIRST_VERSION})`);
  const { migration } = await open(t, old);
  assert.deepEqual([migration.from, migration.to], [FIRST_VERSION, SCHEMA_VERSION]);
  assert.deepEqual(await shapeOf(old), await shapeOf(fresh));
});

test('PostgreSQL migration steps run in one transaction, and an error leaves the version', {
  skip,
}, async (t) => {
  const client = new pg.Client({ connectionString: await database(t, 'template0') });
  await client.connect();
  t.after(() => client.end());
  await migrate(client, { schema: 'CREATE TABLE a (x bigint)', version: 30, steps: [] });
  const add = { version: 31, postgres: 'ALTER TABLE a ADD COLUMN y bigint' };
  const bad = { version: 32, postgres: 'ALTER TABLE missing ADD COLUMN y bigint' };
  const target = (...steps: (typeof add)[]) => ({ schema: '', version: 30 + steps.length, steps });
  await assert.rejects(migrate(client, target(add, bad)), /"missing" does not exist/);
  assert.deepEqual(await migrate(client, target(add)), { from: 30, to: 31, backup: null });
  assert.deepEqual(await migrate(client, target(add)), { from: 31, to: 31, backup: null });
});

test('A second transaction that locks a row waits for the first and sees its change', {
  skip,
}, async (t) => {
  const url = await database(t);
  const [one, two] = [await open(t, url), await open(t, url)];
  const row = { email: 'a@example.com', role: 'viewer' as const, joined_at: '' };
  await one.db
    .insertInto('members')
    .values({ id: 'mem_1', name: '0', ...row })
    .execute();
  const increment = ({ db }: Store) =>
    transact(db, async (tx) => {
      await lockRow(tx, 'members', 'mem_1');
      const { name } = await tx.selectFrom('members').select('name').executeTakeFirstOrThrow();
      await tx
        .updateTable('members')
        .set({ name: String(Number(name) + 1) })
        .execute();
    });
  await Promise.all(Array.from({ length: 20 }, (_, i) => increment(i % 2 ? one : two)));
  const { name } = await one.db.selectFrom('members').select('name').executeTakeFirstOrThrow();
  assert.equal(name, '20');
});

test('transact repeats a transaction that PostgreSQL ended as a deadlock', { skip }, async (t) => {
  const { db } = await open(t, await database(t));
  await db.insertInto('service_facts').values(['a', 'b'].map(insertFact)).execute();
  const met = Promise.withResolvers<void>();
  let locked = 0;
  let attempts = 0;
  const append = (order: string[]) =>
    transact(db, async (tx) => {
      attempts++;
      for (const [i, name] of order.entries()) {
        await tx
          .updateTable('service_facts')
          .set({ value: sql`value || 'x'` })
          .where('name', '=', name)
          .execute();
        if (i > 0) continue;
        if (++locked >= 2) met.resolve();
        await met.promise;
      }
    });
  await Promise.all([append(['a', 'b']), append(['b', 'a'])]);
  const rows = await db.selectFrom('service_facts').select('value').execute();
  assert.deepEqual(
    rows.map(({ value }) => value),
    ['xx', 'xx'],
  );
  assert.equal(attempts, 3);
});

test('transact repeats a transaction whose connection is lost before the commit', {
  skip,
}, async (t) => {
  const url = await database(t);
  const { db } = await open(t, url);
  let attempts = 0;
  await transact(db, async (tx) => {
    await tx.insertInto('service_facts').values(insertFact('a')).execute();
    if (++attempts > 1) return;
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(tx);
    await run(url, `SELECT pg_terminate_backend(${rows[0]!.pid})`);
    await tx.selectFrom('service_facts').selectAll().execute();
  });
  assert.equal(attempts, 2);
  assert.equal((await db.selectFrom('service_facts').selectAll().execute()).length, 1);
});

test('transact does not repeat a transaction whose connection is lost during the commit', {
  skip,
}, async (t) => {
  const url = await database(t);
  const { db } = await open(t, url);
  let attempts = 0;
  const lost = transact(db, async (tx) => {
    attempts++;
    await tx.insertInto('service_facts').values(insertFact('a')).execute();
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(tx);
    await run(url, `SELECT pg_terminate_backend(${rows[0]!.pid})`);
  });
  await assert.rejects(lost, CommitUnknownError);
  assert.equal(attempts, 1);
});

test('Integers that a number cannot represent exactly are an error', () => {
  assert.equal(parseNumber('9007199254740991'), Number.MAX_SAFE_INTEGER);
  assert.equal(parseNumber('0.25'), 0.25);
  assert.throws(() => parseNumber('9007199254740993'), /not a safe number/);
});
