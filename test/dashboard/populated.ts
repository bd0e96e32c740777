/** Gives a service at least one object of each kind, in each state that its page can show. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isoTime } from '../../src/lib/clock.ts';
import { expireTests } from '../../src/mailtests/expire.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { TestService } from '../helpers/app.ts';
import { goodMessage, latin1 } from '../helpers/good-message.ts';
import { type Receiver, startReceiver } from '../helpers/receiver.ts';

/** Addresses and headers that link to hosts, to check that pages don't link to them as their own. */
const BAD_MESSAGE = [
  'From: "News" <news@example.com>',
  'To: reader@example.org',
  'Subject: Spring "news" <b>& more</b>',
  'Message-ID: <1@example.com>',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Hello <a href="/local?x=1">here</a> and <a href="https://link.example/x">there</a></p>',
].join('\r\n');

interface Created {
  id: string;
}

/** The receiver for webhooks, and the environment of a service that may reach it. */
export async function startReceiverOf(
  t: TestContext,
): Promise<{ receiver: Receiver; env: Record<string, string> }> {
  const receiver = await startReceiver(t);
  return { receiver, env: { ...receiver.env } };
}

/** Adds the data through the API, except states that take days to reach. */
export async function populate(service: TestService, receiver: Receiver): Promise<void> {
  const { app, key } = service;
  const post = async (path: string, json: object, as = key): Promise<Created> => {
    const { status, body, text } = await service.call<Created>('POST', path, { json, key: as });
    assert.ok(status < 300, `${path}: ${text}`);
    return body;
  };
  const endpoint = await post('/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] });
  receiver.respond = () => 500;
  const states = ['pending', 'verified', 'failed'] as const;
  const domains: string[] = [];
  for (const status of states) {
    const { id } = await post('/v1/domains', { name: `${status}.example` });
    await app.db.updateTable('domains').set({ status }).where('id', '=', id).execute();
    domains.push(id);
  }
  const { id: deleted } = await post('/v1/domains', { name: 'deleted.example' });
  await service.call('DELETE', `/v1/domains/${deleted}`);
  const [pending, verified] = domains as [string, string];
  await service.call('GET', `/v1/domains/${verified}/health`);
  const policy = { mode: 'testing', mx: ['mx.verified.example'] };
  const files = `/v1/domains/${verified}/hosted_files`;
  await service.call('PATCH', files, { json: { mta_sts: policy } });
  const rule = await post('/v1/alerts', {
    name: 'Low scores',
    condition: 'score_below',
    threshold: 99,
    channels: ['webhook', 'email', 'slack'],
  });
  await post('/v1/alerts', {
    name: 'Listed',
    condition: 'blocklist_hit',
    channels: ['email'],
    domain_id: verified,
    enabled: false,
  });
  const monitor = await post('/v1/monitors', {
    name: 'Our servers',
    type: 'blocklist',
    targets: ['203.0.114.7'],
    frequency: 'daily',
  });
  await service.call('POST', `/v1/monitors/${monitor.id}/run`);
  await post('/v1/monitors', {
    name: 'Health',
    type: 'domain_health',
    domain_id: pending,
    frequency: 'weekly',
    enabled: false,
  });

  await post('/v1/tests', { name: 'Nightly', tags: ['release'], reusable: true });

  const sandboxKey = await service.makeKey('admin', false);
  const tests = [
    await upload(service, latin1(goodMessage()), 'name=Newsletter&tags=spring,shop'),
    await upload(service, BAD_MESSAGE, 'client_ip=192.0.2.1'),
    await upload(service, BAD_MESSAGE, 'client_ip=192.0.2.1'),
  ];
  await upload(service, BAD_MESSAGE, 'name=Trial', sandboxKey);
  await post('/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] }, sandboxKey);
  await post('/v1/tests', { name: 'Waiting' }, sandboxKey);
  const expired = await post('/v1/tests', { name: 'Never sent' });
  await app.db
    .updateTable('tests')
    .set({ expires_at: isoTime(app.clock.now() - 1000) })
    .where('id', '=', expired.id)
    .execute();
  await expireTests(app);
  await post('/v1/tests', { name: 'Waiting' });

  await post('/v1/reports/share', { test_ids: tests, title: 'For the client' });
  const revoked = await post('/v1/reports/share', { test_ids: tests.slice(0, 1) });
  await service.call('DELETE', `/v1/reports/shared/${revoked.id}`);
  const schedule = await post('/v1/reports/schedules', {
    name: 'Every Monday',
    frequency: 'weekly',
    recipients: ['ops@example.com'],
    domains: [verified],
  });
  await service.call('POST', `/v1/reports/schedules/${schedule.id}/send`);
  await post('/v1/team/invitations', { email: 'new@example.com', role: 'viewer' });
  await service.call('POST', `/v1/alerts/${rule.id}/test`);
  await service.call('POST', `/v1/webhooks/endpoints/${endpoint.id}/test`);
}

/** Uploads a message and returns the test once it is completed. */
async function upload(
  { call, key }: TestService,
  body: string | Uint8Array,
  query: string,
  as = key,
): Promise<string> {
  const created = await call<Test>('POST', `/v1/tests/raw?${query}`, {
    headers: { 'content-type': 'message/rfc822' },
    body,
    key: as,
  });
  assert.equal(created.status, 201, created.text);
  const { id } = created.body;
  const { body: done } = await call<Test>('GET', `/v1/tests/${id}?wait=30`, { key: as });
  assert.equal(done.status, 'completed');
  return id;
}
