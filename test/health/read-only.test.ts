/** A node whose PostgreSQL server accepts no writes, such as a standby, is not ready. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { SERVICE_LIMITS } from '../../src/store/postgres/pool.ts';
import type { TestService } from '../helpers/app.ts';
import { execute, newDatabase, startNode } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';

const skip = skipUnlessOnPostgres();

interface Readiness {
  status: string;
  dependencies: { name: string; status: string; detail: string | null }[];
}

/** Without answers that only say that a connection was lost. */
async function readiness({ call }: TestService) {
  for (;;) {
    const { status, body } = await call<Readiness>('GET', '/readyz', { key: null });
    const database = body.dependencies.find(({ name }) => name === 'database')!;
    const seen = [status, body.status, database.status, database.detail];
    if (database.detail !== 'Not reachable.') return seen;
  }
}

const READY = [200, 'ready', 'up', null];
const READ_ONLY = [
  503,
  'unavailable',
  'down',
  'The PostgreSQL server is read-only. Connect to the primary.',
];

test('/readyz says that a database is read-only while new connections are', { skip }, async (t) => {
  const url = await newDatabase(t);
  const node = await startNode(t, url);
  await node.app.scheduler.stop();
  assert.deepEqual(await readiness(node), READY);
  const name = new URL(url).pathname.slice(1);
  const server = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  // As in a failover, the node loses its connections. The setting is that of new ones.
  await execute(
    server,
    `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  );
  assert.deepEqual(await readiness(node), READ_ONLY);
  const refused = await node.call('POST', '/v1/tests', { json: {} });
  assert.equal(refused.status, 503);
  assert.ok(refused.headers.has('retry-after'));
  await execute(server, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
  assert.deepEqual(await readiness(node), READY);
  assert.equal((await node.call('POST', '/v1/tests', { json: {} })).status, 201);
});

test('/readyz says that a database is read-only when open connections become so', {
  skip,
}, async (t) => {
  const node = await startNode(t, await newDatabase(t));
  const { db, scheduler } = node.app;
  await scheduler.stop();
  /** Changes all connections of the pool, as a server does that gets new settings. */
  const setAll = async (value: 'on' | 'off') => {
    let open = 0;
    const { promise: allOpen, resolve } = Promise.withResolvers<void>();
    const change = () =>
      db.connection().execute(async (connection) => {
        await sql`SET default_transaction_read_only = ${sql.raw(value)}`.execute(connection);
        if (++open === SERVICE_LIMITS.connections) resolve();
        await allOpen;
      });
    await Promise.all(Array.from({ length: SERVICE_LIMITS.connections }, change));
  };
  await setAll('on');
  assert.deepEqual(await readiness(node), READ_ONLY);
  await setAll('off');
  assert.deepEqual(await readiness(node), READY);
});
