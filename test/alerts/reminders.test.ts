/** Reminders of open incidents: when they are sent, what they say, and what ends them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendDigests } from '../../src/alerts/channels/alert-mail.ts';
import { expireIncidents } from '../../src/alerts/jobs.ts';
import { sendReminders } from '../../src/alerts/reminders.ts';
import type { AlertIncident } from '../../src/alerts/schema.ts';
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

test('Reminders have an hourly limit of emails of their own, and the digest names them', async (t) => {
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
  await complete({ score: 1, from_domain: 'urgent.example' });
  await sendDue();
  assert.match(sink.taken[43]!.raw.toString(), /Subject: Alert: Mail from urgent\.example/);
});

const textsOf = ({ slack }: Alerting): string[] => slack.requests.map(({ body }) => body);

test('Reminders end after 30 days, and the last one says so', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ channels: ['slack', 'email'], reminder_hours: 168 });
  await alerting.complete({ score: 40 });
  await alerting.sendDue();
  for (let week = 0; week < 6; week++) await pass(alerting, 168);
  const texts = textsOf(alerting);
  assert.equal(texts.length, 5);
  assert.match(texts[3]!, /The next reminder follows in 168 hours/);
  const last = /This is the last reminder, because reminders end after 30 days/;
  assert.match(texts[4]!, last);
  assert.match(alerting.sink.taken[4]!.raw.toString().replace(/\s+/g, ' '), last);
  assert.equal((await alerting.incidents())[0]!.status, 'open');
});

test('Reminders end when the test that opened the incident is no longer stored', async (t) => {
  const alerting = await startAlerting(t);
  await alerting.makeAlert({ ...DAILY, channels: ['slack'] });
  const { id } = await alerting.complete({ score: 40 });
  await alerting.sendDue();
  await alerting.app.db.deleteFrom('tests').where('id', '=', id).execute();
  for (let day = 0; day < 3; day++) await pass(alerting, 24);
  const texts = textsOf(alerting);
  assert.equal(texts.length, 2);
  assert.match(texts[1]!, /last reminder, because the test that opened the incident is no longer/);
});

test('Lists and events of incidents leave reminders out, and old ones are deleted', async (t) => {
  const alerting = await startAlerting(t, { env: { DELIVERABILITY_EVENT_RETENTION: '7d' } });
  const { app, incidents, service, complete } = alerting;
  await alerting.makeAlert({ channels: ['slack'], reminder_hours: 1 });
  await complete({ score: 40 });
  await alerting.sendDue();
  for (let hour = 0; hour < 55; hour++) await pass(alerting, 1);
  const [incident] = await incidents();
  assert.equal(incident!.notifications.length, 1);
  const path = `/v1/alert_incidents/${incident!.id}`;
  const detailed = async () => (await service.call<AlertIncident>('GET', path)).body.notifications;
  assert.equal((await detailed()).length, 51);
  assert.partialDeepStrictEqual((await detailed())[0], { type: 'triggered' });
  alerting.clock.advance((7 * 24 + 1) * HOUR_MS);
  await expireIncidents(app);
  assert.equal((await detailed()).length, 1);
  await complete({ score: 95 });
  const { data } = (await alerting.events()).at(-1)!;
  assert.equal(data.notifications.length, 2);
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
