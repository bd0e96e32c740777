/** Notifications on each channel: real emails, real posts, retries, and restarts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { deliverJob } from '../../src/webhooks/deliver.ts';
import { onPostgres } from '../helpers/store.ts';
import { startAlerting } from './alerting.ts';

const MIN_MS = 60_000;
const ALL = { channels: ['email', 'webhook', 'slack'] };

/** A stored check with a fix. */
const CHECKS = JSON.stringify([
  {
    id: 'dmarc',
    category: 'authentication',
    label: 'DMARC',
    status: 'fail',
    gain: 20,
    title: 'DMARC fails.',
    detail: '',
    evidence: {},
    points: 10,
    earned: 0,
    reference: { name: 'RFC 7489', url: 'https://www.rfc-editor.org/rfc/rfc7489' },
    fix: {
      text: 'Publish <v=DMARC1> & wait.',
      record: { type: 'TXT', name: '_dmarc.example.com', value: 'v=DMARC1; p=none' },
    },
  },
]);

interface SlackText {
  text: string;
  blocks: {
    type: string;
    text?: { text: string };
    fields?: { text: string }[];
    elements?: { text: string }[];
  }[];
}

const textsOf = ({ blocks }: SlackText): string =>
  blocks
    .flatMap(({ text, fields = [], elements = [] }) => [text, ...fields, ...elements])
    .map((one) => one?.text)
    .join('\n');

test('Alert mail and Slack posts state problem, time, fix and report link', async (t) => {
  const { slack, sink, service, app, makeAlert, complete, incidents, sendDue } =
    await startAlerting(t);
  await service.makeMember('admin');
  await service.makeMember('member');
  await makeAlert({ ...ALL, name: 'Low & <bad> score' });
  const { id } = await complete({ score: 40, checks: CHECKS });
  const [queued] = await incidents();
  assert.deepEqual(
    queued!.notifications.map(({ channel, status, error, sent_at }) => [
      channel,
      status,
      error,
      sent_at,
    ]),
    [
      ['email', 'queued', null, null],
      ['email', 'queued', null, null],
      ['webhook', 'unconfigured', 'no enabled webhook endpoint subscribes to this event', null],
      ['slack', 'queued', null, null],
    ],
  );
  await sendDue();
  const now = '2026-11-21T10:00:00.000Z';
  const [sent] = await incidents();
  assert.deepEqual(
    sent!.notifications.map(({ status, sent_at }) => [status, sent_at]),
    [
      ['sent', now],
      ['sent', now],
      ['unconfigured', null],
      ['sent', now],
    ],
  );
  const report = `${app.config.APP_URL}/tests/${id}`;
  assert.deepEqual(sink.taken.flatMap(({ to }) => to).sort(), [
    'admin1@example.com',
    'owner@example.com',
  ]);
  const mail = await PostalMime.parse(sink.taken[0]!.raw);
  assert.equal(mail.subject, 'Alert: Mail from example.com scored 40, below 70');
  const flat = mail.text!.replace(/\s+/g, ' ');
  for (const words of [
    'Mail from example.com scored 40, below 70',
    'The alert rule requires a score of at least 70 out of 100.',
    '40 of 100',
    '21 Nov 2026, 10:00 UTC',
    'Publish <v=DMARC1> & wait.',
    'v=DMARC1; p=none',
    'Low & <bad> score',
    report,
    sent!.id,
  ]) {
    assert.ok(flat.includes(words), words);
    const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    assert.ok(mail.html!.includes(escaped), escaped);
  }
  assert.equal(slack.requests.length, 1);
  const message: SlackText = JSON.parse(slack.requests[0]!.body);
  assert.match(message.text, /^Alert: Mail from example\.com scored 40, below 70\. The alert rule/);
  const texts = textsOf(message);
  assert.ok(texts.includes('DMARC fails. Publish <v=DMARC1> & wait.'), texts);
  assert.ok(texts.includes('```_dmarc.example.com TXT\nv=DMARC1; p=none```'), texts);
  assert.ok(texts.includes('Low & <bad> score'), texts);
  assert.ok(texts.includes('News <of> spring'));
  assert.ok(texts.includes(`<${report}|Open report>`));
  assert.ok(texts.includes(sent!.id));
  // The resolution is sent once too.
  await complete({ score: 90 });
  await complete({ score: 90 });
  await sendDue();
  assert.equal(slack.requests.length, 2);
  const end = 'Resolved: Mail from example.com scored 90, no longer below 70';
  assert.ok(JSON.parse(slack.requests[1]!.body).text.startsWith(end));
  assert.equal(sink.taken.length, 4);
  assert.equal((await PostalMime.parse(sink.taken[2]!.raw)).subject, end);
});

test('Alert events go to webhooks only for rules with the webhook channel', async (t) => {
  const { app, service, slack, makeAlert, complete, incidents, events } = await startAlerting(t);
  const json = { url: slack.url, events: ['alert.triggered'] };
  assert.equal((await service.call('POST', '/v1/webhooks/endpoints', { json })).status, 201);
  await makeAlert({ channels: ['email'] });
  await makeAlert({ channels: ['webhook'] });
  await complete({ score: 1 });
  assert.equal((await events()).length, 2);
  const deliveries = await app.db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'event_id')
    .select(['event_type', 'data'])
    .execute();
  assert.deepEqual(
    deliveries.map(({ event_type, data }) => [event_type, JSON.parse(data).alert.channels]),
    [['alert.triggered', ['webhook']]],
  );
  const [byWebhook] = await incidents();
  assert.equal(byWebhook!.notifications[0]!.status, 'queued');
  // No endpoint subscribes to the other type.
  await complete({ score: 90 });
  const [resolved] = await incidents();
  assert.deepEqual(
    resolved!.notifications.map(({ status }) => status),
    ['queued', 'unconfigured'],
  );
});

test('Webhook endpoints receive alert.triggered and alert.resolved of webhook rules only', async (t) => {
  const {
    app,
    service,
    slack: receiver,
    makeAlert,
    complete,
  } = await startAlerting(t, {
    env: { DELIVERABILITY_SLACK_WEBHOOK_URL: '' },
  });
  const json = { url: receiver.url, events: ['*'] };
  await service.call('POST', '/v1/webhooks/endpoints', { json });
  await makeAlert({ channels: ['email'] });
  const { id } = await makeAlert({ channels: ['webhook'] });
  const { id: opener } = await complete({ score: 1 });
  const { id: closer } = await complete({ score: 90 });
  const job = deliverJob(app);
  await job.run();
  await receiver.waitForRequests(2);
  await job.idle!();
  const events = receiver.requests.map(({ body }) => JSON.parse(body));
  assert.deepEqual(
    events
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ type, livemode, data }) => [
        type,
        livemode,
        data.alert.id,
        data.status,
        data.test.id,
      ]),
    [
      ['alert.triggered', true, id, 'open', opener],
      ['alert.resolved', true, id, 'resolved', closer],
    ],
  );
  for (const { headers } of receiver.requests)
    assert.match(String(headers['x-service-signature']), /^sha256=/);
});

test('Failing Slack posts are retried after 1, 5, 30 minutes, 2 and 8 hours, then fail', async (t) => {
  const { clock, slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  slack.respond = () => ({ status: 500, body: 'no' });
  await makeAlert({ channels: ['slack'] });
  await complete({ score: 1 });
  await sendDue();
  for (const [index, minutes] of [1, 5, 30, 120, 480].entries()) {
    const [{ notifications }] = (await incidents()) as [Awaited<ReturnType<typeof incidents>>[0]];
    assert.equal(notifications[0]!.status, 'queued');
    assert.equal(notifications[0]!.error, 'status 500: the server had an internal error');
    clock.advance(minutes * MIN_MS - 1);
    await sendDue();
    assert.equal(slack.requests.length, index + 1, `before ${minutes} minutes`);
    clock.advance(1);
    await sendDue();
    assert.equal(slack.requests.length, index + 2, `after ${minutes} minutes`);
  }
  clock.advance(1000 * MIN_MS);
  await sendDue();
  assert.equal(slack.requests.length, 6);
  const [incident] = await incidents();
  assert.equal(incident!.notifications[0]!.status, 'failed');
  assert.equal(new Set(slack.requests.map(({ body }) => body)).size, 1);
});

test('A non-public Slack URL is never connected to and reported as forbidden_address', async (t) => {
  const { slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t, {
    env: { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '', DELIVERABILITY_SLACK_WEBHOOK_URL: '' },
    zone: { 'inside.example.com': { A: ['127.0.0.1'] } },
  });
  const name = `https://inside.example.com:${slack.port}/hooks`;
  await makeAlert({ channels: ['slack'], slack_webhook_url: name });
  await complete({ score: 1 });
  await sendDue();
  const [{ notifications }] = (await incidents()) as [Awaited<ReturnType<typeof incidents>>[0]];
  assert.equal(notifications[0]!.status, 'failed');
  assert.match(notifications[0]!.error!, /^forbidden_address: /);
  assert.deepEqual(slack.requests, []);
});

test('Notifications queued at shutdown are sent after the next start', async (t) => {
  const first = await startAlerting(t);
  await first.makeAlert({ channels: ['email', 'slack'] });
  await first.complete({ score: 1 });
  const [incident] = await first.incidents();
  // The state after a process ended during its post.
  await first.app.db
    .updateTable('alert_notifications')
    .set({ lease: 'req_1', leased_until: '2026-11-21T10:01:30.000Z' })
    .where('channel', '=', 'slack')
    .execute();
  await first.service.stop();
  assert.deepEqual([first.slack.requests.length, first.sink.taken.length], [0, 0]);
  // On SQLite, the start frees the lease. On PostgreSQL, another node may hold it.
  if (onPostgres) first.clock.advance(91_000);
  const second = await startAlerting(t, {
    clock: first.clock,
    folder: first.service.folder,
    env: {
      ...first.slack.env,
      DELIVERABILITY_SLACK_WEBHOOK_URL: first.slack.url,
      DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${first.sink.port}`,
    },
  });
  await second.sendDue();
  assert.equal((await first.slack.waitForRequests(1)).length, 1);
  assert.ok(first.slack.requests[0]!.body.includes(incident!.id));
  assert.equal(first.sink.taken.length, 1);
  const [after] = await second.incidents();
  assert.deepEqual(
    after!.notifications.map(({ status }) => status),
    ['sent', 'sent'],
  );
});

test('A Slack post of a deleted rule is suppressed', async (t) => {
  const { service, slack, makeAlert, complete, incidents, sendDue } = await startAlerting(t);
  const { id } = await makeAlert({ channels: ['slack'] });
  await complete({ score: 1 });
  await service.call('DELETE', `/v1/alerts/${id}`);
  await sendDue();
  assert.deepEqual(slack.requests, []);
  const [incident] = await incidents();
  assert.equal(incident!.notifications[0]!.status, 'suppressed');
  assert.match(
    incident!.notifications[0]!.error!,
    /^the incident was resolved before this could be posted/,
  );
});

test('Untrusted text cannot exceed Slack’s message limits', async (t) => {
  const { slack, makeAlert, complete, sendDue } = await startAlerting(t);
  await makeAlert({ channels: ['slack'], name: '😀&'.repeat(66) });
  const checks = JSON.parse(CHECKS);
  checks[0].title = '<*_`'.repeat(500);
  checks[0].fix.text = '<!channel> '.repeat(500);
  checks[0].fix.record.value = '&`'.repeat(200);
  const subject = '>'.repeat(5000);
  await complete({ score: 1, subject, checks: JSON.stringify(checks) });
  await sendDue();
  const message: SlackText = JSON.parse(slack.requests[0]!.body);
  assert.ok(message.blocks.length <= 50);
  for (const { type, text, fields } of message.blocks) {
    if (text) assert.ok(text.text.length <= (type === 'header' ? 150 : 3000), text.text);
    for (const field of fields ?? []) assert.ok(field.text.length <= 2000, field.text);
  }
  assert.ok(!textsOf(message).includes('<!channel>'));
});
