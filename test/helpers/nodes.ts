/** Several services on one PostgreSQL database, and a database whose clock only the test sets. */

import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Clock } from '../../src/lib/clock.ts';
import { openStore, type Store } from '../../src/store/open.ts';
import { type ServiceOptions, startTestService, type TestService } from './app.ts';
import { postgresDatabase, releasePostgresDatabase } from './postgres.ts';
import { TEST_SECRET_KEY } from './store.ts';

/** An empty database on the PostgreSQL server of the test run. */
export async function newDatabase(t: TestContext): Promise<string> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return postgresDatabase(key);
}

export async function openAt(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url);
  t.after(() => store.close());
  return store;
}

/** Runs statements on a connection of their own. */
export async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** A service on the database. Without a name, it makes one, as in production. */
export const startNode = (
  t: TestContext,
  url: string,
  { name = '', env, ...options }: ServiceOptions & { name?: string } = {},
): Promise<TestService> =>
  startTestService(t, {
    ...options,
    env: {
      DELIVERABILITY_DATABASE_URL: url,
      DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
      DELIVERABILITY_NODE_NAME: name,
      ...env,
    },
  });

/** A node's view of the database's clock that is wrong and never corrected: the worst that can happen. */
export const wrongClock = (right: Clock, aheadMs: number): Clock => ({
  source: 'database',
  now: () => right.now() + aheadMs,
});

/** Replaces `clock_timestamp()` in connections that are opened afterwards. Returns a function that sets the time. */
export async function stopDatabaseClock(
  t: TestContext,
  url: string,
  time: number,
): Promise<(time: number) => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const name = new URL(url).pathname.slice(1);
  await client.query('CREATE SCHEMA test_time');
  await client.query('CREATE TABLE test_time.clock (now timestamptz)');
  await client.query('INSERT INTO test_time.clock VALUES (to_timestamp($1))', [time / 1000]);
  await client.query(
    `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
     AS 'SELECT now FROM test_time.clock'`,
  );
  await client.query(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  return async (next) => {
    await client.query('UPDATE test_time.clock SET now = to_timestamp($1)', [next / 1000]);
  };
}
