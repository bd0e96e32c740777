/** PostgreSQL: whoever waits for a lock, for a connection or for a silent server gets an error in time. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { deleteChunks, discardChunks, storeLaterChunks } from '../../src/store/chunks.ts';
import { CommitUnknownError, DatabaseUnavailableError } from '../../src/store/errors.ts';
import { transact } from '../../src/store/open.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import type { PoolLimits } from '../../src/store/postgres/pool.ts';
import type { Db } from '../../src/store/types.ts';
import { untilAvailable } from '../../src/store/until-available.ts';
import { COMMIT, startDatabaseProxy } from '../helpers/database-proxy.ts';
import {
  postgresDatabase,
  releasePostgresDatabase,
  skipUnlessOnPostgres,
} from '../helpers/postgres.ts';

const skip = skipUnlessOnPostgres();

const LIMITS: PoolLimits = {
  connections: 2,
  connectMs: 300,
  lockMs: 300,
  silenceMs: 600,
  idleTransactionMs: 400,
};

async function database(t: TestContext): Promise<string> {
  const key = randomUUID();
  t.after(() => releasePostgresDatabase(key));
  return postgresDatabase(key);
}

async function open(t: TestContext, url: string, limits: Partial<PoolLimits> = {}): Promise<Db> {
  const store = await openPostgres(url, 'upgrade', { ...LIMITS, ...limits });
  t.after(() => store.close());
  return store.db;
}

const countFacts = async (db: Db): Promise<number> =>
  (await db.selectFrom('service_facts').selectAll().execute()).length;

async function assertUnavailable(work: Promise<unknown>, maxMs: number): Promise<void> {
  const startedAt = performance.now();
  await assert.rejects(work, DatabaseUnavailableError);
  const ms = performance.now() - startedAt;
  assert.ok(ms < maxMs, `it took ${ms} ms`);
}

test('A statement that waits too long for a lock fails, and the transaction is not repeated for long', {
  skip,
}, async (t) => {
  const url = await database(t);
  const db = await open(t, url);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE service_facts IN ACCESS EXCLUSIVE MODE');
  await assertUnavailable(countFacts(db), 1_500);
  // Repeated until two seconds have passed.
  await assertUnavailable(
    transact(db, (tx) => tx.deleteFrom('service_facts').execute()),
    4_000,
  );
  await holder.query('ROLLBACK');
  assert.equal(await countFacts(db), 0);
  await holder.end();
});

test('A query that finds no free connection fails in time, and the pool recovers', {
  skip,
}, async (t) => {
  // The holders stay idle until all queries have failed, on a slow machine too.
  const db = await open(t, await database(t), { idleTransactionMs: 10_000 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holders = started.map(({ resolve }) =>
    db.transaction().execute(async (tx) => {
      await countFacts(tx as never);
      resolve();
      await released;
    }),
  );
  await Promise.all(started.map(({ promise }) => promise));
  await Promise.all(Array.from({ length: 20 }, () => assertUnavailable(countFacts(db), 1_000)));
  release();
  await Promise.all(holders);
  assert.equal(await countFacts(db), 0);
});

test('PostgreSQL ends a transaction whose node does nothing, and releases its locks', {
  skip,
}, async (t) => {
  const url = await database(t);
  const db = await open(t, url);
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const stalled = db.transaction().execute(async (tx) => {
    await tx.insertInto('service_facts').values({ name: 'stalled', value: '' }).execute();
    start();
    await finished;
    await tx.deleteFrom('service_facts').execute();
  });
  stalled.catch(() => {});
  await started;
  // The same key: it waits for the stalled transaction.
  const other = await open(t, url, { lockMs: 5_000, silenceMs: 5_000 });
  await other.insertInto('service_facts').values({ name: 'stalled', value: 'new' }).execute();
  finish();
  await assert.rejects(stalled, DatabaseUnavailableError);
  assert.equal(await countFacts(db), 1);
});

async function openThroughProxy(t: TestContext) {
  const direct = await database(t);
  const proxy = await startDatabaseProxy(t, direct);
  // Idle for longer than the short limit while the other one fails.
  const control = await open(t, direct, { silenceMs: 30_000 });
  return { proxy, db: await open(t, proxy.url), control };
}

test('A silent network is an error in time, and the next query gets a new connection', {
  skip,
}, async (t) => {
  const { proxy, db } = await openThroughProxy(t);
  assert.equal(await countFacts(db), 0);
  proxy.silenceAt('service_facts');
  await assertUnavailable(countFacts(db), 2_000);
  proxy.recover();
  assert.equal(await countFacts(db), 0);
});

test('A commit whose reply is lost is an error of its own and not repeated', {
  skip,
}, async (t) => {
  const { proxy, db, control } = await openThroughProxy(t);
  let attempts = 0;
  proxy.silenceAt(COMMIT);
  const lost = transact(db, async (tx) => {
    attempts++;
    await tx.insertInto('service_facts').values({ name: 'a', value: '' }).execute();
  });
  await assert.rejects(lost, CommitUnknownError);
  assert.equal(attempts, 1);
  assert.equal(await countFacts(control), 1, 'the commit took effect');
});

test('Chunks of a message whose commit is unknown are kept', { skip }, async (t) => {
  const db = await open(t, await database(t));
  const raw = new Uint8Array(2 * 1024 * 1024);
  const count = async () =>
    (await db.selectFrom('message_chunks').select('position').execute()).length;
  await storeLaterChunks(db, 'msg_1', raw);
  await discardChunks(db, 'msg_1', new CommitUnknownError('lost'));
  assert.equal(await count(), 3);
  await discardChunks(db, 'msg_1', new DatabaseUnavailableError('lost'));
  assert.equal(await count(), 0);
  await deleteChunks(db, 'msg_1');
});

test('untilAvailable repeats only while the database is unavailable', async () => {
  let attempts = 0;
  const value = await untilAvailable(async () => {
    if (++attempts < 3) throw new DatabaseUnavailableError('away');
    return 'stored';
  });
  assert.deepEqual([value, attempts], ['stored', 3]);
  await assert.rejects(
    untilAvailable(async () => {
      throw new Error('a bug');
    }),
    /a bug/,
  );
});
