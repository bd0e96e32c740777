/** Incidents that end before they are announced: no "Alert" follows a resolution, on any channel. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { sendDigests } from '../../src/alerts/channels/alert-mail.ts';
import { notifyJob } from '../../src/alerts/channels/posts.ts';
import { closeIncidentsJob } from '../../src/alerts/incidents.ts';
import { sendMailJob } from '../../src/outbox/send.ts';
import { type Alerting, startAlerting } from './alerting.ts';

const MIN_MS = 60_000;
const LATER = { at: 'rcpt', code: 451, text: '4.7.1 try again later' } as const;

const statesOf = async ({ incidents }: Alerting) =>
  (await incidents())[0]!.notifications.map(({ status, error }) => [
    status,
    error?.slice(0, 51) ?? null,
  ]);

const SUPPRESSED = ['suppressed', 'the incident was resolved before this could be sent'];

test('Alert mail deferred by the server is not sent after the incident is resolved', async (t) => {
  const alerting = await startAlerting(t);
  const { clock, sink, makeAlert, complete, sendDue } = alerting;
  await makeAlert({ recipients: ['ops@example.com', 'dev@example.com'] });
  sink.refuse = LATER;
  await complete({ score: 1 });
  await sendDue();
  clock.advance(30 * MIN_MS);
  await complete({ score: 90 });
  sink.refuse = null;
  for (let i = 0; i < 20; i++) {
    clock.advance(60 * MIN_MS);
    await sendDue();
  }
  const mails = await Promise.all(sink.taken.map(({ raw }) => PostalMime.parse(raw)));
  assert.deepEqual(mails.map(({ to }) => to![0]!.address).sort(), [
    'dev@example.com',
    'ops@example.com',
  ]);
  for (const { subject, text } of mails) {
    assert.equal(subject, 'Resolved: Mail from example.com scored 90, no longer below 70');
    assert.match(text!, /Since: 21 Nov 2026, 10:00 UTC/);
    assert.match(text!, /Until: 21 Nov 2026, 10:30 UTC/);
  }
  assert.deepEqual(
    (await statesOf(alerting)).map(([status]) => status),
    ['suppressed', 'suppressed', 'sent', 'sent'],
  );
});

test('Alert mail in transmission when the incident ends is sent or never retried', async (t) => {
  for (const arrives of [true, false]) {
    const alerting = await startAlerting(t);
    const { app, clock, sink, makeAlert, complete } = alerting;
    await makeAlert({ recipients: ['ops@example.com'] });
    await complete({ score: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    sink.hold = promise;
    if (!arrives) sink.refuse = { ...LATER, at: 'data' };
    const job = sendMailJob(app);
    await job.run();
    await complete({ score: 90 });
    assert.deepEqual((await statesOf(alerting))[0], SUPPRESSED);
    resolve();
    await job.idle!();
    sink.refuse = null;
    clock.advance(600 * MIN_MS);
    await job.run();
    await job.idle!();
    assert.deepEqual(await statesOf(alerting), [
      arrives ? ['sent', null] : SUPPRESSED,
      ['sent', null],
    ]);
  }
});

test('An alert digest is sent although one of its incidents is resolved', async (t) => {
  const alerting = await startAlerting(t);
  const { app, makeAlert, complete, incidents } = alerting;
  await makeAlert({ recipients: ['ops@example.com'] });
  for (let i = 0; i < 23; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  await sendDigests(app);
  await complete({ score: 90, from_domain: 'd22.example' });
  const [last, before] = await incidents('?limit=2');
  assert.deepEqual(
    [last, before].map((one) => one!.notifications[0]!.status),
    ['queued', 'queued'],
  );
  const mails = await app.db.selectFrom('outbox').select('status').execute();
  assert.ok(mails.length > 20 && mails.every(({ status }) => status === 'queued'));
});

test('Incidents being closed are neither notified nor listed as open', async (t) => {
  const alerting = await startAlerting(t);
  const { app, service, slack, sink, makeAlert, complete, incidents, sendDue } = alerting;
  const { id } = await makeAlert({ channels: ['slack', 'email'] });
  const job = notifyJob(app);
  for (let i = 0; i < 30; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  const path = `/v1/alerts/${id}`;
  assert.equal((await service.call('PATCH', path, { json: { threshold: 60 } })).status, 200);
  // All of them are still to be closed.
  const rows = await app.db
    .selectFrom('alert_incidents')
    .select('closing_id')
    .where('status', '=', 'open')
    .execute();
  assert.equal(rows.filter(({ closing_id }) => closing_id !== null).length, 30);
  assert.equal((await service.call<{ state: string }>('GET', path)).body.state, 'ok');
  assert.deepEqual(await incidents('?status=open'), []);
  const listed = await incidents('?status=resolved&limit=100');
  assert.equal(listed.length, 30);
  for (const { status, resolution, resolved_at } of listed)
    assert.deepEqual(
      [status, resolution, resolved_at],
      ['resolved', 'alert_changed', '2026-11-21T10:00:00.000Z'],
    );
  await sendDigests(app);
  await sendDue();
  await job.run();
  await job.idle!();
  assert.deepEqual([slack.requests.length, sink.taken.length], [0, 0]);
  alerting.clock.advance(MIN_MS);
  await closeIncidentsJob(app).run();
  await sendDigests(app);
  await sendDue();
  assert.deepEqual([slack.requests.length, sink.taken.length], [0, 0]);
  const closed = await incidents('?status=resolved&limit=100');
  const without = (all: typeof closed) => all.map(({ notifications, ...rest }) => rest);
  assert.deepEqual(without(closed), without(listed));
  for (const { notifications } of closed)
    assert.ok(notifications.every(({ status }) => status === 'suppressed'));
});

test('A claimed Slack post is suppressed when its incident is being closed', async (t) => {
  const alerting = await startAlerting(t);
  const { app, slack, makeAlert, complete, incidents, sendDue } = alerting;
  await makeAlert({ channels: ['slack'] });
  await complete({ score: 1 });
  // The state after a change between the claim and the post.
  await app.db.updateTable('alert_incidents').set({ closing_id: 'req_1' }).execute();
  await sendDue();
  assert.deepEqual(slack.requests, []);
  const [one] = await incidents('?status=resolved');
  assert.equal(one!.notifications[0]!.status, 'suppressed');
});
