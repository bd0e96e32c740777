/** Claims on PostgreSQL: no row is claimed twice, whatever the clocks of the nodes say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { createDatabaseClock, timeIn } from '../../src/store/database-clock.ts';
import { releaseLeases, renewLeases } from '../../src/store/leases.ts';
import { testClock } from '../helpers/clock.ts';
import { execute, newDatabase, openAt, stopDatabaseClock, wrongClock } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { claimMails, insertMails } from './claim-mails.ts';

const skip = skipUnlessOnPostgres();
const MINUTE_MS = 60_000;

test('Eight claimers on eight connections claim each of 4,000 rows once', { skip }, async (t) => {
  const url = await newDatabase(t);
  const stores = await Promise.all(Array.from({ length: 8 }, () => openAt(t, url)));
  await insertMails(stores[0]!.db, 4000, isoTime(systemClock.now() - 1000));
  const claimed = new Map<string, number>();
  const share: number[] = [];
  const startedAt = performance.now();
  await Promise.all(
    stores.map(async ({ db }, index) => {
      const clock = await createDatabaseClock(db);
      clock.stop();
      share[index] = 0;
      for (let empty = 0; empty < 2; ) {
        const rows = await claimMails({ db, clock, node: `node-${index}` });
        for (const { id } of rows) claimed.set(id, (claimed.get(id) ?? 0) + 1);
        share[index] += rows.length;
        // Once more, in case the others had locked all that was left and then rolled back.
        empty = rows.length === 0 ? empty + 1 : 0;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  t.diagnostic(
    `4,000 rows in ${seconds.toFixed(2)} s: ${Math.round(4000 / seconds)} claims a second; by claimer: ${share.join(', ')}`,
  );
  assert.equal(claimed.size, 4000, 'none is lost');
  assert.deepEqual(
    [...claimed].filter(([, times]) => times > 1),
    [],
    'none is claimed twice',
  );
  const leases = await stores[0]!.db
    .selectFrom('outbox')
    .select(({ fn }) => [fn.count<number>('lease').as('leased'), fn.countAll<number>().as('all')])
    .executeTakeFirstOrThrow();
  assert.deepEqual(leases, { leased: 4000, all: 4000 });
});

test('A claim returns rows in the order of their query, with one lease of the node', {
  skip,
}, async (t) => {
  const { db } = await openAt(t, await newDatabase(t));
  const clock = testClock();
  await insertMails(db, 50, isoTime(clock.now()));
  // Updated rows move to the end of the table.
  await db.updateTable('outbox').set({ attempts: 3 }).where('id', '<', 'mail_000010').execute();
  const rows = await claimMails({ db, clock, node: 'mx1' }, { limit: 12 });
  assert.deepEqual(
    rows.map(({ id, attempts }) => [Number(id.slice(5)), attempts]),
    Array.from({ length: 12 }, (_, i) => [i, i < 10 ? 3 : 0]),
  );
  assert.equal(new Set(rows.map(({ lease }) => lease)).size, 1);
  assert.match(rows[0]!.lease, /^mx1:req_/);
  assert.equal(rows[0]!.leased_until, isoTime(clock.now() + MINUTE_MS));
});

for (const minutes of [5, -5])
  test(`A node whose clock is ${minutes} minutes off takes over no lease before its end`, {
    skip,
  }, async (t) => {
    const url = await newDatabase(t);
    const time = testClock();
    const setTime = await stopDatabaseClock(t, url, time.now());
    const [right, wrong] = [await openAt(t, url), await openAt(t, url)];
    await insertMails(right.db, 1, isoTime(time.now() - 10 * MINUTE_MS));
    const here = { db: right.db, clock: wrongClock(time, 0), node: 'right' };
    const there = { db: wrong.db, clock: wrongClock(time, minutes * MINUTE_MS), node: 'wrong' };
    const [claimed] = await claimMails(here);
    assert.equal(claimed!.leased_until, isoTime(time.now() + MINUTE_MS));
    for (let second = 0; second < 60; second += 20) {
      await setTime(time.now() + second * 1000);
      assert.deepEqual(await claimMails(there), [], `after ${second} seconds`);
    }
    time.advance(MINUTE_MS + 1);
    await setTime(time.now());
    const [taken] = await claimMails(there);
    assert.equal(
      taken!.leased_until,
      isoTime(time.now() + MINUTE_MS),
      'by the clock of the database',
    );
    assert.deepEqual(await claimMails(here), []);
  });

test('When a killed node held a lease, one of four others takes over at its end', {
  skip,
}, async (t) => {
  const url = await newDatabase(t);
  const time = testClock();
  const setTime = await stopDatabaseClock(t, url, time.now());
  const stores = await Promise.all(Array.from({ length: 5 }, () => openAt(t, url)));
  const [killed, ...others] = stores.map(({ db }, i) => ({
    db,
    clock: wrongClock(time, 0),
    node: `n${i}`,
  }));
  await insertMails(killed!.db, 10, isoTime(time.now()));
  assert.equal((await claimMails(killed!)).length, 10);
  await stores[0]!.close();
  const claimAll = async () => (await Promise.all(others.map((node) => claimMails(node)))).flat();
  time.advance(MINUTE_MS - 1);
  await setTime(time.now());
  assert.deepEqual(await claimAll(), []);
  // Many times, because claims at the same moment are a matter of luck.
  for (let round = 0; round < 30; round++) {
    time.advance(MINUTE_MS + 1);
    await setTime(time.now());
    const taken = await claimAll();
    assert.deepEqual([taken.length, new Set(taken.map(({ id }) => id)).size], [10, 10]);
  }
});

test('A start releases the leases of its node name only; renewal extends held leases only', {
  skip,
}, async (t) => {
  const { db } = await openAt(t, await newDatabase(t));
  const clock = testClock();
  await insertMails(db, 3, isoTime(clock.now()));
  for (const node of ['mx', 'mx1', 'mx-1']) await claimMails({ db, clock, node }, { limit: 1 });
  await releaseLeases(db, 'mx');
  const leases = async () =>
    (await db.selectFrom('outbox').select(['lease', 'leased_until']).orderBy('id').execute()).map(
      ({ lease, leased_until }) => [lease?.split(':')[0] ?? null, leased_until],
    );
  const until = isoTime(clock.now() + MINUTE_MS);
  assert.deepEqual(await leases(), [
    [null, null],
    ['mx1', until],
    ['mx-1', until],
  ]);
  const { lease } = await db
    .selectFrom('outbox')
    .select('lease')
    .where('id', '=', 'mail_000001')
    .executeTakeFirstOrThrow();
  clock.advance(1000);
  await renewLeases(db, clock, {
    table: 'outbox',
    leases: [lease!, 'mx:gone'],
    leaseMs: MINUTE_MS,
  });
  const later = isoTime(clock.now() + MINUTE_MS);
  assert.deepEqual(await leases(), [
    [null, null],
    ['mx1', later],
    ['mx-1', until],
  ]);
});

// The clock of the database.

test('The database clock follows the server, not the clock of the machine', { skip }, async (t) => {
  const url = await newDatabase(t);
  const time = testClock();
  const setTime = await stopDatabaseClock(t, url, time.now());
  const { db } = await openAt(t, url);
  let timer = 1000;
  const clock = await createDatabaseClock(db, {
    timer: { now: () => timer },
    machine: { now: () => time.now() - 5 * MINUTE_MS },
  });
  t.after(clock.stop);
  assert.deepEqual([clock.now(), clock.skewMs()], [time.now(), -5 * MINUTE_MS]);
  timer += 700;
  assert.equal(clock.now(), time.now() + 700, 'continues between measurements');
  await setTime(time.now() + 900);
  await clock.sync();
  assert.equal(clock.now(), time.now() + 900);
  await execute(url, 'ALTER TABLE test_time.clock RENAME TO broken');
  timer += 50;
  await clock.sync();
  assert.equal(clock.now(), time.now() + 950, 'continues if a measurement fails');
});

test('timeIn is the ISO time of the database in the format of all times', { skip }, async (t) => {
  const url = await newDatabase(t);
  await stopDatabaseClock(t, url, Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  await execute(
    url,
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET timezone = 'Asia/Kolkata'`,
  );
  const { db } = await openAt(t, url);
  const read = async (ms: number) => {
    const value = timeIn(wrongClock(systemClock, 0), ms);
    await db
      .insertInto('service_facts')
      .values({ name: `at ${ms}`, value })
      .execute();
    const row = await db.selectFrom('service_facts').select('value').where('name', '=', `at ${ms}`);
    return (await row.executeTakeFirstOrThrow()).value;
  };
  assert.equal(await read(0), '2026-01-02T03:04:05.006Z');
  assert.equal(await read(-6), '2026-01-02T03:04:05.000Z');
  assert.equal(await read(90_000), '2026-01-02T03:05:35.006Z');
});
