/** The delivery status of notifications, also after their emails and deliveries were deleted. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expireIncidents } from '../../src/alerts/jobs.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { expireMail } from '../../src/outbox/expire.ts';
import { deliverJob } from '../../src/webhooks/deliver.ts';
import { expireDeliveries } from '../../src/webhooks/expire.ts';
import { type Alerting, startAlerting } from './alerting.ts';

const DAY_MS = 86_400_000;

const firstOf = async ({ incidents }: Alerting) => (await incidents())[0]!.notifications[0]!;

test('Alert mail status stays failed or sent with its time after the outbox forgets it', async (t) => {
  const alerting = await startAlerting(t);
  const { app, clock, sink, makeAlert, complete, incidents, sendDue } = alerting;
  sink.refuse = { at: 'rcpt', code: 550, text: '5.1.1 no such mailbox' };
  await makeAlert({ recipients: ['ops@example.com'] });
  await complete({ score: 1 });
  await sendDue();
  const failed = await firstOf(alerting);
  assert.equal(failed.status, 'failed');
  assert.match(failed.error!, /550/);
  sink.refuse = null;
  const sent_at = isoTime(clock.now());
  await complete({ score: 90 });
  await sendDue();
  clock.advance(31 * DAY_MS);
  await expireMail(app);
  assert.deepEqual(await app.db.selectFrom('outbox').selectAll().execute(), []);
  const [{ notifications }] = (await incidents()) as [Awaited<ReturnType<typeof incidents>>[0]];
  assert.deepEqual(notifications, [
    failed,
    { channel: 'email', status: 'sent', error: null, sent_at },
  ]);
});

test('Alert mail that could not be sent within 7 days is marked failed', async (t) => {
  const alerting = await startAlerting(t);
  const { app, clock, makeAlert, complete } = alerting;
  await makeAlert({ recipients: ['ops@example.com'] });
  await complete({ score: 1 });
  clock.advance(8 * DAY_MS);
  await expireMail(app);
  clock.advance(30 * DAY_MS);
  await expireMail(app);
  const { status, error } = await firstOf(alerting);
  assert.deepEqual([status, error], ['failed', 'it could not be sent within 7 days']);
});

/** Creates an endpoint at the receiver and makes its deliveries once. */
async function withEndpoint(alerting: Alerting, events: string[]) {
  const { service, app, slack } = alerting;
  const json = { url: slack.url, events };
  const made = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { json });
  return {
    id: made.body.id,
    async deliver() {
      const job = deliverJob(app);
      await job.run();
      await job.idle!();
    },
  };
}

test('Alert webhook status follows its deliveries: queued, sent, failed or held', async (t) => {
  const alerting = await startAlerting(t);
  const { app, clock, slack, makeAlert, complete, incidents } = alerting;
  slack.respond = () => 500;
  const { deliver, id } = await withEndpoint(alerting, ['alert.triggered']);
  await makeAlert({ channels: ['webhook'] });
  await complete({ score: 1 });
  assert.deepEqual((await firstOf(alerting)).status, 'queued');
  await deliver();
  const waiting = await firstOf(alerting);
  assert.deepEqual(
    [waiting.status, waiting.error],
    ['queued', 'status 500: the server had an internal error'],
  );
  for (const minutes of [1, 5, 30, 120, 480]) {
    clock.advance(minutes * 60_000);
    await deliver();
  }
  const failed = await firstOf(alerting);
  assert.deepEqual(
    [failed.status, failed.error],
    ['failed', 'status 500: the server had an internal error'],
  );
  slack.respond = () => 200;
  await complete({ score: 1, from_domain: 'example.org' });
  await deliver();
  const sent = await firstOf(alerting);
  assert.deepEqual(sent, {
    channel: 'webhook',
    status: 'sent',
    error: null,
    sent_at: isoTime(clock.now()),
  });
  // An automatically disabled endpoint still counts as configured; its deliveries are held.
  const auto_disabled_at = isoTime(clock.now());
  await app.db
    .updateTable('webhook_endpoints')
    .set({ auto_disabled_at })
    .where('id', '=', id)
    .execute();
  await complete({ score: 1, from_domain: 'example.net' });
  const held = await firstOf(alerting);
  assert.equal(held.status, 'failed');
  assert.match(held.error!, /^held: .* recover/);
  // All statuses are kept after the deliveries expire.
  await expireIncidents(app);
  clock.advance(200 * DAY_MS);
  const kept = await incidents();
  await expireDeliveries(app);
  assert.deepEqual(await app.db.selectFrom('webhook_deliveries').selectAll().execute(), []);
  assert.deepEqual(await incidents(), kept);
});

test('Incidents resolved by a rule change are sent to webhooks only', async (t) => {
  const alerting = await startAlerting(t);
  const { service, makeAlert, complete, incidents } = alerting;
  await withEndpoint(alerting, ['alert.resolved']);
  const { id } = await makeAlert({ channels: ['webhook', 'email'] });
  await complete({ score: 1 });
  await service.call('PATCH', `/v1/alerts/${id}`, { json: { enabled: false } });
  const [incident] = await incidents();
  assert.deepEqual(
    incident!.notifications.map(({ channel, status }) => [channel, status]),
    [
      ['webhook', 'unconfigured'],
      // The user who changed the rule knows, so nobody is notified.
      ['email', 'suppressed'],
      ['webhook', 'queued'],
    ],
  );
});

test('Alert webhook status is kept when its endpoint is deleted', async (t) => {
  const alerting = await startAlerting(t);
  const { app, service, clock, makeAlert, complete, incidents } = alerting;
  const { deliver, id } = await withEndpoint(alerting, ['alert.triggered']);
  const other = await withEndpoint(alerting, ['alert.triggered']);
  await makeAlert({ channels: ['webhook'] });
  await complete({ score: 1 });
  await deliver();
  await complete({ score: 1, from_domain: 'example.org' });
  const states = async () =>
    (await incidents()).map(({ notifications: [one] }) => [one!.status, one!.error, one!.sent_at]);
  const remove = async (endpoint: string) => {
    const { status } = await service.call('DELETE', `/v1/webhooks/endpoints/${endpoint}`);
    assert.equal(status, 200);
    await expireDeliveries(app);
  };
  const sent = ['sent', null, isoTime(clock.now())];
  await remove(id);
  // The other delivery still has the status.
  assert.deepEqual(await states(), [['queued', null, null], sent]);
  await remove(other.id);
  const error = 'not delivered before its endpoint was deleted or its event expired';
  assert.deepEqual(await app.db.selectFrom('webhook_deliveries').selectAll().execute(), []);
  assert.deepEqual(await states(), [['failed', error, null], sent]);
  // The state in which nothing recorded the status in time.
  const lost = { status: 'queued' as const, error: null };
  await app.db.updateTable('alert_notifications').set(lost).execute();
  await expireIncidents(app);
  assert.deepEqual(
    (await states()).map(([status]) => status),
    ['failed', 'failed'],
  );
});

test('Alert webhook status is kept when its event is deleted', async (t) => {
  const alerting = await startAlerting(t);
  const { app, clock, makeAlert, complete } = alerting;
  const { deliver } = await withEndpoint(alerting, ['alert.triggered']);
  await makeAlert({ channels: ['webhook'] });
  await complete({ score: 1 });
  await deliver();
  const sent = await firstOf(alerting);
  assert.equal(sent.status, 'sent');
  clock.advance(200 * DAY_MS);
  await expireDeliveries(app);
  assert.deepEqual(await app.db.selectFrom('webhook_deliveries').selectAll().execute(), []);
  assert.deepEqual(await firstOf(alerting), sent);
});

test('Resolved incidents and samples are deleted after EVENT_RETENTION; 0 keeps all', async (t) => {
  for (const [retention, left] of [
    ['30d', 1],
    ['0', 3],
  ] as const) {
    const env = { DELIVERABILITY_EVENT_RETENTION: retention };
    const { app, service, clock, makeAlert, complete, incidents } = await startAlerting(t, { env });
    const { id } = await makeAlert({ channels: ['slack'] });
    await complete({ score: 1 });
    await complete({ score: 1, from_domain: 'example.org' });
    await complete({ score: 1, from_domain: 'example.net' });
    await complete({ score: 90 });
    await service.call('POST', `/v1/alerts/${id}/test`);
    await complete({ score: 90, from_domain: 'example.org' });
    clock.advance(29 * DAY_MS);
    await expireIncidents(app);
    assert.equal((await incidents()).length, 3);
    clock.advance(2 * DAY_MS);
    await expireIncidents(app);
    const all = await incidents();
    assert.equal(all.length, left);
    assert.equal(all.filter(({ status }) => status === 'open').length, 1);
    const rows = await app.db.selectFrom('alert_notifications').select('news').execute();
    assert.equal(rows.length, left === 1 ? 1 : 6);
  }
});
