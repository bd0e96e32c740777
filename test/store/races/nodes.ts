/** Two nodes on one PostgreSQL database, and on SQLite one node twice, for tests of concurrent changes. */

import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { engineOf, type Tx } from '../../../src/store/open.ts';
import {
  type ApiResponse,
  type ServiceOptions,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../../helpers/app.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../../helpers/postgres.ts';
import { onPostgres, sqliteEnvironment, TEST_SECRET_KEY } from '../../helpers/store.ts';

type Nodes = [TestService, TestService];

interface Setup {
  on: string;
  skip: string | false;
  /** The nodes run no jobs. */
  start(t: TestContext, options?: ServiceOptions): Promise<Nodes>;
}

/** Each race runs on the database of the test run. */
export const SETUPS: Setup[] = [
  { on: 'SQLite', skip: onPostgres && 'Runs without TEST_DATABASE=postgres', start: startOnSqlite },
  { on: 'two nodes', skip: skipUnlessOnPostgres(), start: startNodes },
];

async function startOnSqlite(t: TestContext, options: ServiceOptions = {}): Promise<Nodes> {
  const folder = temporaryFolder(t);
  const env = { ...sqliteEnvironment(folder), ...options.env };
  const node = await startTestService(t, { ...options, folder, env });
  await node.app.scheduler.stop();
  return [node, node];
}

export async function startNodes(t: TestContext, options: ServiceOptions = {}): Promise<Nodes> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  const env = {
    DELIVERABILITY_DATABASE_URL: await postgresDatabase(key),
    DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY,
    ...options.env,
  };
  const first = await startTestService(t, { ...options, env });
  const second = await startTestService(t, { ...options, env });
  for (const { app } of [first, second]) await app.scheduler.stop();
  await slowDown(first);
  return [first, second];
}

/** Tables that transactions write to after their decisions. */
const WRITTEN_LAST = [
  'shared_reports',
  'audit_log',
  'events',
  'messages',
  'test_tallies',
  'webhook_deliveries',
];

/** Transactions stay open for a random time after their first writes, so that they overlap in every way. */
async function slowDown({ app: { db } }: TestService): Promise<void> {
  await sql`
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(random() * 0.02); RETURN NEW; END'`.execute(db);
  for (const table of WRITTEN_LAST)
    await sql`
      CREATE TRIGGER linger BEFORE INSERT ON ${sql.table(table)}
      FOR EACH ROW EXECUTE FUNCTION linger()`.execute(db);
}

/** Keeps a transaction open for a random time, so that another overlaps with it. */
export async function linger(tx: Tx): Promise<void> {
  if (engineOf(tx) === 'postgres') await sql`SELECT pg_sleep(random() * 0.02)`.execute(tx);
}

/** How often a test repeats its race. Each order of two steps occurs in many of them. */
export const ROUNDS = 12;

/** The statuses of responses in ascending order. */
export const statusesOf = (responses: ApiResponse[]): number[] =>
  responses.map(({ status }) => status).toSorted();
