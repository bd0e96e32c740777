/** `/metrics`: who may read it, and what it counts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANALYZE_JOB } from '../../src/mailtests/queries.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';

const TOKEN = '0123456789abcdef';

const read = (service: TestService, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${service.http.port}/metrics`, { headers });

/** The value of a sample: `name{label="value"}`. */
function sampleOf(text: string, sample: string): number | null {
  const line = text.split('\n').find((each) => each.startsWith(`deliverability_${sample} `));
  return line === undefined ? null : Number(line.split(' ').at(-1));
}

test('Without a token, only programs on the same machine can read the metrics', async (t) => {
  const service = await startTestService(t, {
    env: { DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const response = await read(service);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  for (const field of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    const proxied = await read(service, { [field]: '203.0.113.1' });
    assert.equal(proxied.status, 403, field);
    assert.match(await proxied.text(), /set DELIVERABILITY_METRICS_TOKEN/);
  }
});

test('With a token, only its owners can read the metrics', async (t) => {
  const service = await startTestService(t, { env: { DELIVERABILITY_METRICS_TOKEN: TOKEN } });
  for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, service.key])
    assert.equal((await read(service, { authorization })).status, 401, authorization);
  const fields = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.1' };
  assert.equal((await read(service, fields)).status, 200);
});

test('Metrics count mail, analyses and requests, without IDs and addresses', async (t) => {
  const service = await startTestService(t);
  const { body: created } = await service.call<{ id: string; address: string }>(
    'POST',
    '/v1/tests',
  );
  const port = service.smtp.port;
  await sendMail({ port, to: created.address, raw: goodMessage() });
  await assert.rejects(sendMail({ port, to: 'nobody@inbox.test', raw: goodMessage() }));
  await service.getTest(created.id, '?wait=20');
  await service.call('GET', '/v1/tests/test_00000000000000000000000000');
  await service.call('GET', '/nothing-here');
  const text = await (await read(service)).text();
  const expected: Record<string, number> = {
    smtp_connections_total: 2,
    'smtp_messages_total{for="test"}': 1,
    'smtp_refusals_total{code="550"}': 1,
    'analyses_total{outcome="result"}': 1,
    analysis_duration_seconds_count: 1,
    'http_requests_total{method="POST",route="/v1/tests",status="201"}': 1,
    'http_requests_total{method="GET",route="/v1/tests/:id",status="200"}': 1,
    'http_requests_total{method="GET",route="/v1/tests/:id",status="404"}': 1,
    'http_requests_total{method="none",route="none",status="404"}': 1,
    // Not the request that waited.
    'http_request_duration_seconds_count{surface="api"}': 2,
    'dependency_state{dependency="database",state="up"}': 1,
    'dependency_state{dependency="database",state="down"}': 0,
    analyses_due: 0,
    tests_waiting_for_mail: 0,
    mail_queued: 0,
  };
  const values = Object.keys(expected).map((sample) => [sample, sampleOf(text, sample)]);
  assert.deepEqual(Object.fromEntries(values), expected);
  assert.ok(sampleOf(text, 'database_bytes')! > 0);
  assert.ok(sampleOf(text, 'process_resident_memory_bytes')! > 0);
  assert.ok(sampleOf(text, `job_runs_total{job="${ANALYZE_JOB}",outcome="done"}`)! > 0);
  assert.doesNotMatch(text, /test_\w{20}|@|127\.0\.0\.1|192\.0\.2/);
});

test('Each metric is described once, and names its unit', async (t) => {
  const service = await startTestService(t);
  await read(service);
  const text = await (await read(service)).text();
  const described = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  const names = described.map(([, name]) => name!);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 30);
  for (const [, name, type] of described) {
    assert.match(name!, /^deliverability_[a-z0-9_]+$/);
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'));
    if (type === 'counter') assert.match(name!, /_total$/);
    assert.doesNotMatch(name!, /_(ms|milliseconds|kb|mb|percent)$/);
  }
});

test('The log names each message, each refusal and each session, without addresses', async (t) => {
  const lines: [string, Record<string, unknown>][] = [];
  const record = (message: string, fields?: object) =>
    void lines.push([message, { ...fields } as Record<string, unknown>]);
  const log = { debug() {}, info: record, warn() {}, error: record };
  const service = await startTestService(t, { log });
  const { body: created } = await service.call<{ id: string; address: string }>(
    'POST',
    '/v1/tests',
  );
  const { port } = service.smtp;
  await sendMail({ port, to: created.address, raw: goodMessage(), plain: true });
  await assert.rejects(sendMail({ port, to: 'nobody@inbox.test', raw: goodMessage() }));
  const named = (message: string) => lines.filter(([name]) => name === message).map(([, f]) => f);
  await t.waitFor(() => assert.equal(named('SMTP session ended').length, 2));
  const [accepted] = named('accepted a message');
  assert.equal(accepted?.test, created.id);
  assert.match(String(accepted?.message_id), /^msg_/);
  assert.equal(accepted?.client_ip, '192.0.2.1');
  const [refused] = named('refused mail');
  assert.equal(refused?.reply, '550 5.1.1 No such address');
  const sessions = named('SMTP session ended').map(({ messages, refusals, tls }) => ({
    messages,
    refusals,
    encrypted: tls !== null,
  }));
  assert.deepEqual(sessions, [
    { messages: 1, refusals: 0, encrypted: false },
    { messages: 0, refusals: 1, encrypted: true },
  ]);
  assert.ok(!JSON.stringify(lines).includes(created.address));
});
