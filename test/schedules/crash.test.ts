/** A report interrupted anywhere is sent again from the start, and never twice. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { App } from '../../src/app.ts';
import { sendReportsJob } from '../../src/schedules/send.ts';
import { temporaryFolder } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { onPostgres } from '../helpers/store.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { fieldOf, HOUR_MS, runToEnd, type Scheduling, startScheduling } from './scheduling.ts';

const READERS = ['ann@example.com', 'bob@example.net', 'cid@example.org'];
const LEASE_MS = 5 * 60_000;

/** A daily report that is due now. */
async function startDue(t: TestContext, json: object = {}) {
  const clock = testClock();
  const folder = temporaryFolder(t);
  const sink = await startMailSink(t);
  const first = await startScheduling(t, { clock, folder, sink });
  const { id } = await first.create({ recipients: READERS, ...json });
  clock.advance(22 * HOUR_MS);
  const again = async () => {
    await first.service.stop();
    return startScheduling(t, { clock, folder, sink });
  };
  /** On SQLite, the start has freed it. On PostgreSQL, another node may hold it. */
  const expireLease = () => clock.advance(onPostgres ? LEASE_MS + 1 : 0);
  return { ...first, id, again, expireLease };
}

const countOf = async ({ db }: App, table: 'report_runs' | 'report_copies' | 'outbox') =>
  (await db.selectFrom(table).selectAll().execute()).length;

async function assertSentOnce({ sink, runs }: Scheduling, id: string): Promise<void> {
  assert.deepEqual(sink.taken.map(({ to }) => to[0]).toSorted(), READERS);
  const all = await runs(id);
  assert.deepEqual(
    all.map(({ status, slot }) => [status, slot]),
    [['sent', '2026-11-22T08:00:00.000Z']],
  );
}

test('A report claimed by a crashed process is sent once by the next process', async (t) => {
  const due = await startDue(t, { format: 'pdf' });
  const { app } = due.service;
  let asked = 0;
  app.reportRenderer.render = async () => {
    asked += 1;
    throw new Error('the process ends here');
  };
  await due.makeDue();
  await due.makeDue();
  assert.equal(asked, 1, 'the claim prevents a second attempt');
  assert.equal(await countOf(app, 'report_runs'), 0);
  const next = await due.again();
  due.expireLease();
  await next.makeDue();
  await next.sendDue();
  await assertSentOnce(next, due.id);
});

test('A report claimed without result is retried once its lease expires', async (t) => {
  const due = await startDue(t, { format: 'pdf' });
  const { reportRenderer: reporter } = due.service.app;
  const { render } = reporter;
  reporter.render = () => Promise.reject(new Error('too slow'));
  await due.makeDue();
  reporter.render = render;
  await due.makeDue();
  assert.equal(await countOf(due.service.app, 'report_runs'), 0);
  due.clock.advance(LEASE_MS + 1);
  await due.makeDue();
  await due.sendDue();
  await assertSentOnce(due, due.id);
});

test('A failure while writing a report’s copies rolls everything back', async (t) => {
  for (const failing of [1, 2, 3]) {
    const due = await startDue(t);
    const { app } = due.service;
    const { seal } = app.secrets;
    let sealed = 0;
    app.secrets.seal = (text, purpose) => {
      if (++sealed === failing) throw new Error('the disk is full');
      return seal(text, purpose);
    };
    await due.makeDue();
    assert.equal(sealed, failing);
    for (const table of ['report_runs', 'report_copies', 'outbox'] as const)
      assert.equal(await countOf(app, table), 0, `${table} at ${failing}`);
    const next = await due.again();
    due.expireLease();
    await next.makeDue();
    await next.sendDue();
    await assertSentOnce(next, due.id);
  }
});

test('Report copies queued before a restart are sent after it', async (t) => {
  const due = await startDue(t);
  await due.makeDue();
  const next = await due.again();
  await next.makeDue();
  await next.sendDue();
  await next.makeDue();
  await assertSentOnce(next, due.id);
});

test('A copy accepted but not recorded is resent with the same Message-ID', async (t) => {
  const due = await startDue(t, { recipients: READERS.slice(0, 1) });
  const { db } = due.service.app;
  await due.makeDue();
  const waiting = await db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();
  const copies = await db.selectFrom('report_copies').selectAll().execute();
  assert.deepEqual(
    copies.map(({ status, mail_id }) => [status, mail_id]),
    [['queued', waiting.id]],
  );
  await due.sendDue();
  // Restores the rows to their state at the time of the 250.
  await db.updateTable('outbox').set(waiting).where('id', '=', waiting.id).execute();
  await db.deleteFrom('report_copies').execute();
  await db.insertInto('report_copies').values(copies).execute();
  assert.deepEqual(
    (await due.runs(due.id)).map(({ status }) => status),
    ['sending'],
  );
  const next = await due.again();
  await next.makeDue();
  await next.sendDue();
  const names = due.sink.taken.map(({ raw }) => fieldOf(raw, 'Message-ID'));
  assert.equal(names.length, 2);
  assert.equal(new Set(names).size, 1);
  const [run, ...others] = await next.runs(due.id);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [run!.status, run!.copies.map(({ status, error }) => [status, error])],
    ['sent', [['sent', null]]],
  );
});

test('Two jobs composing the same report write it once', async (t) => {
  const due = await startDue(t, { format: 'pdf' });
  const { app } = due.service;
  const { render } = app.reportRenderer;
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let waiting = 0;
  app.reportRenderer.render = async (job) => {
    waiting += 1;
    await gate;
    return render(job);
  };
  const slow = sendReportsJob(app);
  await slow.run();
  due.clock.advance(LEASE_MS + 1);
  const other = sendReportsJob(app);
  await other.run();
  go();
  await Promise.all([slow.idle!(), other.idle!()]);
  assert.equal(waiting, 2);
  await due.sendDue();
  await assertSentOnce(due, due.id);
});

test('A report whose schedule changes while composing is composed again', async (t) => {
  const due = await startDue(t, { format: 'pdf' });
  const { app, call } = due.service;
  const { render } = app.reportRenderer;
  app.reportRenderer.render = async (job) => {
    app.reportRenderer.render = render;
    const json = { recipients: ['new@example.com'] };
    assert.equal((await call('PATCH', `/v1/reports/schedules/${due.id}`, { json })).status, 200);
    return render(job);
  };
  await due.makeDue();
  assert.equal(await countOf(app, 'report_runs'), 0);
  await due.makeDue();
  await due.sendDue();
  assert.deepEqual(
    due.sink.taken.map(({ to }) => to[0]),
    ['new@example.com'],
  );
});

test('A report that cannot be composed fails after two hours; the next is sent', async (t) => {
  const due = await startDue(t, { format: 'pdf' });
  const { app } = due.service;
  const { render } = app.reportRenderer;
  app.reportRenderer.render = () => Promise.reject(new Error('a bug'));
  for (let minutes = 0; minutes < 125; minutes += 6) {
    await due.makeDue();
    due.clock.advance(6 * 60_000);
  }
  const [run, ...others] = await due.runs(due.id);
  assert.deepEqual(others, []);
  assert.equal(run!.status, 'failed');
  assert.match(run!.error!, /could not be generated/);
  app.reportRenderer.render = render;
  due.clock.advance(24 * HOUR_MS);
  await runToEnd(sendReportsJob(app));
  await due.sendDue();
  assert.deepEqual(
    (await due.runs(due.id)).map(({ status }) => status),
    ['sent', 'failed'],
  );
});
