/** A database that answers too slowly, or with too few connections: every client gets an answer in bounded time. */

// @alone: it measures response times.
// @one-database: starts its own PostgreSQL server in any run.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { temporaryFolder } from '../helpers/app.ts';
import { postgresPrograms, startPostgres } from '../helpers/postgres-server.ts';
import { sendMail } from '../helpers/send.ts';
import { type ServeProcess, startServe } from '../helpers/serve-process.ts';
import { TEST_SECRET_KEY } from '../helpers/store.ts';
import { skipWithoutServer } from './kill/nodes.ts';

const REQUESTS = 100;
const MAILS = 10;
/** Five seconds for a lock or a connection, once more for a repeated step, and time for a busy machine. */
const MAX_ANSWER_MS = 15_000;
const skip = skipWithoutServer();

async function start(t: TestContext) {
  const server = await startPostgres(postgresPrograms()!);
  t.after(() => server.stop());
  const control = new pg.Client({ connectionString: `${server.url}/postgres` });
  await control.connect();
  // It ends with the server.
  control.on('error', () => {});
  // Not a superuser, for which no limit holds.
  await control.query('CREATE ROLE service LOGIN');
  await control.query('CREATE DATABASE storm OWNER service');
  const url = Object.assign(new URL(`${server.url}/storm`), { username: 'service' }).href;
  const service = await startServe(t, {
    folder: temporaryFolder(t),
    env: { DELIVERABILITY_DATABASE_URL: url, DELIVERABILITY_SECRET_KEY: TEST_SECRET_KEY },
  });
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  holder.on('error', () => {});
  return { service, holder, control };
}

interface Outcome {
  status: number;
  retryAfter: string | null;
  ms: number;
}

async function request({ url, key }: ServeProcess, path: string, method = 'GET'): Promise<Outcome> {
  const startedAt = performance.now();
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  await response.text();
  const ms = Math.round(performance.now() - startedAt);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ms };
}

/** The code of the reply to a message. */
async function deliver({ smtpPort: port }: ServeProcess, to: string) {
  const startedAt = performance.now();
  const code = await sendMail({ port, to, raw: 'Subject: a storm\r\n\r\n', plain: true }).then(
    () => 250,
    (error: { responseCode?: number }) => error.responseCode,
  );
  return { code, ms: Math.round(performance.now() - startedAt) };
}

/** Sends everything at once, and asserts that all of it is refused for a while. */
async function assertRefused(t: TestContext, service: ServeProcess, address: string) {
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    request(service, '/v1/tests', i % 2 === 0 ? 'GET' : 'POST'),
  );
  const mails = Array.from({ length: MAILS }, () => deliver(service, address));
  const health = await request(service, '/healthz');
  assert.deepEqual([health.status, health.ms < 2_000], [200, true]);
  const readiness = await request(service, '/readyz');
  assert.deepEqual([readiness.status, readiness.ms < 5_000], [503, true]);
  const answers = await Promise.all(requests);
  const replies = await Promise.all(mails);
  assert.deepEqual(
    [...new Set(answers.map(({ status, retryAfter }) => `${status} ${retryAfter}`))],
    ['503 5'],
  );
  assert.deepEqual([...new Set(replies.map(({ code }) => code))], [451]);
  const slowestMs = Math.max(...[...answers, ...replies].map(({ ms }) => ms));
  t.diagnostic(`the slowest answer took ${slowestMs} ms`);
  assert.ok(slowestMs < MAX_ANSWER_MS, `an answer took ${slowestMs} ms`);
}

async function assertRecovered(service: ServeProcess, address: string): Promise<void> {
  assert.equal((await request(service, '/readyz')).status, 200);
  assert.equal((await request(service, '/v1/tests')).status, 200);
  assert.equal((await deliver(service, address)).code, 250);
  assert.deepEqual(
    service.log.filter(({ level }) => level === 'error'),
    [],
  );
}

test('While tables are locked, requests get 503 and messages 451 in bounded time', {
  skip,
}, async (t) => {
  const { service, holder } = await start(t);
  const { address } = await service.createTest();
  await holder.query('BEGIN; LOCK TABLE tests, api_keys, members IN ACCESS EXCLUSIVE MODE');
  await assertRefused(t, service, address);
  await holder.query('ROLLBACK');
  await assertRecovered(service, address);
});

test('While PostgreSQL accepts no more connections, requests get 503 and messages 451', {
  skip,
}, async (t) => {
  const { service, control } = await start(t);
  const { address } = await service.createTest();
  await control.query('ALTER ROLE service CONNECTION LIMIT 0');
  await control.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service'`,
  );
  await assertRefused(t, service, address);
  await control.query('ALTER ROLE service CONNECTION LIMIT -1');
  await assertRecovered(service, address);
});
