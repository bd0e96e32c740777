/** Leases of analyses, the limit of postmaster mail, and the pace of a backlog. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PoolInput, PoolOutcome, StoredRaw } from '../../src/analysis/pool.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { analyzeJob, claimDue, takeAccepted } from '../../src/mailtests/analyze.ts';
import { recordOutcome } from '../../src/mailtests/record.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { transact } from '../../src/store/open.ts';
import type { MessageRow } from '../../src/store/tables.generated.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';

const MAIL = 'From: a@example.com\r\nSubject: x\r\n\r\nhi\r\n';
const UNREADABLE = { ok: false, reason: 'unreadable', detail: '' } as const;

test('claimDue claims a test once; an expired lease is reclaimed and its outcome ignored', async (t) => {
  const clock = testClock();
  const { app, createTest, getTest, smtp } = await startTestService(t, { clock });
  await app.scheduler.stop();
  const { id, address } = await createTest();
  await sendMail({ port: smtp.port, to: address, raw: MAIL });
  const [first] = await claimDue(app, 10);
  assert.equal(first?.id, id);
  assert.deepEqual(await claimDue(app, 10), []);
  clock.advance(120_001);
  const [second] = await claimDue(app, 10);
  assert.equal(second?.id, id);
  await recordOutcome(app, first, UNREADABLE);
  assert.equal((await getTest(id)).status, 'processing');
  await recordOutcome(app, second, UNREADABLE);
  const { status, failure_reason } = await getTest(id);
  assert.deepEqual([status, failure_reason], ['failed', 'unreadable']);
  assert.equal((await app.db.selectFrom('events').select('id').execute()).length, 1);
});

test('Postmaster mail beyond 1,000 messages is rejected with 452; tests still accept mail', async (t) => {
  const { app, createTest, smtp } = await startTestService(t);
  const kept = {
    test_id: null,
    recipient: 'p',
    sha256: '',
    size: 1,
    envelope: '{}',
    received_at: '2026',
  };
  await app.db.transaction().execute(async (tx) => {
    for (let i = 0; i < 1000; i++)
      await tx
        .insertInto('messages')
        .values({ ...kept, id: `msg_${i}` })
        .execute();
  });
  const write = (to: string) => sendMail({ port: smtp.port, to, raw: MAIL });
  await assert.rejects(write('postmaster@inbox.test'), { responseCode: 452, message: /4\.2\.2/ });
  assert.match(await write((await createTest()).address), /^250 /);
});

test('Postmaster mail beyond 100 messages or 26 MiB of a network is rejected; others still write', async (t) => {
  const { app, smtp } = await startTestService(t);
  const store = async (id: string, client_ip: string, size: number) => {
    // Retention deletes older ones.
    const received_at = isoTime(app.clock.now());
    const row = { test_id: null, recipient: 'p', sha256: '', received_at };
    const envelope = JSON.stringify({ client_ip });
    await app.db
      .insertInto('messages')
      .values({ ...row, id, size, envelope })
      .execute();
  };
  for (let i = 0; i < 100; i++) await store(`msg_a${i}`, `192.0.2.${i}`, 1);
  for (let i = 0; i < 99; i++) await store(`msg_b${i}`, `2001:db8:1:${i.toString(16)}::1`, 1);
  await store('msg_c', '203.0.113.1', 26 * 1024 * 1024);
  const write = (clientIp: string) =>
    sendMail({ port: smtp.port, to: 'postmaster@inbox.test', raw: MAIL, clientIp });
  const refused = { responseCode: 452, message: /4\.2\.1 Too many messages from your network/ };
  await assert.rejects(write('192.0.2.200'), refused);
  await assert.rejects(write('203.0.113.200'), refused);
  assert.match(await write('2001:db8:1:ffff::2'), /^250 /);
  await assert.rejects(write('2001:db8:1::3'), refused);
  for (const other of ['192.0.3.1', '198.51.100.1', '2001:db8:2::1'])
    assert.match(await write(other), /^250 /);
});

// A backlog is analyzed as fast as possible, not at the pace of the scheduler.

const ONCE_A_YEAR = '0 0 0 1 1 *';
/** Five times the capacity of one thread. */
const MESSAGES = 40;

test('A backlog of tests is analyzed without waiting for the scheduler tick', async (t) => {
  const { app, call, getTest } = await startTestService(t);
  await app.scheduler.stop();
  const ids: string[] = [];
  for (let number = 0; number < MESSAGES; number++) {
    const { body } = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1', {
      body: goodMessage(),
      headers: { 'content-type': 'message/rfc822' },
    });
    ids.push(body.id);
  }
  app.scheduler = createScheduler(app.log);
  app.scheduler.add({ ...analyzeJob(app), tick: ONCE_A_YEAR });
  t.after(() => app.scheduler.stop());
  app.scheduler.start();
  for (const id of ids) assert.equal((await getTest(id, '?wait=20')).status, 'completed');
});

/** Replaces the threads: resolves with what the next analysis gets. */
function heldAnalysis({ app }: TestService) {
  const started = Promise.withResolvers<PoolInput>();
  const outcome = Promise.withResolvers<PoolOutcome>();
  app.pool.analyze = (input) => {
    started.resolve(input);
    return outcome.promise;
  };
  return { started: started.promise, end: () => outcome.resolve(UNREADABLE) };
}

test('An accepted message is leased in the same transaction, and analyzed from memory', async (t) => {
  const service = await startTestService(t);
  const { app, createTest, getTest, smtp } = service;
  const { id, address } = await createTest();
  const { started, end } = heldAnalysis(service);
  await sendMail({ port: smtp.port, to: address, raw: MAIL });
  const { raw } = await started;
  const row = await app.db.selectFrom('tests').selectAll().executeTakeFirstOrThrow();
  assert.ok(row.lease !== null && row.leased_until !== null);
  assert.deepEqual(await claimDue(app, 10), []);
  const { read } = raw as StoredRaw;
  const [first, second] = [await read(), await read()] as Uint8Array[];
  assert.equal(Buffer.from(first!).toString(), MAIL);
  // The second attempt, after a thread ended, reads what is stored.
  assert.deepEqual(Buffer.from(second!), Buffer.from(first!));
  end();
  assert.equal((await getTest(id, '?wait=10')).status, 'failed');
});

test('A message is left to the job while older ones wait, or if it is long', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_WORKERS: '1' } });
  const { app, createTest, getTest, smtp } = service;
  const { started, end } = heldAnalysis(service);
  const { id, address } = await createTest();
  const long = `${MAIL}${'A long line.\r\n'.repeat(30_000)}`;
  await sendMail({ port: smtp.port, to: address, raw: long });
  const { raw } = await started;
  assert.equal(((await (raw as StoredRaw).read()) as Uint8Array).byteLength, long.length);
  // One thread has room for 12.
  const ids = [id];
  while (ids.length < 14) {
    const short = await createTest();
    await sendMail({ port: smtp.port, to: short.address, raw: MAIL });
    ids.push(short.id);
  }
  const unleased = app.db.selectFrom('tests').select('id').where('lease', 'is', null);
  assert.equal((await unleased.execute()).length, 2);
  end();
  for (const one of ids) assert.equal((await getTest(one, '?wait=20')).status, 'failed');
});

test('A lease whose commit is unknown ends after ten seconds, and the message is analyzed', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { app, createTest, getTest, smtp } = service;
  const { id, address } = await createTest();
  let lease: unknown;
  await assert.rejects(
    transact(app.db, async (tx) => {
      const analysis_due_at = isoTime(clock.now());
      const test = { id, kind: 'auto', limited_to: null, analysis_due_at } as const;
      const message = {} as MessageRow;
      ({ lease } = takeAccepted(tx, app, { test, message, raw: Buffer.from(MAIL) }));
      throw new Error('lost');
    }),
  );
  // As if the commit had reached the database, and its answer had been lost.
  await app.scheduler.stop();
  await sendMail({ port: smtp.port, to: address, raw: MAIL });
  const leased_until = isoTime(clock.now() + 120_000);
  await app.db
    .updateTable('tests')
    .set({ lease: lease as string, leased_until })
    .execute();
  const job = analyzeJob(app);
  await job.run();
  assert.equal((await getTest(id)).status, 'processing');
  clock.advance(10_000);
  await job.run();
  await job.idle?.();
  assert.equal((await getTest(id)).status, 'completed');
});
