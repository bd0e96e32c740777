/** Reminders of open incidents: when they are sent, what they say, and what ends them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendDigests } from '../../src/alerts/channels/alert-mail.ts';
import { sendReminders } from '../../src/alerts/reminders.ts';
import { memberOf } from '../dashboard/member.ts';
import { mainOf } from '../dashboard/pages.ts';
import { type Alerting, startAlerting } from './alerting.ts';

const HOUR_MS = 3_600_000;
const DAILY = { channels: ['slack', 'email', 'webhook'], reminder_hours: 24 };

const kindsOf = ({ slack }: Alerting): string[] =>
  slack.requests.map(({ body }) => JSON.parse(body).text.split(':')[0]);

const newsOf = async ({ app }: Alerting) =>
  (
    await app.db
      .selectFrom('alert_notifications')
      .select(['news', 'channel', 'status'])
      .orderBy('id')
      .execute()
  ).map(({ news, channel, status }) => `${news} ${channel} ${status}`);

/** Time passes, then what is due is sent. */
async function pass({ clock, remind, sendDue }: Alerting, hours: number): Promise<void> {
  clock.advance(hours * HOUR_MS);
  await remind();
  await sendDue();
}

test('Email and Slack remind of an open incident, and webhooks do not', async (t) => {
  const alerting = await startAlerting(t);
  const { makeAlert, complete, sendDue, events, sink } = alerting;
  await makeAlert(DAILY);
  await complete({ score: 40 });
  await sendDue();
  await pass(alerting, 23.9);
  assert.equal(sink.taken.length, 1);
  await pass(alerting, 0.1);
  await pass(alerting, 24);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder', 'Reminder']);
  assert.equal(sink.taken.length, 3);
  assert.match(
    sink.taken[1]!.raw.toString(),
    /Subject: Reminder: Mail from example\.com scored 40/,
  );
  assert.deepEqual(
    (await events()).map(({ type }) => type),
    ['alert.triggered'],
  );
  assert.deepEqual(
    (await newsOf(alerting)).filter((line) => line.includes('webhook')),
    ['triggered webhook unconfigured'],
  );
  await complete({ score: 90 });
  await pass(alerting, 24);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder', 'Reminder', 'Resolved']);
});

test('Nothing is repeated for a rule without reminders', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ channels: ['slack'] });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  await pass(alerting, 1000);
  assert.deepEqual(kindsOf(alerting), ['Alert']);
});

test('After a long time without service, an incident has one reminder', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ ...DAILY, channels: ['slack'] });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  await pass(alerting, 24 * 7);
  await pass(alerting, 0);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder']);
});

test('There is no reminder while the alert is still waiting to be posted', async (t) => {
  const alerting = await startAlerting(t);
  const { slack, app } = alerting;
  slack.respond = () => 500;
  await alerting.makeAlert({ channels: ['slack', 'email'], reminder_hours: 1 });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  await pass(alerting, 1.1);
  assert.deepEqual(await newsOf(alerting), [
    'triggered slack queued',
    'triggered email sent',
    'reminder email sent',
  ]);
  slack.respond = () => 200;
  await pass(alerting, 12);
  assert.equal(kindsOf(alerting).at(-1), 'Alert');
  await pass(alerting, 1);
  assert.equal(kindsOf(alerting).at(-1), 'Reminder');
  assert.ok(app);
});

test('A reminder that waits is not sent once the incident is resolved', async (t) => {
  const alerting = await startAlerting(t);
  const { slack } = alerting;
  await alerting.makeAlert({ ...DAILY, channels: ['slack', 'email'] });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  slack.respond = () => 500;
  alerting.clock.advance(24 * HOUR_MS);
  await alerting.remind();
  await alerting.complete({ score: 90 });
  slack.respond = () => 200;
  await pass(alerting, 24);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Resolved']);
  assert.deepEqual(await newsOf(alerting), [
    'triggered slack sent',
    'triggered email sent',
    'reminder slack suppressed',
    'reminder email suppressed',
    'resolved slack sent',
    'resolved email sent',
  ]);
});

test('A changed time, and its removal, apply to open incidents', async (t) => {
  const alerting = await startAlerting(t);
  const { service, incidents } = alerting;
  const { id } = await alerting.makeAlert({ channels: ['slack'] });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  const change = async (reminder_hours: number | null) => {
    const { status } = await service.call('PATCH', `/v1/alerts/${id}`, {
      json: { reminder_hours },
    });
    assert.equal(status, 200);
    const [incident] = await incidents();
    const path = `/v1/alert_incidents/${incident!.id}`;
    const { body } = await service.call<{ next_reminder_at: string | null }>('GET', path);
    return body.next_reminder_at;
  };
  assert.equal(await change(6), '2026-11-21T16:00:00.000Z');
  await pass(alerting, 6);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder']);
  assert.equal(await change(null), null);
  await pass(alerting, 500);
  assert.equal(await change(1), '2026-12-12T13:00:00.000Z');
  await service.call('PATCH', `/v1/alerts/${id}`, { json: { enabled: false } });
  await pass(alerting, 500);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder']);
  const audits = JSON.stringify(
    await alerting.app.db.selectFrom('audit_log').selectAll().execute(),
  );
  assert.match(audits, /reminder_hours/);
});

test('Two nodes send one reminder', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ ...DAILY, channels: ['slack'] });
  for (let index = 0; index < 25; index++)
    await alerting.complete({ score: 40, from_domain: `d${index}.example` });
  // A few at a time.
  while (kindsOf(alerting).length < 25) await alerting.sendDue();
  alerting.clock.advance(24 * HOUR_MS);
  await Promise.all([sendReminders(alerting.app), sendReminders(alerting.app)]);
  const reminders = (await newsOf(alerting)).filter((line) => line.startsWith('reminder'));
  assert.equal(reminders.length, 25);
});

test('Reminders count towards the hourly limit of emails, and the digest names them', async (t) => {
  const alerting = await startAlerting(t);
  const { sink, clock, complete, app, sendDue, remind } = alerting;
  await alerting.makeAlert({ channels: ['email'], reminder_hours: 24 });
  for (let index = 0; index < 22; index++) {
    if (index === 11) clock.advance(2 * HOUR_MS);
    await complete({ score: 40, from_domain: `d${index}.example` });
  }
  // A few at a time.
  while (sink.taken.length < 22) await sendDue();
  clock.advance(24 * HOUR_MS);
  await remind();
  while (sink.taken.length < 42) await sendDue();
  await sendDigests(app);
  await sendDue();
  assert.equal(sink.taken.length, 43);
  assert.match(sink.taken[42]!.raw.toString(), /0\s+were\s+resolved\.\s+2\s+are\s+still\s+open\./);
});

test('A clock that was ahead delays no reminder', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ ...DAILY, channels: ['slack'] });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  const far = { next_reminder_at: '2031-11-21T10:00:00.000Z' };
  await alerting.app.db.updateTable('alert_incidents').set(far).execute();
  await pass(alerting, 1);
  assert.deepEqual(kindsOf(alerting), ['Alert', 'Reminder']);
});

test('The form sets reminders, and the pages of the rule and the incident show them', async (t) => {
  const alerting = await startAlerting(t);
  const { service, incidents, complete, sendDue } = alerting;
  const owner = await memberOf(service, 'owner@example.com');
  const form = { name: 'Low', condition: 'score_below', threshold: '70', channels: ['slack'] };
  const refused = await owner.post('/alerts', { ...form, enabled: 'on', reminder_hours: '0' });
  assert.equal(refused.status, 422);
  assert.match(mainOf(refused.html), /time between reminders must be at least 1/);
  const made = await owner.post('/alerts', { ...form, enabled: 'on', reminder_hours: '12' });
  const path = made.location!.replace(/\?.*/, '');
  const { html } = await owner.get(path);
  assert.match(mainOf(html), /Every 12 hours while an incident is open/);
  assert.match(html, /name="reminder_hours"[^>]*value="12"|value="12"[^>]*name="reminder_hours"/);
  await complete({ score: 40 });
  await sendDue();
  await pass(alerting, 12);
  const [incident] = await incidents();
  // The session has expired meanwhile.
  const later = await memberOf(service, 'owner@example.com');
  const page = mainOf((await later.get(`/incidents/${incident!.id}`)).html);
  assert.match(page, /Slack sent.*\(reminder\).*Still open.*Next reminder:/s);
  await later.post(path, { ...form, enabled: 'on', reminder_hours: '' });
  assert.match(mainOf((await later.get(path)).html), /Reminders.*None/s);
});
