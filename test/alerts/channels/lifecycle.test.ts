/** Each service gets an incident that is opened, reminded and resolved, and shows what belongs together as one. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ChannelId } from '../../../src/alerts/channels/index.ts';
import { memberOf } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { startAlerting } from '../alerting.ts';
import { SERVICES, type Service, type Shown, slackCompatibleService } from './services.ts';

const HOUR_MS = 3_600_000;
const FIX = {
  ...{ id: 'dmarc', status: 'fail', title: 'DMARC fails.', points: -20 },
  fix: {
    text: 'Publish a DMARC record.',
    record: { type: 'TXT', name: '_dmarc.example.com', value: 'v=DMARC1; p=quarantine' },
  },
};

async function startChannel(t: TestContext, id: ChannelId, service: Service) {
  const alerting = await startAlerting(t);
  const { slack: receiver, makeAlert } = alerting;
  receiver.respond = (request) => service.respond(request);
  const origin = new URL(receiver.url).origin;
  const rule = { name: 'Low score', channels: [id], ...service.settings(origin) };
  return { ...alerting, alert: await makeAlert({ ...rule, reminder_hours: 24 }) };
}

/** What the service shows after each of the three. */
async function runIncident(t: TestContext, id: ChannelId, service: Service) {
  const alerting = await startChannel(t, id, service);
  const { clock, complete, remind, sendDue, incidents } = alerting;
  const after: Shown[][] = [];
  const look = async () => {
    await sendDue();
    after.push(structuredClone(service.shown));
  };
  await complete({ score: 40, checks: JSON.stringify([FIX]) });
  await look();
  clock.advance(20 * HOUR_MS);
  await complete({ score: 38, checks: JSON.stringify([FIX]) });
  await remind();
  await look();
  assert.equal(after[1]!.length, after[0]!.length, 'no reminder before it is due');
  clock.advance(4 * HOUR_MS);
  await remind();
  await remind();
  await look();
  clock.advance(HOUR_MS);
  await complete({ score: 95 });
  await look();
  const [incident] = await incidents();
  const sent = incident!.notifications.map(({ channel, status }) => [channel, status]);
  assert.deepEqual(sent, Array(3).fill([id, 'sent']), JSON.stringify(incident!.notifications));
  const [opened, , reminded, resolved] = after as [Shown[], Shown[], Shown[], Shown[]];
  return { ...alerting, incident: incident!, opened, reminded, resolved };
}

function assertTexts([first, second, third]: (Shown | undefined)[]): void {
  const link = /^https?:\/\/[^/]+\/tests\/test_\w+$/;
  assert.match(first!.text, /Alert: Mail from example\.com scored 40, below 70/);
  assert.match(first!.text, /A reminder follows every 24 hours until this is resolved/);
  assert.match(first!.text, /Low score/);
  assert.match(second!.text, /Reminder: Mail from example\.com scored 38, below 70/);
  assert.match(second!.text, /Still open since 21 Nov 2026, 10:00 UTC/);
  assert.match(second!.text, /next reminder follows in 24 hours/);
  for (const { text, links } of [first!, second!]) {
    assert.match(text, /Publish a DMARC record\./);
    assert.match(text, /_dmarc\.example\.com TXT\s+v=DMARC1; p=quarantine/);
    assert.match(links[0]!, link);
  }
  if (!third) return;
  assert.match(third.text, /Resolved: Mail from example\.com scored 95, no longer below 70/);
  assert.match(third.links[0]!, link);
}

test('Teams shows the alert, its reminder and its end as cards with the same incident', async (t) => {
  const { resolved, incident } = await runIncident(t, 'teams', SERVICES.teams());
  assertTexts(resolved);
  for (const { text } of resolved) assert.match(text, new RegExp(`incident ${incident.id}`));
});

test('Discord shows each message, and the first one says how the incident ended', async (t) => {
  const { opened, reminded, resolved } = await runIncident(t, 'discord', SERVICES.discord());
  assertTexts([opened[0], reminded[1], resolved[2]]);
  assert.deepEqual(
    resolved.map(({ state }) => state),
    ['changed', 'new', 'new'],
  );
  assert.match(resolved[0]!.text, /^✅ Resolved: /);
});

test('Google Chat shows all messages about an incident in one thread', async (t) => {
  const { resolved, incident } = await runIncident(t, 'google_chat', SERVICES.google_chat());
  assertTexts(resolved);
  assert.deepEqual(
    resolved.map(({ joins }) => joins),
    [incident.id, incident.id, incident.id],
  );
});

test('Telegram shows later messages about an incident as answers to the first', async (t) => {
  const { resolved } = await runIncident(t, 'telegram', SERVICES.telegram());
  assertTexts(resolved);
  assert.deepEqual(
    resolved.map(({ joins }) => joins),
    [null, '1', '1'],
  );
});

test('ntfy replaces the notification about an incident', async (t) => {
  const { resolved, incident } = await runIncident(t, 'ntfy', SERVICES.ntfy());
  assertTexts(resolved);
  assert.deepEqual(
    resolved.map(({ joins }) => joins),
    [incident.id, incident.id, incident.id],
  );
});

test('PagerDuty gets one alert, which the end of the incident resolves', async (t) => {
  const found = await runIncident(t, 'pagerduty', SERVICES.pagerduty());
  const { opened, reminded, resolved, incident } = found;
  assertTexts([opened[0], reminded[0], undefined]);
  assert.equal(resolved.length, 1);
  assert.deepEqual([resolved[0]!.joins, resolved[0]!.state], [incident.id, 'closed']);
});

for (const [name, maxLength] of [
  ['Mattermost', 16_383],
  ['Rocket.Chat', 5000],
] as const)
  test(`${name} shows the whole notification, although it ignores blocks`, async (t) => {
    const { resolved } = await runIncident(t, 'slack', slackCompatibleService(maxLength));
    assertTexts(resolved);
  });

for (const [id, start] of Object.entries(SERVICES))
  test(`A sample through ${id} is shown once, and leaves nothing open`, async (t) => {
    const service = start();
    const { app, alert, service: deliverability } = await startChannel(t, id as ChannelId, service);
    const path = `/v1/alerts/${alert.id}/test`;
    const { body } = await deliverability.call<{ notifications: object[] }>('POST', path);
    assert.partialDeepStrictEqual(body.notifications, [
      { channel: id, status: 'sent', error: null },
    ]);
    assert.equal(service.shown.length, 1);
    assert.match(service.shown[0]!.text, /Sample: Alerts from “Low score” will arrive here/);
    assert.equal(service.shown[0]!.state, id === 'pagerduty' ? 'closed' : 'new');
    assert.deepEqual(await app.db.selectFrom('alert_incidents').selectAll().execute(), []);
  });

test('Disabling a rule closes its alert in PagerDuty, and posts nothing elsewhere', async (t) => {
  const pagerduty = SERVICES.pagerduty();
  const telegram = SERVICES.telegram();
  const { slack: receiver, makeAlert, complete, sendDue, service } = await startAlerting(t);
  receiver.respond = (request) =>
    (request.path === '/v2/enqueue' ? pagerduty : telegram).respond(request);
  const origin = new URL(receiver.url).origin;
  const settings = { ...pagerduty.settings(origin), ...telegram.settings(origin) };
  const { id } = await makeAlert({ channels: ['pagerduty', 'telegram'], ...settings });
  await complete({ score: 10 });
  await sendDue();
  assert.deepEqual([pagerduty.shown[0]!.state, telegram.shown.length], ['new', 1]);
  await service.call('PATCH', `/v1/alerts/${id}`, { json: { enabled: false } });
  await sendDue();
  assert.deepEqual([pagerduty.shown[0]!.state, telegram.shown.length], ['closed', 1]);
});

test('A rule sends nothing to a chat about the messages in another chat', async (t) => {
  const service = SERVICES.telegram();
  const { alert, complete, sendDue, ...rest } = await startChannel(t, 'telegram', service);
  await complete({ score: 40 });
  await sendDue();
  const change = { json: { telegram_chat_id: '-42' } };
  assert.equal((await rest.service.call('PATCH', `/v1/alerts/${alert.id}`, change)).status, 200);
  await complete({ score: 95 });
  await sendDue();
  assert.deepEqual(
    service.shown.map(({ joins }) => joins),
    [null, null],
  );
});

test('The page of the rule names what channels are set up, and never their secrets', async (t) => {
  const { slack: receiver, makeAlert, service } = await startAlerting(t);
  const origin = new URL(receiver.url).origin;
  const services = Object.values(SERVICES).map((start) => start());
  const settings = Object.assign({}, ...services.map((each) => each.settings(origin)));
  const { id } = await makeAlert({ channels: Object.keys(SERVICES), ...settings });
  const owner = await memberOf(service, 'owner@example.com');
  const { html } = await owner.get(`/alerts/${id}`);
  for (const name of ['Teams', 'Discord', 'Google Chat', 'Telegram', 'ntfy', 'PagerDuty'])
    assert.match(mainOf(html), new RegExp(name));
  assert.match(mainOf(html), /Telegram chat ID.*-1001234567890/s);
  for (const secret of services.flatMap(({ secrets }) => secrets))
    assert.ok(!html.includes(secret), secret);
});
