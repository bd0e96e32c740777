/** The node and its database in the public operations. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDatabase } from '../../src/health/database.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startTestService } from '../helpers/app.ts';
import { onPostgres, openTestStore } from '../helpers/store.ts';

interface Answer {
  node: string;
  database: { engine: string; version: string | null; clock_skew_ms: number | null };
}

const engine = onPostgres ? 'postgres' : 'sqlite';

test('/readyz, /status and /v1/status name the node and its database', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_NODE_NAME: 'mx1' } });
  for (const path of ['/readyz', '/status', '/v1/status']) {
    const { body } = await service.call<Answer>('GET', path, { key: null });
    assert.equal(body.node, 'mx1', path);
    assert.equal(body.database.engine, engine);
    assert.match(body.database.version!, /^\d+\.\d+(\.\d+)?$/);
    // The server of the tests runs on the same machine.
    if (onPostgres) assert.ok(Math.abs(body.database.clock_skew_ms!) < 100);
    else assert.equal(body.database.clock_skew_ms, null);
  }
});

test('A node without a configured name has one of its own', async (t) => {
  const services = [await startTestService(t), await startTestService(t)];
  const names = await Promise.all(
    services.map(async ({ call }) => (await call<Answer>('GET', '/readyz')).body.node),
  );
  assert.match(names[0]!, /^node-[0-9a-f]{10}$/);
  assert.notEqual(names[0], names[1]);
});

test('describeDatabase measures how far the clock of the machine is ahead of PostgreSQL', {
  skip: !onPostgres && 'SQLite uses the clock of the machine',
}, async (t) => {
  const { db } = await openTestStore(t);
  for (const skew of [5 * 60_000, -5 * 60_000]) {
    const { clock_skew_ms } = await describeDatabase(db, { now: () => systemClock.now() + skew });
    assert.ok(Math.abs(clock_skew_ms! - skew) < 100, `${clock_skew_ms} instead of ${skew}`);
  }
});

test('describeDatabase has no version for a database that does not respond', async (t) => {
  const store = await openTestStore(t);
  await store.close();
  const facts = await describeDatabase(store.db);
  assert.deepEqual(facts, { engine, version: null, clock_skew_ms: null });
});
