/** Many incidents at once: the email limit, the priority of other mail, and closing in batches. */

import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { sendDigests } from '../../src/alerts/channels/alert-mail.ts';
import { closeIncidentsJob } from '../../src/alerts/incidents.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { queueMail } from '../../src/outbox/queue.ts';
import { claimDueMail } from '../../src/outbox/send.ts';
import { type Alerting, startAlerting } from './alerting.ts';

const MIN_MS = 60_000;

async function sendAll({ sink, sendDue }: Alerting): Promise<void> {
  for (let before = -1; before < sink.taken.length; ) {
    before = sink.taken.length;
    await sendDue();
  }
}

test('A rule sends 20 mails an hour per recipient, then one digest of the rest', async (t) => {
  const alerting = await startAlerting(t);
  const { app, clock, sink, makeAlert, complete, incidents, events } = alerting;
  const { id } = await makeAlert({ recipients: ['ops@example.com'] });
  const other = await makeAlert({ recipients: ['dev@example.com'], condition: 'auth_fail' });
  for (let i = 0; i < 57; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  await complete({ score: 90, from_domain: 'd56.example' });
  await sendAll(alerting);
  assert.equal(sink.taken.length, 20);
  const waiting = async () =>
    (await incidents('?limit=100')).filter(
      ({ notifications: [first] }) => first!.status !== 'sent',
    );
  const [one, ...more] = await waiting();
  assert.equal(more.length, 36);
  assert.equal(one!.notifications[0]!.status, 'queued');
  assert.match(one!.notifications[0]!.error!, /^the hourly limit of 20 emails is reached: /);
  // Every incident is stored and sent to webhooks.
  assert.equal((await incidents('?limit=100')).length, 57);
  const stored = await app.db.selectFrom('events').select('id').execute();
  assert.equal(stored.length, 58);
  await sendDigests(app);
  await sendDigests(app);
  await sendAll(alerting);
  assert.equal(sink.taken.length, 21);
  const combined = await PostalMime.parse(sink.taken[20]!.raw);
  assert.equal(combined.subject, '38 more alerts from “Low score” (37 opened, 1 resolved)');
  assert.match(combined.text!, /37 more incidents were opened, and 1 was resolved\./);
  assert.ok(combined.text!.includes(`${app.config.APP_URL}/alerts/${id}`));
  assert.deepEqual(await waiting(), []);
  // The other rule, and the next hour, have their own limit of twenty.
  await complete({ spf: 'fail', from_domain: 'd57.example' });
  clock.advance(61 * MIN_MS);
  await complete({ score: 1, from_domain: 'd58.example' });
  await sendAll(alerting);
  assert.equal(sink.taken.length, 23);
  assert.equal((await events()).at(-1)!.type, 'alert.triggered');
  assert.notEqual(other.id, id);
});

test('A pending digest omits incidents of a deleted rule', async (t) => {
  const alerting = await startAlerting(t);
  const { app, service, makeAlert, complete } = alerting;
  const { id } = await makeAlert({ recipients: ['ops@example.com'] });
  for (let i = 0; i < 22; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  await service.call('DELETE', `/v1/alerts/${id}`);
  await sendDigests(app);
  const failed = await app.db
    .selectFrom('alert_notifications')
    .select('error')
    .where('status', '=', 'failed')
    .execute();
  assert.deepEqual(
    failed.map(({ error }) => error),
    Array(2).fill('the alert rule was deleted before this notification was sent'),
  );
});

test('A pending digest is marked unconfigured when outgoing mail is disabled', async (t) => {
  const { app, makeAlert, complete, incidents } = await startAlerting(t);
  await makeAlert({ recipients: ['ops@example.com'] });
  for (let i = 0; i < 21; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  app.mailer = null;
  await sendDigests(app);
  const [held] = await incidents('?limit=1');
  const [{ status, error }] = held!.notifications as [(typeof held & {})['notifications'][0]];
  assert.deepEqual(
    [status, error],
    [
      'unconfigured',
      'outgoing email is not configured: set DELIVERABILITY_MAIL_URL and DELIVERABILITY_MAIL_FROM',
    ],
  );
});

test('Mail to people takes precedence over alert mail', async (t) => {
  const { app, makeAlert, complete } = await startAlerting(t);
  await makeAlert({ recipients: ['ops@example.com'] });
  for (let i = 0; i < 10; i++) await complete({ score: 1, from_domain: `d${i}.example` });
  const mail = { to: 'ada@example.com', subject: 'Your link', text: 'x', html: '<p>x</p>' };
  const id = await app.db.transaction().execute((tx) => queueMail(tx, app, mail));
  const [first, ...rest] = await claimDueMail(app, 5, 3);
  assert.equal(first!.id, id);
  assert.equal(rest.length, 3);
  assert.equal((await claimDueMail(app, 5, 0)).length, 0);
});

/** Inserts many open incidents of a rule directly. */
async function openMany({ app }: Alerting, alert_id: string, count: number): Promise<void> {
  const opened_at = isoTime(app.clock.now());
  await app.db.transaction().execute(async (tx) => {
    for (let from = 0; from < count; from += 500) {
      const rows = Array.from({ length: Math.min(500, count - from) }, (_, i) => ({
        id: app.newId('inc'),
        alert_id,
        subject: `d${from + i}.example`,
        opened_at,
        status: 'open' as const,
        value: '{"score":1,"threshold":70}',
        condition: 'score_below' as const,
        threshold: 70,
      }));
      await tx.insertInto('alert_incidents').values(rows).execute();
    }
  });
}

const MANY = Number(process.env.ALERT_FLOOD ?? 2000);

test(`Changing a rule with ${MANY} incidents responds at once and closes them in batches`, async (t) => {
  const alerting = await startAlerting(t);
  const { app, service, makeAlert, complete, incidents } = alerting;
  const { id } = await makeAlert({ channels: ['webhook'] });
  await openMany(alerting, id, MANY);
  const longest = monitorEventLoopDelay({ resolution: 5 });
  longest.enable();
  const json = { threshold: 50 };
  const { status, body } = await service.call('PATCH', `/v1/alerts/${id}`, { json });
  assert.deepEqual([status, body.state], [200, 'ok']);
  // Not closed yet, but the changed rule can open a new one.
  await complete({ score: 1, from_domain: 'd0.example' });
  const [newest] = await incidents('?status=open&limit=1');
  assert.deepEqual(newest!.value, { score: 1, threshold: 50 });
  // Other work runs in between: at most 25 are closed at a time.
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  await closeIncidentsJob(app).run();
  isOver = true;
  assert.ok(turns >= MANY / 25, `it let others go on ${turns} times`);
  const events = await app.db
    .selectFrom('events')
    .select(['id', 'data'])
    .where('type', '=', 'alert.resolved')
    .execute();
  assert.equal(events.length, MANY);
  const { alert, resolution } = JSON.parse(events[0]!.data);
  assert.deepEqual([alert.threshold, alert.state, resolution], [50, 'ok', 'alert_changed']);
  assert.deepEqual(
    (await incidents('?status=open')).map((one) => one.id),
    [newest!.id],
  );
  assert.deepEqual(await app.db.selectFrom('alert_closings').selectAll().execute(), []);
  t.diagnostic(`the process stood still for ${Math.round(longest.max / 1e6)} ms at most`);
});

test('Deleting a rule with many incidents emits alert.resolved for each', async (t) => {
  const alerting = await startAlerting(t);
  const { app, service, slack, makeAlert } = alerting;
  const json = { url: slack.url, events: ['alert.resolved'] };
  await service.call('POST', '/v1/webhooks/endpoints', { json });
  const { id } = await makeAlert({ channels: ['webhook'] });
  await openMany(alerting, id, 60);
  assert.equal((await service.call('DELETE', `/v1/alerts/${id}`)).status, 200);
  await closeIncidentsJob(app).run();
  const delivered = await app.db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'event_id')
    .select('data')
    .execute();
  assert.equal(delivered.length, 60);
  for (const { data } of delivered) {
    const { alert, resolution, notifications } = JSON.parse(data);
    assert.deepEqual([alert.id, resolution], [id, 'alert_deleted']);
    assert.deepEqual(
      notifications.map((one: { channel: string }) => one.channel),
      ['webhook'],
    );
  }
});
