/** The operations on alert rules: fields, permissions, and secrets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { settingFields } from '../../src/alerts/channels/index.ts';
import { shownName } from '../../src/alerts/channels/settings.ts';
import { sendSample } from '../../src/alerts/sample.ts';
import type { Alert, AlertIncidentWithDetails, AlertTest } from '../../src/alerts/schema.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/open.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { startAlerting } from './alerting.ts';

const RULE = { name: 'Low score', condition: 'score_below', channels: ['email'] };
const SECRET = 'https://hooks.slack.com/services/T000/B000/very-secret';

/** Of all channels. */
const NO_SETTINGS = Object.fromEntries(
  settingFields()
    .map(shownName)
    .map((name) => [name, name.endsWith('_set') ? false : null]),
);

test('POST /v1/alerts returns the rule with defaults and unconfigured channels', async (t) => {
  const { call } = await startTestService(t);
  const json = { ...RULE, channels: ['slack', 'email', 'webhook'] };
  const made = await call<Alert>('POST', '/v1/alerts', { json });
  assert.equal(made.status, 201);
  const { id, created_at, ...rest } = made.body;
  assert.match(id, /^alt_/);
  assert.equal(made.headers.get('location'), `/v1/alerts/${id}`);
  assert.deepEqual(rest, {
    object: 'alert',
    name: 'Low score',
    condition: 'score_below',
    threshold: 70,
    channels: ['slack', 'email', 'webhook'],
    unconfigured_channels: ['slack', 'email', 'webhook'],
    enabled: true,
    domain_id: null,
    tags: null,
    recipients: null,
    reminder_hours: null,
    ...NO_SETTINGS,
    state: 'ok',
    last_triggered_at: null,
  });
  const got = await call<Alert>('GET', `/v1/alerts/${id}`);
  assert.deepEqual(got.body, made.body);
  const other = await call<Alert>('POST', '/v1/alerts', {
    json: { ...RULE, condition: 'auth_fail', recipients: ['A@Example.com', 'a@example.com'] },
  });
  assert.equal(other.body.threshold, null);
  assert.deepEqual(other.body.recipients, ['a@example.com']);
  const { data } = (await call<{ data: Alert[] }>('GET', '/v1/alerts?limit=1')).body;
  assert.deepEqual(data, [other.body]);
});

test('POST and PATCH /v1/alerts reject invalid fields with 422', async (t) => {
  const { call } = await startTestService(t);
  const cases: [json: object, param: string][] = [
    [{ ...RULE, name: undefined }, 'name'],
    [{ ...RULE, condition: 'spam' }, 'condition'],
    [{ ...RULE, channels: [] }, 'channels'],
    [{ ...RULE, channels: ['email', 'email'] }, 'channels'],
    [{ ...RULE, channels: ['fax'] }, 'channels.0'],
    [{ ...RULE, threshold: 101 }, 'threshold'],
    [{ ...RULE, threshold: 1.5 }, 'threshold'],
    [{ ...RULE, enabled: 1 }, 'enabled'],
    [{ ...RULE, recipients: [] }, 'recipients'],
    [{ ...RULE, recipients: ['nobody'] }, 'recipients.0'],
    // An email to the service itself could trigger the alert that it reports.
    [{ ...RULE, recipients: ['a@example.com', 'x@Inbox.TEST'] }, 'recipients.1'],
    [{ ...RULE, slack_webhook_url: 'http://hooks.slack.com/x' }, 'slack_webhook_url'],
    [{ ...RULE, slack_webhook_url: 'https://a:b@hooks.slack.com/x' }, 'slack_webhook_url'],
    [{ ...RULE, telegram_bot_token: '1:../../x' }, 'telegram_bot_token'],
    [{ ...RULE, telegram_chat_id: 'my chat' }, 'telegram_chat_id'],
    [{ ...RULE, telegram_server_url: 'https://127.0.0.2/' }, 'telegram_server_url'],
    [{ ...RULE, ntfy_topic: 'a/b' }, 'ntfy_topic'],
    [{ ...RULE, pagerduty_routing_key: 'short' }, 'pagerduty_routing_key'],
    [{ ...RULE, reminder_hours: 0 }, 'reminder_hours'],
    [{ ...RULE, reminder_hours: 169 }, 'reminder_hours'],
    [{ ...RULE, domain_id: 'dom_none' }, 'domain_id'],
    [{ ...RULE, more: 1 }, 'more'],
  ];
  for (const [json, param] of cases) {
    const { status, body } = await call<{ errors: { param: string }[] }>('POST', '/v1/alerts', {
      json,
    });
    assert.equal(status, 422, param);
    assert.deepEqual(
      body.errors.map((error) => error.param),
      [param],
    );
  }
});

test('Alert rules store the Slack URL encrypted and return only its host', async (t) => {
  const service = await startTestService(t);
  const { call, folder, logged } = service;
  const json = { ...RULE, channels: ['slack'], slack_webhook_url: SECRET };
  const made = await call<Alert>('POST', '/v1/alerts', { json });
  assert.equal(made.body.slack_webhook_host, 'hooks.slack.com');
  assert.deepEqual(made.body.unconfigured_channels, []);
  const path = `/v1/alerts/${made.body.id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  await call('PATCH', path, { json: { slack_webhook_url: SECRET } });
  assert.equal((await call('GET', path)).headers.get('etag'), etag);
  const other = { json: { slack_webhook_url: `${SECRET}2` } };
  assert.equal((await call('PATCH', path, other)).status, 200);
  const log = await call('GET', '/v1/audit_log');
  assert.match(log.text, /alert\.changed/);
  for (const text of [made.text, log.text, JSON.stringify(logged)])
    assert.doesNotMatch(text, /very-secret/);
  assert.ok(!(await storedBytes(service.app, folder)).includes('very-secret'));
});

test('PATCH /v1/alerts/{id} honors If-Match; null restores defaults', async (t) => {
  const { call } = await startTestService(t);
  const json = { ...RULE, threshold: 20, recipients: ['a@example.com'], slack_webhook_url: SECRET };
  const { id } = (await call<Alert>('POST', '/v1/alerts', { json })).body;
  const path = `/v1/alerts/${id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  const defaults = { threshold: null, recipients: null, slack_webhook_url: null };
  const changed = await call<Alert>('PATCH', path, {
    json: defaults,
    headers: { 'if-match': etag },
  });
  assert.equal(changed.status, 200);
  const { threshold, recipients, slack_webhook_host } = changed.body;
  assert.deepEqual([threshold, recipients, slack_webhook_host], [70, null, null]);
  const headers = { 'if-match': etag };
  assert.equal((await call('PATCH', path, { json: { name: 'x' }, headers })).status, 412);
  assert.equal((await call('DELETE', path, { headers })).status, 412);
  assert.equal((await call('DELETE', path)).status, 200);
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/test`],
    ['GET', `${path}/incidents`],
  ] as const)
    assert.equal((await call(method, at)).status, 404, `${method} ${at}`);
});

test('Alert rules: members can read, admins can change, viewers get 403', async (t) => {
  const { call, makeMember } = await startTestService(t);
  const { key: admin } = await makeMember('admin');
  const { key: member } = await makeMember('member');
  const { key: viewer } = await makeMember('viewer');
  const made = await call<Alert>('POST', '/v1/alerts', { key: admin, json: RULE });
  const path = `/v1/alerts/${made.body.id}`;
  const reads = ['/v1/alerts', path, `${path}/test`, `${path}/incidents`, '/v1/alert_incidents'];
  for (const at of reads) {
    assert.equal((await call('GET', at, { key: member })).status, 200, at);
    assert.equal((await call('GET', at, { key: viewer })).status, 403, at);
  }
  const changes: [method: string, at: string, json?: object][] = [
    ['POST', '/v1/alerts', RULE],
    ['PATCH', path, { name: 'x' }],
    ['POST', `${path}/test`],
    ['DELETE', path],
  ];
  for (const [method, at, json] of changes)
    assert.equal((await call(method, at, { key: member, json })).status, 403, method);
  for (const [method, at, json] of changes.slice(1))
    assert.equal((await call(method, at, { key: admin, json })).status, 200, method);
});

test('POST /v1/alerts/{id}/test sends a marked sample to each channel without an incident', async (t) => {
  const { service, app, slack, sink, makeAlert, incidents, events, sendDue } =
    await startAlerting(t);
  const hooks = { json: { url: slack.url, events: ['alert.triggered'] } };
  await service.call('POST', '/v1/webhooks/endpoints', hooks);
  const { id } = await makeAlert({
    channels: ['email', 'webhook', 'slack'],
    recipients: ['ops@example.com'],
  });
  const { status, body } = await service.call<AlertTest>('POST', `/v1/alerts/${id}/test`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.notifications.map((one) => [one.channel, one.status]),
    [
      ['email', 'queued'],
      ['webhook', 'queued'],
      ['slack', 'sent'],
    ],
  );
  assert.deepEqual(
    body.notifications.map(({ recipient }) => recipient),
    ['ops@example.com', null, null],
  );
  await sendDue();
  const mail = await PostalMime.parse(sink.taken[0]!.raw);
  assert.equal(mail.subject, 'Sample: Alerts from “Low score” will arrive here');
  assert.deepEqual(sink.taken[0]!.to, ['ops@example.com']);
  assert.equal(slack.requests.length, 1);
  assert.match(JSON.parse(slack.requests[0]!.body).text, /^Sample: Alerts from “Low score”/);
  const { body: later } = await service.call<AlertTest>('GET', `/v1/alerts/${id}/test`);
  assert.deepEqual(
    later.notifications.map((one) => [one.channel, one.status, one.error]),
    [
      ['email', 'sent', null],
      ['webhook', 'queued', null],
      ['slack', 'sent', null],
    ],
  );
  const delivery = await app.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .executeTakeFirstOrThrow();
  const event = JSON.parse(delivery.sample!);
  assert.deepEqual([event.type, event.livemode], ['alert.triggered', false]);
  assert.equal(event.data.value.sample, true);
  assert.equal(event.data.alert.id, id);
  assert.deepEqual(await incidents(), []);
  assert.deepEqual(await events(), []);
});

test('Notifications of one sample are grouped however long storing takes', async (t) => {
  const clock = testClock();
  const now = () => {
    clock.advance(1);
    return clock.now();
  };
  const { service, makeAlert } = await startAlerting(t, { clock: { ...clock, now } });
  const { id } = await makeAlert({
    channels: ['email', 'slack'],
    recipients: ['ops@example.com', 'dev@example.com'],
  });
  const path = `/v1/alerts/${id}/test`;
  for (let i = 0; i < 2; i++) {
    const { body } = await service.call<AlertTest>('POST', path);
    assert.equal(body.notifications.length, 3);
    assert.deepEqual((await service.call<AlertTest>('GET', path)).body, body);
  }
});

test('A sample that Slack rejects fails at once and is not retried', async (t) => {
  const { service, clock, slack, makeAlert, sendDue } = await startAlerting(t);
  slack.respond = () => ({ status: 404, body: 'no_service' });
  const { id } = await makeAlert({ channels: ['slack'] });
  const path = `/v1/alerts/${id}/test`;
  assert.deepEqual((await service.call<AlertTest>('GET', path)).body.notifications, []);
  const refused = {
    channel: 'slack',
    status: 'failed',
    recipient: null,
    sent_at: null,
    error:
      'status 404: the webhook was removed or disabled; create a new one, and enter its URL in the rule, or in DELIVERABILITY_SLACK_WEBHOOK_URL if the rule has none (“no_service”)',
  };
  const first = await service.call<AlertTest>('POST', path);
  assert.deepEqual(first.body.notifications, [refused]);
  clock.advance(24 * 3_600_000);
  await sendDue();
  assert.equal(slack.requests.length, 1);
  // The last sample counts.
  slack.respond = () => ({ status: 200, body: 'ok' });
  await service.call('POST', path);
  const { notifications } = (await service.call<AlertTest>('GET', path)).body;
  assert.deepEqual(
    notifications.map(({ status }) => status),
    ['sent'],
  );
});

test('POST /v1/alerts/{id}/test with an Idempotency-Key sends one sample', async (t) => {
  const { service, slack, makeAlert } = await startAlerting(t);
  const { id } = await makeAlert({ channels: ['slack'] });
  const headers = { 'idempotency-key': 'one' };
  const path = `/v1/alerts/${id}/test`;
  const first = await service.call('POST', path, { headers });
  const again = await service.call('POST', path, { headers });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(slack.requests.length, 1);
});

test('A sample reports what is missing for each unconfigured channel', async (t) => {
  const { call } = await startTestService(t);
  const json = { ...RULE, channels: ['email', 'webhook', 'slack'] };
  const { id } = (await call<Alert>('POST', '/v1/alerts', { json })).body;
  const { notifications } = (await call<AlertTest>('POST', `/v1/alerts/${id}/test`)).body;
  assert.deepEqual(
    notifications.map(({ channel, status }) => [channel, status]),
    json.channels.map((channel) => [channel, 'unconfigured']),
  );
  for (const [index, word] of [/MAIL_URL/, /endpoint/, /add one to the rule/].entries())
    assert.match(notifications[index]!.error!, word);
});

test('A sample whose request died before posting to Slack is posted later', async (t) => {
  const { app, clock, slack, makeAlert, sendDue } = await startAlerting(t);
  const { id } = await makeAlert({ channels: ['slack'] });
  const row = await app.db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await transact(app.db, (tx) => sendSample(tx, app, row));
  await sendDue();
  assert.equal(slack.requests.length, 0);
  clock.advance(90_000);
  await sendDue();
  assert.match(JSON.parse(slack.requests[0]!.body).text, /^Sample: /);
});

/** One example per kind of non-public host; all use the same block list. */
const NOT_PUBLIC = [
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '2130706433',
  '0x7f.1',
  '224.0.0.1',
  '[::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  'localhost',
  'a.localhost',
  'metadata',
];

test('Slack URLs with non-public addresses are rejected in rules and environment', async (t) => {
  const { call } = await startTestService(t);
  const { id } = (await call<Alert>('POST', '/v1/alerts', { json: RULE })).body;
  const path = `/v1/alerts/${id}`;
  for (const host of NOT_PUBLIC) {
    const slack_webhook_url = `https://${host}/services/T0/B0/x`;
    const tries = [
      await call('POST', '/v1/alerts', { json: { ...RULE, slack_webhook_url } }),
      await call('PATCH', path, { json: { slack_webhook_url } }),
    ];
    for (const { status, body } of tries) {
      assert.equal(status, 422, host);
      const [error] = body.errors as { param: string; message: string }[];
      assert.equal(error!.param, 'slack_webhook_url');
      assert.doesNotMatch(error!.message, /signature|events/);
    }
    if (host.endsWith('localhost')) continue;
    const env = { DELIVERABILITY_SLACK_WEBHOOK_URL: slack_webhook_url };
    await assert.rejects(
      startTestService(t, { env }),
      /DELIVERABILITY_SLACK_WEBHOOK_URL must/,
      host,
    );
  }
  assert.equal((await call<Alert>('GET', path)).body.slack_webhook_host, null);
});

test('A test-mode key can read alert rules but not change or test them', async (t) => {
  const { call, makeKey } = await startTestService(t);
  const key = await makeKey('admin', false);
  const { id } = (await call<Alert>('POST', '/v1/alerts', { json: RULE })).body;
  const path = `/v1/alerts/${id}`;
  for (const [method, at, json] of [
    ['POST', '/v1/alerts', RULE],
    ['PATCH', path, { enabled: false }],
    ['POST', `${path}/test`],
    ['DELETE', path],
  ] as [string, string, object?][])
    assert.equal((await call(method, at, { key, json })).status, 403, `${method} ${at}`);
  const { status, body } = await call<Alert>('GET', path, { key });
  assert.deepEqual([status, body.enabled], [200, true]);
});

test('POST /v1/alerts returns the ETag for later changes', async (t) => {
  const { call } = await startTestService(t);
  const made = await call<Alert>('POST', '/v1/alerts', { json: RULE });
  const etag = made.headers.get('etag');
  assert.ok(etag);
  const headers = { 'if-match': etag };
  const path = `/v1/alerts/${made.body.id}`;
  assert.equal((await call('PATCH', path, { json: { name: 'x' }, headers })).status, 200);
});

test('GET /v1/alert_incidents/{id} returns the rule, and each notification with its recipient', async (t) => {
  const { service, clock, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  const rule = await makeAlert({ channels: ['email'], recipients: ['a@example.com'] });
  const opened_at = isoTime(clock.now());
  const { id: test_id } = await complete({ score: 1 });
  await sendDue();
  clock.advance(60_000);
  const resolved_at = isoTime(clock.now());
  await complete({ score: 99 });
  const [listed] = await incidents();
  const path = `/v1/alert_incidents/${listed!.id}`;
  const { status, body } = await service.call<AlertIncidentWithDetails>('GET', path);
  assert.equal(status, 200);
  assert.deepEqual(
    [body.condition, body.threshold, body.test_id, body.monitor_id, body.resolved_at],
    ['score_below', 70, test_id, null, resolved_at],
  );
  assert.equal(body.alert?.id, rule.id);
  const email = { channel: 'email', error: null, recipient: 'a@example.com' };
  assert.deepEqual(body.notifications, [
    { ...email, type: 'triggered', status: 'sent', sent_at: opened_at, created_at: opened_at },
    { ...email, type: 'resolved', status: 'queued', sent_at: null, created_at: resolved_at },
  ]);
  await service.call('DELETE', `/v1/alerts/${rule.id}`);
  assert.equal((await service.call<AlertIncidentWithDetails>('GET', path)).body.alert, null);
  assert.equal((await service.call('GET', '/v1/alert_incidents/inc_none')).status, 404);
});
