/** Recipients unsubscribe with the link in an email, by email client or by hand, and resubscribe. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ReportRun } from '../../src/schedules/schema.ts';
import { getPage, mainOf, postForm } from '../dashboard/pages.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { auditOf } from '../team/team-service.ts';
import { SCHEDULES, type Scheduling, startScheduling, unsubscribePath } from './scheduling.ts';

const ONE_CLICK = 'List-Unsubscribe=One-Click';
const READERS = ['ann@example.com', 'bob@example.net'];

/** A schedule that has been sent, with the unsubscribe link of each recipient. */
async function startRead(t: TestContext, json: object = {}) {
  const scheduling = await startScheduling(t, {
    env: { DELIVERABILITY_APP_URL: 'https://reports.example' },
  });
  const { id } = await scheduling.create({ recipients: READERS, ...json });
  await sendNow(scheduling, id);
  const links = new Map(scheduling.sink.taken.map(({ to, raw }) => [to[0]!, unsubscribePath(raw)]));
  return {
    ...scheduling,
    id,
    ann: links.get('ann@example.com')!,
    bob: links.get('bob@example.net')!,
  };
}

async function sendNow({ service, sendDue }: Scheduling, id: string): Promise<void> {
  const { status, text } = await service.call('POST', `${SCHEDULES}/${id}/send`);
  assert.equal(status, 200, text);
  await sendDue();
}

const readersOf = ({ sink }: Pick<Scheduling, 'sink'>) => sink.taken.map(({ to }) => to[0]);

test('One-click unsubscribe works with one POST and is idempotent', async (t) => {
  const read = await startRead(t);
  const { service, id, ann, get, clock } = read;
  for (let i = 0; i < 2; i++) {
    const response = await fetch(service.url + ann, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Gmail' },
      body: ONE_CLICK,
      redirect: 'manual',
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('set-cookie'), null);
    clock.advance(1000);
  }
  const { unsubscribed } = await get(id);
  assert.deepEqual(unsubscribed, [
    { email: 'ann@example.com', left_at: '2026-11-21T10:00:00.000Z' },
  ]);
  const noted = await auditOf(service, { object_id: id, action: 'report_schedule.unsubscribed' });
  assert.deepEqual(noted, [['report_schedule.unsubscribed', { email: 'ann@example.com' }]]);
  await sendNow(read, id);
  assert.deepEqual(readersOf(read).slice(2), ['bob@example.net']);
  const [run] = await read.runs(id);
  assert.deepEqual(
    run!.copies.map(({ status }) => status),
    ['unsubscribed', 'sent'],
  );
  assert.equal(run!.status, 'sent');
});

test('One-click unsubscribe accepts multipart forms and cross-site requests', async (t) => {
  const { service, id, ann, bob, get } = await startRead(t);
  const parts = new FormData();
  parts.set('List-Unsubscribe', 'One-Click');
  const foreign = { origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' };
  const first = await fetch(service.url + ann, { method: 'POST', body: parts, headers: foreign });
  assert.equal(first.status, 200);
  assert.equal(
    (await postForm(service, bob, { 'List-Unsubscribe': 'One-Click' }, foreign)).status,
    200,
  );
  const left = await get(id);
  assert.deepEqual(
    left.unsubscribed.map(({ email }) => email),
    READERS,
  );
  assert.match(left.detail!, /All recipients have unsubscribed/);
});

test('GET on the unsubscribe page changes nothing; its form unsubscribes and resubscribes', async (t) => {
  const { service, id, ann, get } = await startRead(t, { name: 'Week & <b>month</b>' });
  for (let i = 0; i < 3; i++) {
    const { status, html, headers, cookie } = await getPage(service, ann);
    assert.equal(status, 200);
    assert.match(
      mainOf(html),
      /ann@example\.com gets the report “Week & <b>month<\/b>” every day\./,
    );
    assert.deepEqual(
      ['referrer-policy', 'cache-control', 'x-robots-tag'].map((name) => headers.get(name)),
      ['no-referrer', 'no-store', 'noindex'],
    );
    assert.equal(cookie, null);
    assert.match(html, /name="referrer" content="no-referrer"/);
    assert.deepEqual((await get(id)).unsubscribed, []);
  }
  const press = async (html: string) => {
    const [, name, value] = /<input type="hidden" name="([^"]+)" value="([^"]+)"/.exec(html)!;
    // With no-referrer, browsers send a null origin.
    return postForm(service, ann, { [name!]: value! }, { origin: 'null' });
  };
  const left = await press((await getPage(service, ann)).html);
  assert.match(
    mainOf(left.html),
    /You're unsubscribed\. A report that was already sent may still arrive\./,
  );
  assert.equal((await get(id)).unsubscribed.length, 1);
  assert.match(mainOf((await getPage(service, ann)).html), /Resubscribe/);
  const back = await press(left.html);
  assert.match(mainOf(back.html), /You.re subscribed again\./);
  assert.deepEqual((await get(id)).unsubscribed, []);
});

test('An unsubscribed recipient stays unsubscribed when removed and added again', async (t) => {
  const read = await startRead(t);
  const { service, id, ann, get } = read;
  await postForm(service, ann, { 'List-Unsubscribe': 'One-Click' });
  const patch = (recipients: string[]) =>
    service.call('PATCH', `${SCHEDULES}/${id}`, { json: { recipients } });
  await patch(['bob@example.net']);
  assert.equal((await get(id)).unsubscribed.length, 1);
  await patch(['Ann@EXAMPLE.com', 'bob@example.net']);
  await sendNow(read, id);
  assert.deepEqual(readersOf(read).slice(2), ['bob@example.net']);
  await postForm(service, ann, { Subscribe: 'Again' });
  await sendNow(read, id);
  assert.deepEqual(readersOf(read).slice(3).toSorted(), READERS);
  const links = read.sink.taken.filter(({ to }) => to[0] === READERS[0]);
  assert.deepEqual(new Set(links.map(({ raw }) => unsubscribePath(raw))), new Set([ann]));
});

test('A report whose recipients have all unsubscribed fails with that reason', async (t) => {
  const read = await startRead(t, { recipients: ['ann@example.com'] });
  await postForm(read.service, read.ann, { 'List-Unsubscribe': 'One-Click' });
  await sendNow(read, read.id);
  const [run] = await read.runs(read.id);
  assert.equal(run!.status, 'failed');
  assert.match(run!.error!, /all recipients have unsubscribed/);
  assert.equal(read.sink.taken.length, 1);
});

test('Unsubscribing cancels a queued report copy', async (t) => {
  const sink = await startMailSink(t);
  const scheduling = await startScheduling(t, { sink });
  const { service, create, clock, sendDue } = scheduling;
  const { id } = await create({ recipients: READERS });
  await sendNow(scheduling, id);
  const path = unsubscribePath(sink.taken.find(({ to }) => to[0] === READERS[0])!.raw);
  sink.refuse = { at: 'rcpt', code: 450, text: 'later' };
  await sendNow(scheduling, id);
  await postForm(service, path, { 'List-Unsubscribe': 'One-Click' });
  sink.refuse = null;
  clock.advance(60_000);
  await sendDue();
  assert.deepEqual(readersOf({ sink }).slice(2), ['bob@example.net']);
  const [run] = await scheduling.runs(id);
  assert.deepEqual(
    run!.copies.map(({ status }) => status),
    ['unsubscribed', 'sent'],
  );
});

test('A copy accepted after its recipient unsubscribed is recorded as sent', async (t) => {
  const read = await startRead(t);
  const { service, sink, id, ann, runs, sendDue } = read;
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  sink.hold = promise;
  await service.call('POST', `${SCHEDULES}/${id}/send`);
  const sending = sendDue();
  while (sink.taken.length < 4) await new Promise(setImmediate);
  await postForm(service, ann, { 'List-Unsubscribe': 'One-Click' });
  const copies = async () =>
    (await runs(id))[0]!.copies.map(({ status, error }) => [status, error]);
  assert.deepEqual(await copies(), [
    ['unsubscribed', null],
    ['queued', null],
  ]);
  resolve();
  await sending;
  assert.deepEqual(await copies(), [
    ['sent', null],
    ['sent', null],
  ]);
  sink.hold = null;
  await sendNow(read, id);
  assert.deepEqual(readersOf(read).slice(4), ['bob@example.net']);
});

test('Unsubscribe rejects invalid forms with 422 and unknown links with 404', async (t) => {
  const { service, id, ann, get } = await startRead(t);
  for (const fields of [{}, { 'List-Unsubscribe': 'no' }, { Subscribe: 'x' }])
    assert.equal((await postForm(service, ann, fields as never)).status, 422);
  const broken = { 'content-type': 'multipart/form-data; boundary=x' };
  const answer = await fetch(service.url + ann, {
    method: 'POST',
    headers: broken,
    body: '--x\r\n',
  });
  assert.equal(answer.status, 422);
  const plain = await fetch(service.url + ann, { method: 'POST', body: ONE_CLICK });
  assert.equal(plain.status, 415);
  assert.deepEqual((await get(id)).unsubscribed, []);
  for (const path of [
    '/unsubscribe/none',
    ann.slice(0, -1),
    `${ann}x`,
    ann.toUpperCase().replace('/UNSUBSCRIBE', '/unsubscribe'),
  ]) {
    assert.equal((await getPage(service, path)).status, 404, path);
    assert.equal((await postForm(service, path, { 'List-Unsubscribe': 'One-Click' })).status, 404);
  }
  await service.call('DELETE', `${SCHEDULES}/${id}`);
  assert.equal((await getPage(service, ann)).status, 404);
});

test('An unsubscribe link stays valid for a recipient removed and added again', async (t) => {
  const read = await startRead(t);
  const { service, id, ann, get } = read;
  const patch = (recipients: string[]) =>
    service.call('PATCH', `${SCHEDULES}/${id}`, { json: { recipients } });
  await patch(['bob@example.net']);
  const leave = { 'List-Unsubscribe': 'One-Click' };
  assert.equal((await postForm(service, ann, leave)).status, 200);
  await patch(READERS);
  assert.deepEqual(
    (await get(id)).unsubscribed.map(({ email }) => email),
    ['ann@example.com'],
  );
  await sendNow(read, id);
  assert.deepEqual(readersOf(read).slice(2), ['bob@example.net']);
});

test('Guessing unsubscribe links is rate limited with 429', async (t) => {
  const { service, ann } = await startRead(t);
  for (let i = 0; i < 60; i++) {
    await getPage(service, `/unsubscribe/guess${i}`);
    await postForm(service, `/unsubscribe/guess${i}`, {});
  }
  assert.equal((await getPage(service, ann)).status, 429);
  assert.equal((await postForm(service, ann, { 'List-Unsubscribe': 'One-Click' })).status, 429);
});

test('Database and log contain no unsubscribe tokens in clear text', async (t) => {
  const { service, ann } = await startRead(t);
  await getPage(service, ann);
  await getPage(service, `${ann}/`);
  await postForm(service, ann, { 'List-Unsubscribe': 'One-Click' });
  await fetch(service.url + ann, { method: 'PUT' });
  const token = ann.split('/').at(-1)!;
  const log = JSON.stringify(service.logged);
  assert.ok(log.includes('/unsubscribe/:token'), log);
  assert.ok(!log.includes(token));
  const kept = await storedBytes(service.app, service.folder);
  assert.ok(kept.includes('ann@example.com'));
  assert.ok(!kept.includes(token));
});

// Queued copies are canceled for removed recipients, and for all when the schedule is disabled.

const byRecipient = ({ copies }: ReportRun) => copies.map((one) => [one.recipient, one] as const);

/** A schedule whose mail server can refuse emails for a while. */
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
    /** Lets the mail server accept emails again and retries. */
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
const REMOVED = 'it was canceled: the recipient was removed from the report schedule';
const DISABLED = 'it was canceled: the report schedule was disabled';

test('Removing a recipient cancels their queued report copy with the reason', async (t) => {
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
    recipient: 'ann@example.com',
    ...FAILED,
    error: REMOVED,
  });
  assert.equal(of['bob@example.net']!.status, 'sent');
  assert.deepEqual(await known(), READERS, 'the links in sent emails keep working');
});

test('Disabling a report schedule cancels its queued copies', async (t) => {
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
    assert.deepEqual(of[recipient], { recipient, ...FAILED, error: DISABLED });
  assert.deepEqual(await known(), READERS);
  await send();
  await sendDue();
  assert.deepEqual(taken().toSorted(), READERS, 'a new report is sent');
});

test('Schedule changes that remove no recipient keep queued copies', async (t) => {
  const { patch, send, refuse, sendDue, sendAgain, taken } = await startWaiting(t);
  refuse();
  await send();
  await sendDue();
  await patch({ recipients: [...READERS, 'cid@example.org'], send_hour: 9, format: 'pdf' });
  await sendAgain();
  assert.deepEqual(taken().toSorted(), READERS);
});

test('A canceled copy that the server accepts is recorded as sent', async (t) => {
  const { patch, send, sendDue, sink, copies } = await startWaiting(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  sink.hold = promise;
  await send();
  const sending = sendDue();
  while (sink.taken.length < 2) await new Promise(setImmediate);
  await patch({ recipients: ['bob@example.net'] });
  assert.equal((await copies()).of['ann@example.com']!.error, REMOVED);
  resolve();
  await sending;
  const sent_at = '2026-11-21T10:00:00.000Z';
  const { status, of } = await copies();
  assert.equal(status, 'sent');
  for (const recipient of READERS)
    assert.deepEqual(of[recipient], { recipient, status: 'sent', error: null, sent_at });
});
