/** Each service gets an incident that is opened, reminded and resolved, and shows what belongs together as one. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ChannelId } from '../../../src/alerts/channels/index.ts';
import { memberOf } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { startAlerting } from '../alerting.ts';
import {
  appriseService,
  customService,
  SERVICES,
  type Service,
  type Shown,
  slackCompatibleService,
} from './services.ts';

const HOUR_MS = 3_600_000;
const FIX = {
  id: 'dmarc',
  status: 'fail',
  title: 'DMARC fails.',
  points: -20,
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
  const rows = await alerting.app.db.selectFrom('alert_notifications').selectAll().execute();
  const sent = rows.map(({ channel, status }) => [channel, status]);
  assert.deepEqual(sent, Array(3).fill([id, 'sent']), JSON.stringify(rows));
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
  assert.equal(reminded[0]!.state, 'new', 'a reminder is shown once');
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

test('ntfy replaces the alert when the incident ends, and reminds by a new notification', async (t) => {
  const { resolved, incident } = await runIncident(t, 'ntfy', SERVICES.ntfy());
  assertTexts(resolved);
  assert.deepEqual(
    resolved.map(({ joins }) => joins),
    [incident.id, null, incident.id],
  );
});

test('PagerDuty gets one alert, which the end of the incident resolves', async (t) => {
  const found = await runIncident(t, 'pagerduty', SERVICES.pagerduty());
  const { opened, reminded, resolved, incident } = found;
  assertTexts([opened[0], reminded[0], undefined]);
  assert.equal(resolved.length, 1);
  assert.deepEqual([resolved[0]!.joins, resolved[0]!.state], [incident.id, 'closed']);
});

for (const isStateless of [false, true])
  test(`Apprise shows each message ${isStateless ? 'for the URLs of the rule' : 'for a key and tags'}`, async (t) => {
    const found = await runIncident(t, 'apprise', appriseService({ isStateless }));
    assertTexts(found.resolved);
    const types = found.slack.requests.map(({ body }) => JSON.parse(body).type);
    assert.deepEqual(types, ['failure', 'failure', 'success']);
  });

test('A custom webhook gets the alert, reminders and resolution of an incident with one key', async (t) => {
  const found = await runIncident(t, 'custom', customService());
  const { opened, reminded, resolved, incident } = found;
  assertTexts([opened[0], reminded[0], resolved[0]]);
  assert.deepEqual([resolved.length, resolved[0]!.joins], [1, incident.id]);
  assert.equal(resolved[0]!.state, 'closed');
});

for (const [name, maxLength] of [
  ['Mattermost', 16_383],
  ['Rocket.Chat', 5000],
] as const)
  test(`${name} shows the whole notification, although it ignores blocks`, async (t) => {
    const { resolved } = await runIncident(t, 'slack', slackCompatibleService(maxLength));
    assertTexts(resolved);
  });

for (const [id, start] of Object.entries({ ...SERVICES, custom: customService }))
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

/** `fails`: which of its requests PagerDuty takes, but does not answer. */
async function startPagerDuty(t: TestContext, fails: number[] = []) {
  const pagerduty = SERVICES.pagerduty();
  const alerting = await startAlerting(t);
  const { slack: receiver, makeAlert, complete, sendDue, service } = alerting;
  let count = 0;
  receiver.respond = (request) => {
    const reply = pagerduty.respond(request);
    return fails.includes(++count) ? { status: 502, body: 'bad gateway' } : reply;
  };
  const settings = pagerduty.settings(new URL(receiver.url).origin);
  const { id } = await makeAlert({ channels: ['pagerduty', 'email'], ...settings });
  const path = `/v1/alerts/${id}`;
  const open = async () => {
    await complete({ score: 10 });
    await sendDue();
    assert.equal(pagerduty.shown[0]!.state, 'new');
  };
  const assertClosed = async () => {
    for (let minute = 0; minute < 10; minute++) {
      alerting.clock.advance(HOUR_MS / 60);
      await sendDue();
    }
    assert.deepEqual(
      pagerduty.shown.map(({ state }) => state),
      ['closed'],
    );
    const rows = await alerting.app.db.selectFrom('alert_notifications').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(pagerduty.secrets[0]!));
    assert.deepEqual(
      rows.filter(({ reference }) => reference !== null),
      [],
      'no secret is kept',
    );
  };
  const change = async (json: object) =>
    assert.equal((await service.call('PATCH', path, { json })).status, 200);
  return { ...alerting, path, open, change, assertClosed };
}

test('An alert in PagerDuty is closed although its answer was lost before the rule was disabled', async (t) => {
  const { open, change, assertClosed } = await startPagerDuty(t, [1]);
  await open();
  await change({ enabled: false });
  await assertClosed();
});

test('An alert in PagerDuty is closed when the rule loses the channel, even at the second try', async (t) => {
  const { open, change, assertClosed } = await startPagerDuty(t, [2]);
  await open();
  await change({ channels: ['email'], pagerduty_routing_key: null });
  await assertClosed();
});

test('An alert in PagerDuty is closed with the old key when the rule gets another', async (t) => {
  const { open, change, assertClosed, complete, sendDue } = await startPagerDuty(t);
  await open();
  await change({ pagerduty_routing_key: 'R0000000000000000000000000000009' });
  await assertClosed();
  await complete({ score: 95 });
  await sendDue();
});

for (const count of [1, 30])
  test(`Deleting a rule closes its alerts in PagerDuty, with ${count} open incidents`, async (t) => {
    const { app, open, complete, path, service, sendDue } = await startPagerDuty(t);
    await open();
    for (let index = 1; index < count; index++)
      await complete({ score: 10, from_domain: `d${index}.example` });
    while (
      await app.db
        .selectFrom('alert_notifications')
        .select('id')
        .where('due_at', 'is not', null)
        .executeTakeFirst()
    )
      await sendDue();
    assert.equal((await service.call('DELETE', path)).status, 200);
    await sendDue();
    const closings = await app.db
      .selectFrom('alert_notifications')
      .select(['status', 'error'])
      .where('channel', '=', 'pagerduty')
      .where('news', '=', 'resolved')
      .execute();
    assert.equal(closings.length, count);
  });

test('A sample that PagerDuty does not close is reported as failed', async (t) => {
  const { service, path } = await startPagerDuty(t, [2]);
  const { body } = await service.call<{ notifications: { status: string; error: string }[] }>(
    'POST',
    `${path}/test`,
  );
  const { status, error } = body.notifications.find(({ status }) => status !== 'queued')!;
  assert.equal(status, 'failed');
  assert.match(error, /the first of two messages was sent, but not the second: status 502/);
});

test('Discord URLs for messages of other forms are refused', async (t) => {
  const { service } = await startAlerting(t);
  const base = { name: 'x', condition: 'score_below', channels: ['discord'] };
  for (const [end, expected] of [
    ['/slack', 422],
    ['/github?wait=true', 422],
    ['/slack/', 422],
    ['?thread_id=1', 201],
    ['', 201],
  ] as const) {
    const discord_webhook_url = `https://discord.com/api/webhooks/1/token${end}`;
    const { status } = await service.call('POST', '/v1/alerts', {
      json: { ...base, discord_webhook_url },
    });
    assert.equal(status, expected, end);
  }
});

test('What a chat called a message is forgotten if the rule moved to another while it was sent', async (t) => {
  const telegram = SERVICES.telegram();
  const found = await startChannel(t, 'telegram', telegram);
  const { app, alert, slack: receiver, service, complete, sendDue } = found;
  await complete({ score: 40 });
  receiver.respond = (request, response) => {
    const { status = 200, body } = telegram.respond(request);
    void service
      .call('PATCH', `/v1/alerts/${alert.id}`, { json: { telegram_chat_id: '-42' } })
      .then(() => response.writeHead(status).end(body));
    return null;
  };
  await sendDue();
  const [row] = await app.db.selectFrom('alert_notifications').selectAll().execute();
  assert.deepEqual([row!.status, row!.reference], ['sent', null]);
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
  for (const name of [
    'Teams',
    'Discord',
    'Google Chat',
    'Telegram',
    'ntfy',
    'PagerDuty',
    'Apprise',
  ])
    assert.match(mainOf(html), new RegExp(name));
  assert.match(mainOf(html), /Telegram chat ID.*-1001234567890/s);
  for (const secret of services.flatMap(({ secrets }) => secrets))
    assert.ok(!html.includes(secret), secret);
});
