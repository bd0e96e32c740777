/** Reports are sent on schedule, with a copy to each recipient and its delivery status. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { expireMail } from '../../src/outbox/expire.ts';
import { composeReportMails } from '../../src/schedules/compose-report-mails.ts';
import { audiencesOf, scheduleOr404 } from '../../src/schedules/queries.ts';
import type { ReportRun } from '../../src/schedules/schema.ts';
import { expireReportRuns, sendReportsJob } from '../../src/schedules/send.ts';
import { periodUntil } from '../../src/schedules/times.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { DAY_MS, fieldOf, HOUR_MS, SCHEDULES, startScheduling, tally } from './scheduling.ts';

const READERS = ['ann@example.com', 'bob@example.net', 'cid@example.org'];
/** The test clock starts at ten, and the next report is due at eight tomorrow. */
const UNTIL_DUE_MS = 22 * HOUR_MS;

const statuses = ({ copies }: ReportRun) => copies.map(({ status }) => status);

test('A due report is sent to each recipient with their own unsubscribe link', async (t) => {
  const { create, get, runs, clock, makeDue, sendDue, sink } = await startScheduling(t);
  const { id, next_send_at } = await create({ recipients: READERS });
  await makeDue();
  assert.deepEqual(await runs(id), []);
  clock.advance(UNTIL_DUE_MS);
  assert.equal(new Date(clock.now()).toISOString(), next_send_at);
  await makeDue();
  const sending = await get(id);
  assert.deepEqual([sending.last_status, sending.last_sent_at], ['sending', null]);
  assert.equal(sending.next_send_at, '2026-11-23T08:00:00.000Z');
  await sendDue();
  await makeDue();
  const [run, ...others] = await runs(id);
  assert.deepEqual(others, []);
  const { id: runId, copies, ...rest } = run!;
  assert.match(runId, /^rpr_/);
  assert.deepEqual(rest, {
    object: 'report_run',
    schedule_id: id,
    trigger: 'schedule',
    slot: next_send_at,
    tag: null,
    period_from: '2026-11-21T00:00:00.000Z',
    period_to: '2026-11-22T00:00:00.000Z',
    status: 'sent',
    error: null,
    created_at: next_send_at,
  });
  assert.deepEqual(
    copies,
    READERS.map((recipient) => ({
      recipient,
      status: 'sent',
      error: null,
      sent_at: next_send_at,
    })),
  );
  assert.deepEqual(sink.taken.map(({ to }) => to[0]).toSorted(), READERS);
  const links = new Set(sink.taken.map(({ raw }) => fieldOf(raw, 'List-Unsubscribe')));
  const names = new Set(sink.taken.map(({ raw }) => fieldOf(raw, 'Message-ID')));
  assert.deepEqual([links.size, names.size], [3, 3]);
  const sent = await get(id);
  assert.deepEqual([sent.last_status, sent.last_sent_at], ['sent', next_send_at]);
});

test('Report emails offer one-click unsubscribe only with an https app URL', async (t) => {
  for (const [APP_URL, post] of [
    ['http://reports.example', undefined],
    ['https://reports.example', 'List-Unsubscribe=One-Click'],
  ] as const) {
    const { service, create, sendDue, sink } = await startScheduling(t, {
      env: { DELIVERABILITY_APP_URL: APP_URL },
    });
    const { id } = await create();
    assert.equal((await service.call('POST', `${SCHEDULES}/${id}/send`)).status, 200);
    await sendDue();
    const [{ raw }] = sink.taken as [(typeof sink.taken)[0]];
    const link = fieldOf(raw, 'List-Unsubscribe')!;
    assert.match(link, /^<https?:\/\/reports\.example\/unsubscribe\/[\w-]{43}>$/);
    assert.ok(link.startsWith(`<${APP_URL}/`));
    assert.equal(fieldOf(raw, 'List-Unsubscribe-Post'), post);
    const body = raw.toString().replace(/=\r\n/g, '');
    assert.ok(body.includes(link.slice(1, -1)), 'the text has the same link');
  }
});

test('A report copy refused temporarily is retried for that recipient only', async (t) => {
  const refusals = new Map([
    ['bob@example.net', 450],
    ['cid@example.org', 550],
  ]);
  const sink = await startMailSink(t, {
    onRcptTo({ address }, _session, done) {
      const responseCode = refusals.get(address);
      done(responseCode ? Object.assign(new Error('not today'), { responseCode }) : null);
    },
  });
  const { service, create, runs, get, clock, makeDue, sendDue } = await startScheduling(t, {
    sink,
  });
  const { id } = await create({ recipients: READERS });
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  await sendDue();
  const [first] = await runs(id);
  assert.deepEqual([first!.status, statuses(first!)], ['sending', ['sent', 'queued', 'failed']]);
  assert.match(first!.copies[1]!.error!, /not today/);
  assert.match(first!.copies[2]!.error!, /not today/);
  refusals.delete('bob@example.net');
  clock.advance(60_000);
  await sendDue();
  const [second] = await runs(id);
  assert.deepEqual([second!.status, statuses(second!)], ['partial', ['sent', 'sent', 'failed']]);
  assert.equal((await get(id)).last_status, 'partial');
  assert.deepEqual(
    sink.taken.map(({ to }) => to[0]),
    ['ann@example.com', 'bob@example.net'],
  );
  const { body } = await service.call('GET', SCHEDULES);
  assert.equal((body as { data: { last_status: string }[] }).data[0]!.last_status, 'partial');
});

test('Without outgoing mail a report run is marked not_configured', async (t) => {
  const { create, runs, get, clock, makeDue } = await startScheduling(t, { mute: true });
  const { id } = await create({ recipients: READERS, format: 'pdf' });
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  const [run] = await runs(id);
  assert.equal(run!.status, 'not_configured');
  assert.deepEqual(new Set(statuses(run!)), new Set(['not_configured']));
  const { last_status, last_sent_at, next_send_at } = await get(id);
  assert.deepEqual(
    [last_status, last_sent_at, next_send_at],
    ['not_configured', null, '2026-11-23T08:00:00.000Z'],
  );
});

test('POST /v1/reports/schedules/{id}/send sends the last complete days outside the schedule', async (t) => {
  const { service, create, runs, get, sendDue, clock, sink } = await startScheduling(t);
  const { id, next_send_at } = await create({ frequency: 'weekly', enabled: false });
  assert.equal(next_send_at, null);
  clock.advance(20 * 60_000);
  const { body } = await service.call<ReportRun>('POST', `${SCHEDULES}/${id}/send`);
  assert.deepEqual(
    [body.trigger, body.slot, body.period_from, body.period_to, body.status],
    ['manual', null, '2026-11-14T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'sending'],
  );
  await sendDue();
  assert.equal(sink.taken.length, 1);
  assert.deepEqual(
    (await runs(id)).map(({ status }) => status),
    ['sent'],
  );
  assert.equal((await get(id)).next_send_at, null);
});

test('A PDF report is attached to a short mail', async (t) => {
  const { service, create, sendDue, sink } = await startScheduling(t);
  const { id } = await create({ format: 'pdf' });
  const sent = await service.call('POST', `${SCHEDULES}/${id}/send`);
  assert.equal(sent.status, 200, sent.text);
  await sendDue();
  const mail = sink.taken[0]!.raw.toString();
  assert.match(
    mail,
    /Content-Type: application\/pdf;[\s\S]*filename="?deliverability-2026-11-21\.pdf/,
  );
  const [, content = ''] =
    /filename="?deliverability[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(mail) ?? [];
  assert.equal(Buffer.from(content, 'base64').subarray(0, 5).toString(), '%PDF-');
});

test('The PDF report’s file name uses the date in the schedule’s time zone', async (t) => {
  const { create, clock, makeDue, sendDue, sink } = await startScheduling(t);
  // Midnight in Kolkata is 18:30 UTC, 07:00 in Auckland is 18:00 UTC.
  await create({ format: 'pdf', timezone: 'Asia/Kolkata', send_hour: 0 });
  await create({ format: 'pdf', timezone: 'Pacific/Auckland', send_hour: 7 });
  clock.set(Date.UTC(2026, 10, 21, 18, 30));
  await makeDue();
  await sendDue();
  const names = sink.taken.map(({ raw }) => /deliverability-[\d-]+\.pdf/.exec(String(raw))?.[0]);
  assert.deepEqual(names, ['deliverability-2026-11-22.pdf', 'deliverability-2026-11-22.pdf']);
});

test('Password reset mail is sent ahead of queued report copies', async (t) => {
  const { service, create, clock, makeDue, sendDue, sink } = await startScheduling(t);
  await create({ recipients: Array.from({ length: 50 }, (_, i) => `r${i}@example.com`) });
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  clock.advance(1000);
  const json = { email: 'owner@example.com' };
  const { status } = await service.call('POST', '/v1/password_resets', { json, key: null });
  assert.equal(status, 202);
  // One batch, with at most three bulk emails.
  await sendDue();
  const readers = sink.taken.map(({ to }) => to[0]!);
  assert.ok(readers.includes('owner@example.com'), readers.join());
  assert.equal(readers.length, 4);
});

test('Report charts are rendered once and shared by all copies', async (t) => {
  const { service, create } = await startScheduling(t);
  const { app } = service;
  const { id } = await create({ recipients: READERS });
  await tally(app, '2026-11-20T09:00:00.000Z');
  const row = await scheduleOr404(app.db, id);
  const at = app.clock.now();
  const period = periodUntil(row, at);
  const mails = [
    ...(await composeReportMails(app, row, audiencesOf(row)[0]!, { period, at })).values(),
  ];
  assert.equal(mails.length, 3);
  const [first, ...others] = mails.map(({ images }) => images!.map(({ content }) => content));
  assert.equal(first!.length, 2);
  for (const images of others)
    for (const [i, content] of images.entries()) assert.equal(content, first![i]);
});

test('last_sent_at is the time the server last accepted a copy', async (t) => {
  const sink = await startMailSink(t);
  const { service, create, get, clock, sendDue } = await startScheduling(t, { sink });
  const { id } = await create();
  const send = () => service.call('POST', `${SCHEDULES}/${id}/send`);
  sink.refuse = { at: 'rcpt', code: 450, text: 'later' };
  await send();
  await sendDue();
  assert.equal((await get(id)).last_sent_at, null);
  sink.refuse = null;
  clock.advance(30_000);
  await send();
  await sendDue();
  assert.equal((await get(id)).last_sent_at, '2026-11-21T10:00:30.000Z');
  // The retry of the first copy is sent after the second copy.
  clock.advance(30_000);
  await sendDue();
  assert.equal((await get(id)).last_sent_at, '2026-11-21T10:01:00.000Z');
});

test('After an outage only the last missed report is sent', async (t) => {
  const { create, runs, clock, makeDue } = await startScheduling(t, { mute: true });
  const { id } = await create();
  clock.advance(20 * DAY_MS + 5 * HOUR_MS);
  await makeDue();
  await makeDue();
  assert.deepEqual(
    (await runs(id)).map(({ slot, created_at }) => [slot, created_at]),
    [['2026-12-11T08:00:00.000Z', '2026-12-11T15:00:00.000Z']],
  );
});

test('A clock set back sends no report twice and postpones none for years', async (t) => {
  const { create, get, runs, clock, makeDue } = await startScheduling(t, { mute: true });
  const { id } = await create();
  const slots = async () => (await runs(id)).map(({ slot }) => slot!.slice(0, 10)).reverse();
  const start = clock.now();
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  // Back by some hours: the same send time is reached again.
  clock.advance(-3 * HOUR_MS);
  await makeDue();
  clock.advance(4 * HOUR_MS);
  await makeDue();
  assert.deepEqual(await slots(), ['2026-11-22']);
  assert.equal((await get(id)).next_send_at, '2026-11-23T08:00:00.000Z');
  // Years ahead, and back again.
  clock.set(Date.UTC(2031, 0, 1, 12));
  await makeDue();
  assert.equal((await get(id)).next_send_at, '2031-01-02T08:00:00.000Z');
  clock.set(start + 2 * DAY_MS);
  await makeDue();
  assert.equal((await get(id)).next_send_at, '2026-11-24T08:00:00.000Z');
  clock.advance(DAY_MS);
  await makeDue();
  assert.deepEqual(await slots(), ['2026-11-22', '2031-01-01', '2026-11-24']);
  // Back to before reports that were sent: these are skipped.
  clock.set(Date.UTC(2026, 10, 20, 1));
  for (let hour = 0; hour < 6 * 24; hour++) {
    await makeDue();
    clock.advance(HOUR_MS);
  }
  const again = ['2026-11-20', '2026-11-21', '2026-11-23', '2026-11-25'];
  assert.deepEqual((await slots()).slice(3), again);
});

test('Report run results outlast the outbox and are deleted after 400 days', async (t) => {
  const sink = await startMailSink(t, {
    onRcptTo({ address }, _session, done) {
      const responseCode = address === READERS[1] ? 550 : null;
      done(responseCode ? Object.assign(new Error('no'), { responseCode }) : null);
    },
  });
  const { service, create, runs, clock, makeDue, sendDue } = await startScheduling(t, { sink });
  const { app } = service;
  const { id } = await create({ recipients: READERS.slice(0, 2) });
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  await sendDue();
  const before = await runs(id);
  assert.deepEqual(statuses(before[0]!), ['sent', 'failed']);
  clock.advance(31 * DAY_MS);
  await expireMail(app);
  assert.deepEqual(await app.db.selectFrom('outbox').selectAll().execute(), []);
  assert.deepEqual(await runs(id), before);
  clock.advance(369 * DAY_MS - 1);
  await expireReportRuns(app);
  assert.equal((await runs(id)).length, 1);
  clock.advance(2);
  await expireReportRuns(app);
  assert.deepEqual(await runs(id), []);
  assert.deepEqual(await app.db.selectFrom('report_copies').selectAll().execute(), []);
  assert.equal(sink.taken.length, 1);
});

test('Deleting a report schedule cancels queued copies and deletes its runs', async (t) => {
  const { service, create, clock, makeDue, sendDue, sink } = await startScheduling(t);
  const { id } = await create();
  clock.advance(UNTIL_DUE_MS);
  await makeDue();
  assert.equal((await service.call('DELETE', `${SCHEDULES}/${id}`)).status, 200);
  await sendDue();
  assert.equal(sink.taken.length, 0);
  const mail = await service.app.db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([mail.status, mail.content], ['failed', null]);
  for (const table of ['report_runs', 'report_copies', 'report_readers'] as const)
    assert.deepEqual(await service.app.db.selectFrom(table).selectAll().execute(), []);
});

// A due report keeps its time when the schedule changes. The new times apply after it.

const AT_EIGHT = Date.UTC(2026, 10, 22, 8);

/** A schedule with a due report that no job has claimed. */
async function startOverdue(t: TestContext, late: number, json: object = {}) {
  const scheduling = await startScheduling(t);
  const { service, create, clock, runs } = scheduling;
  const { id } = await create(json);
  clock.set(AT_EIGHT + late);
  return {
    ...scheduling,
    id,
    async patch(json: object) {
      const { status, text } = await service.call('PATCH', `${SCHEDULES}/${id}`, { json });
      assert.equal(status, 200, text);
    },
    async told() {
      const all = await runs(id);
      return all.map(({ slot, period_from, period_to }) =>
        [slot, period_from, period_to].map((time) => time!.slice(5, 16)),
      );
    },
  };
}

test('A report already due is sent once at its old time when the schedule changes', async (t) => {
  const { id, patch, get, told, makeDue, clock } = await startOverdue(t, HOUR_MS);
  await patch({ send_hour: 12 });
  await patch({ timezone: 'Europe/Berlin' });
  assert.equal((await get(id)).next_send_at, '2026-11-22T08:00:00.000Z');
  await makeDue();
  await makeDue();
  // The day in the new zone.
  const day = ['11-20T23:00', '11-21T23:00'];
  const first = ['11-22T08:00', ...day];
  assert.deepEqual(await told(), [first]);
  assert.equal((await get(id)).next_send_at, '2026-11-22T11:00:00.000Z');
  clock.advance(2 * HOUR_MS);
  await makeDue();
  assert.deepEqual(await told(), [['11-22T11:00', ...day], first]);
});

test('A due report covers a whole period after a schedule change', async (t) => {
  const { patch, told, makeDue } = await startOverdue(t, 60_000);
  await patch({ send_hour: 7 });
  await makeDue();
  assert.deepEqual(await told(), [['11-22T08:00', '11-21T00:00', '11-22T00:00']]);
});

test('A due report switched from daily to weekly covers a whole week', async (t) => {
  const { id, patch, get, told, makeDue } = await startOverdue(t, 60_000);
  await patch({ frequency: 'weekly', weekday: 'friday' });
  await makeDue();
  assert.deepEqual(await told(), [['11-22T08:00', '11-15T00:00', '11-22T00:00']]);
  assert.equal((await get(id)).next_send_at, '2026-11-27T08:00:00.000Z');
});

test('The last of several missed reports is sent; a disabled schedule sends none', async (t) => {
  const { id, patch, get, told, makeDue, clock } = await startOverdue(t, 3 * DAY_MS + HOUR_MS);
  await patch({ send_hour: 20 });
  assert.equal((await get(id)).next_send_at, '2026-11-25T08:00:00.000Z');
  await makeDue();
  assert.deepEqual(
    (await told()).map(([slot]) => slot),
    ['11-25T08:00'],
  );
  clock.set(Date.UTC(2026, 10, 25, 21));
  await patch({ enabled: false });
  await makeDue();
  await patch({ enabled: true });
  await makeDue();
  assert.equal((await told()).length, 1);
  assert.equal((await get(id)).next_send_at, '2026-11-26T20:00:00.000Z');
});

test('A change while a report is composed recomposes it for the same time', async (t) => {
  const { id, service, patch, get, told, makeDue, sendDue, sink } = await startOverdue(t, 60_000, {
    format: 'pdf',
  });
  const { reportRenderer: reporter } = service.app;
  const { render } = reporter;
  let made = 0;
  reporter.render = async (job) => {
    made += 1;
    if (made === 1) {
      await patch({ send_hour: 9, recipients: ['new@example.com'] });
      // The lease keeps other jobs from claiming it.
      await makeDueElsewhere();
    }
    return render(job);
  };
  const other = sendReportsJob(service.app);
  const makeDueElsewhere = async () => {
    await other.run();
    await other.idle!();
  };
  await makeDue();
  assert.deepEqual([made, await told()], [1, []]);
  assert.equal((await get(id)).next_send_at, '2026-11-22T08:00:00.000Z');
  await makeDue();
  assert.equal(made, 2);
  await sendDue();
  assert.deepEqual(
    sink.taken.map(({ to }) => to[0]),
    ['new@example.com'],
  );
  assert.deepEqual(
    (await told()).map(([slot]) => slot),
    ['11-22T08:00'],
  );
  assert.equal((await get(id)).next_send_at, '2026-11-22T09:00:00.000Z');
});
