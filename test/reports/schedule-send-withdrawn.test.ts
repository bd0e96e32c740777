/** Copies that wait are taken back from who is taken off a schedule, and from all where it is switched off. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ReportRun } from '../../src/reports/schedule-schema.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { SCHEDULES, startScheduling } from './scheduling.ts';

const READERS = ['ann@example.com', 'bob@example.net'];

const byRecipient = ({ copies }: ReportRun) => copies.map((one) => [one.recipient, one] as const);

/** A report that the server does not take yet. */
async function startWaiting(t: TestContext) {
  const sink = await startMailSink(t);
  const scheduling = await startScheduling(t, { sink });
  const { service, create, clock, sendDue, runs } = scheduling;
  const { id } = await create({ recipients: READERS });
  const patch = async (json: object) => {
    const { status, text } = await service.call('PATCH', `${SCHEDULES}/${id}`, { json });
    assert.equal(status, 200, text);
  };
  const send = () => service.call('POST', `${SCHEDULES}/${id}/send`);
  return {
    ...scheduling,
    id,
    patch,
    send,
    refuse: () => {
      sink.refuse = { at: 'rcpt', code: 450, text: 'later' };
    },
    /** Once the server takes mail again. */
    async sendAgain() {
      sink.refuse = null;
      clock.advance(60_000);
      await sendDue();
    },
    taken: () => sink.taken.map(({ to }) => to[0]),
    async copies() {
      const [run] = await runs(id);
      return { status: run!.status, of: Object.fromEntries(byRecipient(run!)) };
    },
    async known() {
      const rows = await service.app.db.selectFrom('report_readers').select('email').execute();
      return rows.map(({ email }) => email).toSorted();
    },
  };
}

const FAILED = { status: 'failed', sent_at: null };
const TAKEN_OFF = 'it was taken back: its reader was taken off the schedule of the report';
const SWITCHED_OFF = 'it was taken back: the schedule of the report was switched off';

test('who is taken off gets no copy that waits, and the copy says why', async (t) => {
  const { patch, send, refuse, sendDue, sendAgain, taken, copies, known } = await startWaiting(t);
  refuse();
  await send();
  await sendDue();
  assert.deepEqual(await known(), READERS);
  await patch({ recipients: ['bob@example.net', 'cid@example.org'] });
  await sendAgain();
  assert.deepEqual(taken(), ['bob@example.net']);
  const { status, of } = await copies();
  assert.equal(status, 'partial');
  assert.deepEqual(of['ann@example.com'], {
    ...{ recipient: 'ann@example.com', ...FAILED },
    error: TAKEN_OFF,
  });
  assert.equal(of['bob@example.net']!.status, 'sent');
  assert.deepEqual(await known(), READERS, 'the link of a mail that went out goes on working');
});

test('a schedule that is switched off sends no copy that waits', async (t) => {
  const { patch, send, refuse, sendDue, sendAgain, taken, copies, known } = await startWaiting(t);
  refuse();
  await send();
  await sendDue();
  await patch({ name: 'Still on' });
  await patch({ enabled: false });
  await patch({ enabled: true });
  await sendAgain();
  assert.deepEqual(taken(), []);
  const { status, of } = await copies();
  assert.equal(status, 'failed');
  for (const recipient of READERS)
    assert.deepEqual(of[recipient], { recipient, ...FAILED, error: SWITCHED_OFF });
  assert.deepEqual(await known(), READERS);
  await send();
  await sendDue();
  assert.deepEqual(taken().toSorted(), READERS, 'a new one goes out');
});

test('a change that takes nobody off leaves what waits alone', async (t) => {
  const { patch, send, refuse, sendDue, sendAgain, taken } = await startWaiting(t);
  refuse();
  await send();
  await sendDue();
  await patch({ recipients: [...READERS, 'cid@example.org'], send_hour: 9, format: 'pdf' });
  await sendAgain();
  assert.deepEqual(taken().toSorted(), READERS);
});

test('what the server takes after it was taken back is told as sent', async (t) => {
  const { patch, send, sendDue, sink, copies } = await startWaiting(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  sink.hold = promise;
  await send();
  const sending = sendDue();
  while (sink.taken.length < 2) await new Promise(setImmediate);
  await patch({ recipients: ['bob@example.net'] });
  assert.equal((await copies()).of['ann@example.com']!.error, TAKEN_OFF);
  resolve();
  await sending;
  const sent_at = '2026-11-21T10:00:00.000Z';
  const { status, of } = await copies();
  assert.equal(status, 'sent');
  for (const recipient of READERS)
    assert.deepEqual(of[recipient], { recipient, status: 'sent', error: null, sent_at });
});
