/** Wrong secrets, too many messages, dead hosts: what the page of the rule says, and when it is retried. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ChannelId } from '../../../src/alerts/channels/index.ts';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { createPoster } from '../../../src/net/http/poster.ts';
import { memberOf } from '../../dashboard/member.ts';
import { mainOf } from '../../dashboard/pages.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { startAlerting } from '../alerting.ts';
import { SERVICES } from './services.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

async function startChannel(t: TestContext, id: keyof typeof SERVICES) {
  const service = SERVICES[id]();
  const alerting = await startAlerting(t);
  const { slack: receiver, makeAlert, app } = alerting;
  receiver.respond = (request) => service.respond(request);
  const settings = service.settings(new URL(receiver.url).origin);
  const alert = await makeAlert({ channels: [id], ...settings });
  const states = () =>
    app.db
      .selectFrom('alert_notifications')
      .select(['status', 'error', 'attempts'])
      .orderBy('id')
      .execute();
  return { ...alerting, alert, states, chat: service, receiver };
}

for (const id of Object.keys(SERVICES) as (keyof typeof SERVICES)[])
  test(`A revoked secret of ${id} fails at once, with words on the page of the rule`, async (t) => {
    const found = await startChannel(t, id);
    const { service, alert, app, chat, receiver, complete, sendDue, states } = found;
    receiver.respond = () => chat.revoked;
    const owner = await memberOf(service, 'owner@example.com');
    await owner.post(`/alerts/${alert.id}/test`);
    const page = await owner.get(`/alerts/${alert.id}`);
    assert.match(mainOf(page.html), chat.advice);
    await complete({ score: 10 });
    await sendDue();
    const last = (await states()).at(-1)!;
    assert.deepEqual([last.status, last.attempts], ['failed', 1]);
    // In no answer, log line, event, audit entry, or row.
    const rows = await Promise.all(
      (['alerts', 'alert_notifications', 'events', 'audit_log'] as const).map((table) =>
        app.db.selectFrom(table).selectAll().execute(),
      ),
    );
    const { body } = await service.call('GET', '/v1/alert_incidents');
    const seen = JSON.stringify([rows, body, service.logged, page.html]);
    for (const secret of chat.secrets) assert.ok(!seen.includes(secret), secret);
  });

for (const id of Object.keys(SERVICES) as (keyof typeof SERVICES)[])
  test(`Too many messages to ${id} are sent later, in order, and lose nothing`, async (t) => {
    const found = await startChannel(t, id);
    const { clock, chat, receiver, complete, sendDue, states } = found;
    receiver.respond = () => chat.throttled(7);
    await complete({ score: 10 });
    await complete({ score: 10, from_domain: 'example.org' });
    await complete({ score: 10, from_domain: 'example.net' });
    await sendDue();
    const before = await states();
    assert.ok(before.every(({ status }) => status === 'queued'));
    assert.match(before[0]!.error!, /^status 429: too many messages in a short time/);
    const tried = receiver.requests.length;
    await sendDue();
    assert.equal(receiver.requests.length, tried, 'nothing before the time that the service named');
    receiver.respond = (request) => chat.respond(request);
    clock.advance(id === 'pagerduty' ? 61 * SECOND_MS : 8 * SECOND_MS);
    for (let round = 0; round < 3; round++) await sendDue();
    assert.ok(
      (await states()).every(({ status }) => status === 'sent'),
      JSON.stringify(await states()),
    );
    assert.equal(chat.shown.length, 3);
  });

for (const id of Object.keys(SERVICES) as (keyof typeof SERVICES)[])
  test(`A proxy before ${id} that knows no such page loses no alert`, async (t) => {
    const { chat, receiver, complete, sendDue, states, clock } = await startChannel(t, id);
    receiver.respond = () => ({ status: 404, body: '404 page not found' });
    await complete({ score: 10 });
    await sendDue();
    const [state] = await states();
    assert.equal(state!.status, 'queued');
    assert.match(state!.error!, /^status 404: \w+/);
    receiver.respond = (request) => chat.respond(request);
    clock.advance(61 * SECOND_MS);
    await sendDue();
    assert.equal((await states())[0]!.status, 'sent');
  });

test('Too many messages with one key of PagerDuty do not hold back those with another', async (t) => {
  const { makeAlert, complete, sendDue, receiver, chat, states } = await startChannel(
    t,
    'pagerduty',
  );
  const other = 'R0000000000000000000000000000009';
  receiver.respond = ({ body }) =>
    body.includes(other) ? { status: 202, body: '{"status":"success"}' } : chat.throttled(60);
  await complete({ score: 10 });
  await sendDue();
  const settings = chat.settings(new URL(receiver.url).origin);
  await makeAlert({ channels: ['pagerduty'], ...settings, pagerduty_routing_key: other });
  await complete({ score: 10, from_domain: 'example.org' });
  await sendDue();
  assert.deepEqual((await states()).map(({ status }) => status).sort(), [
    'queued',
    'queued',
    'sent',
  ]);
});

test('A service that is busy for a day is given up, and says why', async (t) => {
  const { clock, chat, receiver, complete, sendDue, states } = await startChannel(t, 'discord');
  receiver.respond = () => chat.throttled(3600);
  await complete({ score: 10 });
  for (let hour = 0; hour < 25; hour++) {
    await sendDue();
    clock.advance(HOUR_MS + SECOND_MS);
  }
  assert.equal((await states())[0]!.status, 'queued');
  for (let attempt = 0; attempt < 6; attempt++) {
    await sendDue();
    clock.advance(9 * HOUR_MS);
  }
  const [state] = await states();
  assert.equal(state!.status, 'failed');
  assert.match(state!.error!, /status 429: too many messages in a short time/);
});

test('A dead host, a host that is not the service, and a forbidden one are told apart', async (t) => {
  const found = await startChannel(t, 'telegram');
  const { service, alert, receiver } = found;
  const owner = await memberOf(service, 'owner@example.com');
  const tryIt = async () => {
    await owner.post(`/alerts/${alert.id}/test`);
    return mainOf((await owner.get(`/alerts/${alert.id}`)).html);
  };
  receiver.respond = () => ({ status: 200, body: '<!doctype html>Welcome' });
  assert.match(await tryIt(), /Status 200, but not a response of this service; check its URL/);
  receiver.respond = () => ({ status: 500, body: '{'.repeat(60_000) });
  assert.match(await tryIt(), /Status 500: the server had an internal error/);
  receiver.respond = (_, response) => {
    response.destroy();
    return null;
  };
  assert.match(await tryIt(), /Telegram failedThe server closed the connection/);
  const change = (telegram_server_url: string) =>
    service.call('PATCH', `/v1/alerts/${alert.id}`, {
      json: { telegram_server_url, telegram_bot_token: '123456789:other-secret-token' },
    });
  assert.equal((await change('https://10.0.0.1/')).status, 422);
  assert.equal((await change('https://nobody.invalid/')).status, 200);
  const page = await tryIt();
  assert.match(page, /Telegram failedThe host name does not resolve\./);
  assert.ok(!page.includes('other-secret-token'));
  assert.doesNotMatch(JSON.stringify(service.logged), /other-secret-token/);
});

test('A service that does not answer in time fails with that reason', async (t) => {
  const silent = await startReceiver(t);
  silent.respond = () => null;
  const poster = createPoster({
    resolver: zoneResolver({}),
    allowNetworks: [parseNetwork('127.0.0.1/32')],
    ca: [silent.ca],
    timeoutMs: 300,
  });
  const { service, makeAlert } = await startAlerting(t, { poster });
  const settings = SERVICES.ntfy().settings(new URL(silent.url).origin);
  const alert = await makeAlert({ channels: ['ntfy'], ...settings });
  const call = service.call<{ notifications: { status: string; error: string }[] }>(
    'POST',
    `/v1/alerts/${alert.id}/test`,
  );
  const { body } = await call;
  assert.match(body.notifications[0]!.error, /^timeout: /);
});

test('A new address of a server needs the secrets again', async (t) => {
  for (const [id, server, secrets] of [
    ['telegram', 'telegram_server_url', ['telegram_bot_token']],
    ['ntfy', 'ntfy_server_url', ['ntfy_topic', 'ntfy_token']],
    ['pagerduty', 'pagerduty_server_url', ['pagerduty_routing_key']],
    ['apprise', 'apprise_server_url', ['apprise_key', 'apprise_login']],
  ] as const) {
    const { alert, service, receiver } = await startChannel(t, id as ChannelId as 'telegram');
    const path = `/v1/alerts/${alert.id}`;
    const own = SERVICES[id]().settings('https://evil.example');
    for (const url of ['https://evil.example/', null]) {
      const refused = await service.call('PATCH', path, { json: { [server]: url } });
      assert.equal(refused.status, 422);
      assert.match(refused.text, new RegExp(`${secrets[0]}.*must be entered again`));
    }
    const origin = new URL(receiver.url).origin;
    const same = { [server]: SERVICES[id]().settings(origin)[server], name: 'Renamed' };
    assert.equal((await service.call('PATCH', path, { json: same })).status, 200);
    assert.equal((await service.call('PATCH', path, { json: own })).status, 200);
  }
});
