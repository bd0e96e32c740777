/** The life cycle of a test over the API and SMTP (contract §4). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldTests, expireTests } from '../../src/mailtests/expire.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import type { Resolver } from '../../src/net/dns/resolver.ts';
import { type Zone, zoneResolver } from '../../src/net/dns/zone.ts';
import { MessageDeletedError, readChunks } from '../../src/store/chunks.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sendMail } from '../helpers/send.ts';

const MAIL = [
  'From: Someone <someone@example.com>',
  'To: test@inbox.test',
  'Subject: Hello there',
  'Date: Sat, 21 Nov 2026 10:00:00 +0000',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'A line.',
  '.',
  '..dots',
  '',
].join('\r\n');

const ZONE: Zone = {
  'example.com': {
    A: ['192.0.2.1'],
    MX: ['10 mail.example.com'],
    TXT: ['v=spf1 ip4:192.0.2.1 -all'],
  },
  'mail.example.com': { A: ['192.0.2.1'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@example.com'] },
  '1.2.0.192.in-addr.arpa': { PTR: ['mail.example.com'] },
};

async function events({ app }: TestService) {
  const rows = await app.db.selectFrom('events').selectAll().orderBy('id').execute();
  return rows.map(({ type, livemode, data }) => ({
    type,
    livemode,
    data: JSON.parse(data) as Test,
  }));
}

async function finished(service: TestService, id: string): Promise<Test> {
  const test = await service.getTest(id, '?wait=20');
  assert.ok(
    test.status === 'completed' || test.status === 'failed',
    `the test is still ${test.status}`,
  );
  return test;
}

test('A test is created, receives mail over SMTP, is analyzed and completes', async (t) => {
  const service = await startTestService(t, { zone: ZONE, clock: testClock() });
  const created = await service.call<Test>('POST', '/v1/tests', {
    json: { name: 'First', metadata: { build: '7' } },
  });
  assert.equal(created.status, 201);
  assert.equal(created.headers.get('location'), `/v1/tests/${created.body.id}`);
  assert.equal(created.body.status, 'waiting');
  assert.match(created.body.address, /^[a-z0-9]{16}@inbox\.test$/);
  assert.deepEqual(created.body.auth_results, { spf: null, dkim: null, dmarc: null });
  const waiting = service.getTest(created.body.id, '?wait=20');
  // Tokens are case-insensitive.
  const reply = await sendMail({
    port: service.smtp.port,
    to: created.body.address.toUpperCase(),
    raw: MAIL,
  });
  assert.match(reply, /^250 /);
  const done = await waiting;
  assert.equal(done.status, 'completed');
  assert.deepEqual(done.auth_results, { spf: 'pass', dkim: 'none', dmarc: 'pass' });
  assert.equal(done.from_address, 'someone@example.com');
  assert.equal(done.subject, 'Hello there');
  assert.equal(done.message_size, MAIL.length);
  assert.equal(done.envelope?.client_ip, '192.0.2.1');
  assert.equal(done.envelope?.mail_from, 'bounce@example.com');
  assert.equal(done.envelope?.helo, 'mail.example.com');
  assert.equal(done.envelope?.tls?.used, true);
  assert.ok(done.score !== null && done.score < 100);
  assert.equal(done.checks.find(({ id }) => id === 'dkim')?.status, 'fail');
  assert.ok(done.checks.find(({ id }) => id === 'dkim')!.gain > 0);
  const [event, ...others] = await events(service);
  assert.deepEqual(others, []);
  assert.equal(event?.type, 'test.completed');
  assert.equal(event.data.id, done.id);
  for (const hidden of ['checks', 'providers', 'placement', 'envelope'])
    assert.ok(!(hidden in event.data), hidden);
});

test('GET /v1/tests/{id}/source returns the message byte for byte', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { id, address } = await service.createTest();
  assert.equal((await service.call('GET', `/v1/tests/${id}/source`)).status, 404);
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  const { text, headers } = await service.call('GET', `/v1/tests/${id}/source`);
  assert.equal(text, MAIL);
  assert.equal(headers.get('content-type'), 'message/rfc822');
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="test_.*\.eml"$/);
});

test('A message of any size is returned byte for byte, though it is stored and read in pieces', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const KIB = 1024;
  // The first piece has 64 KiB, the others 128 KiB, and a stored chunk 512 KiB.
  const sizes = [64, 192, 320, 512, 576, 1024, 2880].flatMap((kib) =>
    [-1, 0, 1].map((more) => kib * KIB + more),
  );
  const line = `${'0123456789 größe '.repeat(4)}\r\n`;
  for (const size of sizes) {
    const head = Buffer.from(`X-Size: ${size}\r\n${MAIL}`);
    const raw = Buffer.concat([head, Buffer.alloc(size - head.byteLength, line)]);
    const { body, text: problem } = await service.call<Test>('POST', '/v1/tests/raw', {
      body: raw,
      headers: { 'content-type': 'message/rfc822' },
    });
    assert.ok(body.id, problem);
    const response = await fetch(`${service.url}/v1/tests/${body.id}/source`, {
      headers: { authorization: `Bearer ${service.key}` },
    });
    assert.equal(response.headers.get('content-length'), String(size));
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(raw), `${size} bytes`);
  }
});

test('SMTP rejects unknown and used test addresses; a repeated message is accepted once', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { port } = service.smtp;
  const { address, id } = await service.createTest();
  await assert.rejects(sendMail({ port, to: 'nobody@inbox.test', raw: MAIL }), {
    responseCode: 550,
    message: /5\.1\.1/,
  });
  await assert.rejects(
    sendMail({ port, to: address.replace('inbox.test', 'other.test'), raw: MAIL }),
    { responseCode: 550, message: /5\.1\.1/ },
  );
  await sendMail({ port, to: address, raw: MAIL });
  await finished(service, id);
  assert.match(await sendMail({ port, to: address, raw: MAIL }), /^250 /);
  await assert.rejects(sendMail({ port, to: address, raw: `${MAIL}more\r\n` }), {
    responseCode: 550,
    message: /5\.2\.1/,
  });
  assert.equal((await events(service)).length, 1);
  const messages = await service.app.db.selectFrom('messages').select('id').execute();
  const chunks = await service.app.db.selectFrom('message_chunks').select('message_id').execute();
  assert.deepEqual([messages.length, chunks.length], [1, 1]);
});

test('Mail to postmaster is stored without creating a test', async (t) => {
  const service = await startTestService(t);
  await sendMail({ port: service.smtp.port, to: 'Postmaster@inbox.test', raw: MAIL });
  const rows = await service.app.db
    .selectFrom('messages')
    .select(['test_id', 'recipient'])
    .execute();
  assert.deepEqual(rows, [{ test_id: null, recipient: 'postmaster@inbox.test' }]);
});

test('A test without mail fails at expiry with an event; its address then rejects mail', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { id, address } = await service.createTest({ expires_in: 60 });
  clock.advance(59_999);
  await expireTests(service.app);
  assert.equal((await service.getTest(id)).status, 'waiting');
  clock.advance(1);
  await expireTests(service.app);
  const failed = await service.getTest(id);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.failure_reason, 'not_received');
  assert.deepEqual(
    (await events(service)).map(({ type, data }) => [type, data.id]),
    [['test.failed', id]],
  );
  await assert.rejects(sendMail({ port: service.smtp.port, to: address, raw: MAIL }), {
    responseCode: 550,
    message: /5\.2\.1/,
  });
});

test('An expired test address rejects mail even before the test is marked failed', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  await service.app.scheduler.stop();
  const { address } = await service.createTest({ expires_in: 60 });
  clock.advance(60_000);
  await assert.rejects(sendMail({ port: service.smtp.port, to: address, raw: MAIL }), {
    responseCode: 550,
    message: /5\.2\.1/,
  });
});

test('GET /v1/tests/{id}?wait returns the current state on timeout; over 50 gets 422', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.createTest();
  assert.equal((await service.getTest(id, '?wait=1')).status, 'waiting');
  assert.equal((await service.call('GET', `/v1/tests/${id}?wait=51`)).status, 422);
});

test('DELETE /v1/tests/{id} removes test and message; waiting requests get 404', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  await finished(service, id);
  const { body } = await service.call('DELETE', `/v1/tests/${id}`);
  assert.deepEqual(body, { id, object: 'test', deleted: true });
  assert.equal((await service.call('GET', `/v1/tests/${id}`)).status, 404);
  assert.equal((await service.call('DELETE', `/v1/tests/${id}`)).status, 404);
  assert.deepEqual(
    await service.app.db.selectFrom('message_chunks').select('position').execute(),
    [],
  );
  const other = await service.createTest();
  const waiting = service.call('GET', `/v1/tests/${other.id}?wait=20`);
  await service.call('DELETE', `/v1/tests/${other.id}`);
  assert.equal((await waiting).status, 404);
});

test('PATCH /v1/tests/{id} changes or clears name and metadata only', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.createTest({ name: 'a', metadata: { x: '1' } });
  const patch = async (json: object) => service.call<Test>('PATCH', `/v1/tests/${id}`, { json });
  assert.equal((await patch({ name: 'b' })).body.name, 'b');
  assert.deepEqual((await service.getTest(id)).metadata, { x: '1' });
  assert.deepEqual((await patch({ name: null, metadata: null })).body.metadata, {});
  assert.equal((await service.getTest(id)).name, null);
  assert.equal((await patch({ score: 100 })).status, 422);
});

test('Reanalysis replaces the result, keeps the previous score and emits no event', async (t) => {
  const zone: Zone = { ...ZONE, 'example.com': { ...ZONE['example.com'], TXT: ['v=spf1 -all'] } };
  const clock = testClock();
  const service = await startTestService(t, { zone, clock });
  const { id, address } = await service.createTest();
  assert.equal((await service.call('POST', `/v1/tests/${id}/reanalyze`)).status, 409);
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  const before = await finished(service, id);
  assert.equal(before.auth_results.spf, 'fail');
  zone['example.com'] = ZONE['example.com']!;
  clock.advance(1000);
  const answer = await service.call<Test>('POST', `/v1/tests/${id}/reanalyze`);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.status, 'completed');
  await service.app.signals.wait(id, 20_000);
  const after = await service.getTest(id);
  assert.equal(after.auth_results.spf, 'pass');
  assert.deepEqual(after.previous, {
    score: before.score,
    grade: before.grade,
    ruleset: before.ruleset,
    completed_at: before.completed_at,
  });
  assert.ok(after.score! > before.score!);
  assert.equal((await events(service)).length, 1);
});

test('Reanalysis without findings due to DNS failure keeps the result', async (t) => {
  const zone: Zone = { ...ZONE };
  const clock = testClock();
  const service = await startTestService(t, { zone, clock });
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  const before = await finished(service, id);
  for (const name of Object.keys(zone)) zone[name] = { fails: 'servfail' };
  await service.call('POST', `/v1/tests/${id}/reanalyze`);
  for (const minutes of [1, 3, 10]) {
    await service.app.signals.wait(id, 20_000);
    clock.advance(minutes * 60_000);
    service.app.scheduler.wake('tests.analyze');
  }
  await service.app.signals.wait(id, 20_000);
  const after = await service.getTest(id);
  assert.deepEqual([after.status, after.score, after.previous], ['completed', before.score, null]);
});

test('DNS failure during analysis is retried after 1, 3 and 10 minutes, then fails without score', async (t) => {
  const zone: Zone = Object.fromEntries(
    Object.keys(ZONE).map((name) => [name, { fails: 'servfail' as const }]),
  );
  const clock = testClock();
  const service = await startTestService(t, { zone, clock });
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  const due = async () => {
    const row = await service.app.db
      .selectFrom('tests')
      .select(['analysis_due_at', 'status', 'score', 'subject'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.equal(row.score, null);
    assert.ok(row.subject, 'known from the arrival of the message');
    return row;
  };
  for (const minutes of [1, 3, 10]) {
    await service.app.signals.wait(id, 20_000);
    const { status, analysis_due_at } = await due();
    assert.equal(status, 'processing');
    assert.equal(Date.parse(analysis_due_at!), clock.now() + minutes * 60_000);
    clock.advance(minutes * 60_000);
    service.app.scheduler.wake('tests.analyze');
  }
  const failed = await finished(service, id);
  assert.deepEqual(
    [failed.status, failed.failure_reason, failed.score],
    ['failed', 'analysis_error', null],
  );
  assert.equal(failed.auth_results.spf, 'temperror');
  assert.ok(failed.checks.some(({ id: check, status }) => check === 'from' && status === 'pass'));
  assert.deepEqual(
    (await events(service)).map(({ type }) => type),
    ['test.failed'],
  );
});

test('POST /v1/tests with a raw message converts bare LF and uses the given envelope', async (t) => {
  const service = await startTestService(t, { zone: ZONE, clock: testClock() });
  const submit = (query: string, body: string | Uint8Array) =>
    service.call<Test>('POST', `/v1/tests?${query}`, {
      body,
      headers: { 'content-type': 'message/rfc822' },
    });
  const query = new URLSearchParams({
    client_ip: '192.0.2.1',
    helo: 'odd helo ü',
    mail_from: 'bounce@example.com',
    name: 'build 7',
  });
  const { status, body } = await submit(String(query), MAIL.replaceAll('\r\n', '\n'));
  assert.equal(status, 201);
  assert.equal(body.status, 'processing');
  const done = await finished(service, body.id);
  assert.ok(done.subject);
  assert.equal(body.subject, done.subject, 'known before the analysis');
  assert.equal(done.line_ends_converted, true);
  assert.equal(done.auth_results.spf, 'pass');
  assert.equal(done.checks.find(({ id }) => id === 'helo')?.status, 'fail');
  assert.equal((await service.call('GET', `/v1/tests/${body.id}/source`)).text, MAIL);
  assert.equal((await submit('client_ip=nonsense', MAIL)).status, 422);
  assert.equal((await submit('', '')).status, 400);
  const bare = await finished(service, (await submit('', MAIL)).body.id);
  assert.equal(bare.line_ends_converted, false);
  assert.equal(bare.auth_results.spf, null);
});

test('GET /v1/tests filters by status, domain, score, text and time; export matches', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { id, address } = await service.createTest({ name: '=cmd|" /C"!A0' });
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  const { score } = await finished(service, id);
  const other = await service.createTest({ name: '50% off_x' });
  const ids = async (query: string) =>
    (await service.call<{ data: Test[] }>('GET', `/v1/tests?${query}`)).body.data.map(
      (test) => test.id,
    );
  assert.deepEqual(await ids('status=completed'), [id]);
  assert.deepEqual(await ids('from_domain=EXAMPLE.com'), [id]);
  assert.deepEqual(await ids(`min_score=${score}`), [id]);
  assert.deepEqual(await ids(`max_score=${score! - 1}`), []);
  assert.deepEqual(await ids('q=HELLO'), [id]);
  assert.deepEqual(await ids('q=50%25'), [other.id]);
  assert.deepEqual(await ids('q=off_x'), [other.id]);
  assert.deepEqual(await ids('q=offyx'), []);
  assert.deepEqual(await ids('created_after=2100-01-01'), []);
  assert.deepEqual(await ids('created_before=2100-01-01T00:00:00%2B02:00'), [other.id, id]);
  for (const [query, found] of Object.entries({
    'completed_after=2000-01-01': 1,
    'completed_after=2100-01-01': 0,
    'completed_before=2100-01-01': 1,
    'completed_before=2000-01-01': 0,
  })) {
    const { text } = await service.call<string>('GET', `/v1/tests/export?${query}`);
    assert.equal(text.trim().split('\r\n').length, 1 + found, query);
  }
  const csv = await service.call<string>('GET', '/v1/tests/export?status=completed');
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [head, line] = csv.text.split('\r\n');
  assert.match(head!, /^id,created_at,name,status/);
  assert.ok(line!.includes(`,"'=cmd|"" /C""!A0",completed,`), line);
  const lines = await service.call<string>('GET', '/v1/tests/export', {
    headers: { accept: 'application/x-ndjson' },
  });
  assert.deepEqual(
    lines.text
      .trim()
      .split('\n')
      .map((json) => JSON.parse(json).id),
    [other.id, id],
  );
});

test('A test-mode key creates and sees only sandbox tests', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const key = await service.makeKey('owner', false);
  const live = await service.createTest();
  const { body: sandbox } = await service.call<Test>('POST', '/v1/tests', { key, json: {} });
  assert.equal(sandbox.livemode, false);
  assert.equal((await service.call('GET', `/v1/tests/${live.id}`, { key })).status, 404);
  assert.equal((await service.call('GET', `/v1/tests/${sandbox.id}`)).status, 404);
  assert.equal((await service.call('DELETE', `/v1/tests/${live.id}`, { key })).status, 404);
  await sendMail({ port: service.smtp.port, to: sandbox.address, raw: MAIL });
  const done = await service.call<Test>('GET', `/v1/tests/${sandbox.id}?wait=20`, { key });
  assert.equal(done.body.status, 'completed');
  assert.deepEqual(
    (await events(service)).map(({ livemode }) => livemode),
    [0],
  );
});

test('deleteOldTests deletes tests past the retention time unless a share keeps them', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { zone: ZONE, clock });
  const make = async () => {
    const { id, address } = await service.createTest();
    await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
    await finished(service, id);
    return id;
  };
  const [old, kept] = [await make(), await make()];
  await sendMail({ port: service.smtp.port, to: 'postmaster@inbox.test', raw: MAIL });
  clock.advance(91 * 86_400_000);
  await service.app.db
    .updateTable('tests')
    .set({ keep_until: new Date(clock.now() + 1).toISOString() })
    .where('id', '=', kept)
    .execute();
  const fresh = await make();
  await deleteOldTests(service.app);
  const left = await service.app.db.selectFrom('tests').select('id').orderBy('id').execute();
  assert.deepEqual(
    left.map(({ id }) => id),
    [kept, fresh],
  );
  assert.equal((await service.getTest(old)).id, undefined);
  const messages = await service.app.db.selectFrom('messages').select('test_id').execute();
  const chunks = await service.app.db.selectFrom('message_chunks').select('message_id').execute();
  assert.deepEqual([messages.length, chunks.length], [2, 2]);
});

test('Concurrent deliveries to one test address: exactly one is accepted', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { port } = service.smtp;
  for (let round = 0; round < 5; round++) {
    const { id, address } = await service.createTest();
    const replies = await Promise.allSettled(
      [1, 2, 3].map((n) => sendMail({ port, to: address, raw: `${MAIL}${n}\r\n` })),
    );
    assert.equal(replies.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await finished(service, id)).status, 'completed');
  }
  const chunks = await service.app.db.selectFrom('message_chunks').select('message_id').execute();
  assert.equal(chunks.length, 5);
});

test('POST /v1/tests rejects unavailable features with 422 and the reason', async (t) => {
  const service = await startTestService(t);
  type Refused = { errors: { param: string; message: string }[] };
  const placement = await service.call<Refused>('POST', '/v1/tests', { json: { placement: true } });
  assert.deepEqual([placement.status, placement.body.errors[0]?.param], [422, 'placement']);
  assert.match(placement.body.errors[0]!.message, /seed mailboxes/);
  assert.equal(
    (await service.call('POST', '/v1/tests', { json: { domain_id: 'dom_x' } })).status,
    422,
  );
});

test('A reanalysis requested during another one is also run', async (t) => {
  const zone: Zone = { ...ZONE };
  const held: (() => void)[] = [];
  let hold = false;
  const asked = zoneResolver(zone);
  const resolver: Resolver = async (name, type) => {
    const answer = await asked(name, type);
    if (hold) await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  };
  const clock = testClock();
  const service = await startTestService(t, { resolver, clock });
  const { id, address } = await service.createTest();
  await sendMail({ port: service.smtp.port, to: address, raw: MAIL });
  await finished(service, id);
  hold = true;
  clock.advance(1000);
  await service.call('POST', `/v1/tests/${id}/reanalyze`);
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1000);
  zone['example.com'] = { TXT: ['v=spf1 -all'] };
  await service.call('POST', `/v1/tests/${id}/reanalyze`);
  hold = false;
  const first = service.app.signals.wait(id, 20_000);
  for (const release of held) release();
  await first;
  await service.app.signals.wait(id, 20_000);
  assert.equal((await service.getTest(id)).auth_results.spf, 'fail');
});

test('A subject of 100 kB is stored whole and found by its beginning', async (t) => {
  const service = await startTestService(t);
  // Different characters of three bytes, which no database can compress.
  const text = Array.from({ length: 35_000 }, (_, i) =>
    String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000)),
  );
  const subject = text.join('');
  const words = text
    .map((_, i) => (i % 12 === 0 ? text.slice(i, i + 12).join('') : ''))
    .filter(Boolean);
  const encoded = words.map((word) => `=?utf-8?b?${Buffer.from(word).toString('base64')}?=`);
  const { id, address } = await service.createTest();
  const raw = Buffer.from(
    goodMessage({ Subject: encoded.join('\r\n ') }).replace(/\r?\n/g, '\r\n'),
  );
  await sendMail({ port: service.smtp.port, to: address, raw });
  const done = await finished(service, id);
  assert.equal(done.status, 'completed');
  assert.ok(subject.startsWith(done.subject!.slice(0, 1000)));
  const q = encodeURIComponent(subject.slice(100, 150));
  const { body } = await service.call<{ data: Test[] }>('GET', `/v1/tests?q=${q}`);
  assert.deepEqual(
    body.data.map((test) => test.id),
    [id],
  );
});

test('GET /v1/tests?q is case-insensitive beyond ASCII and follows name changes', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.createTest({ name: 'Ärger mit ÖL' });
  const ids = async (q: string) => {
    const { body } = await service.call<{ data: Test[] }>(
      'GET',
      `/v1/tests?q=${encodeURIComponent(q)}`,
    );
    return body.data.map((test) => test.id);
  };
  assert.deepEqual(await ids('ärger'), [id]);
  assert.deepEqual(await ids('öl'), [id]);
  await service.call('PATCH', `/v1/tests/${id}`, { json: { name: 'ÜBER' } });
  assert.deepEqual(await ids('ärger'), []);
  assert.deepEqual(await ids('über'), [id]);
});

test('POST /v1/tests rejects metadata keys such as __proto__ with 422', async (t) => {
  const service = await startTestService(t);
  for (const key of ['__proto__', 'constructor', 'prototype'])
    assert.equal(
      (
        await service.call('POST', '/v1/tests', {
          body: `{"metadata":{"${key}":"x"}}`,
          headers: { 'content-type': 'application/json' },
        })
      ).status,
      422,
      key,
    );
  assert.equal((await service.call('POST', '/v1/tests', { json: { metadata: 'x' } })).status, 422);
});

test('With a full disk POST /v1/tests of a message gets 503; deleting still works', async (t) => {
  let roomy = true;
  const service = await startTestService(t, { zone: ZONE, hasSpace: async () => roomy });
  const { id } = await service.createTest();
  roomy = false;
  const submitted = await service.call<{ code: string }>('POST', '/v1/tests', {
    body: MAIL,
    headers: { 'content-type': 'message/rfc822' },
  });
  assert.deepEqual([submitted.status, submitted.body.code], [503, 'unavailable']);
  const { body } = await service.call<{ dependencies: { name: string; status: string }[] }>(
    'GET',
    '/readyz',
  );
  assert.equal(body.dependencies.find(({ name }) => name === 'database')?.status, 'degraded');
  assert.equal((await service.call('DELETE', `/v1/tests/${id}`)).status, 200);
});

test('Reading a message that is deleted meanwhile fails instead of returning part of it', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { id, address } = await service.createTest();
  await sendMail({
    port: service.smtp.port,
    to: address,
    raw: `${MAIL}${'x'.repeat(70)}\r\n`.repeat(20_000),
  });
  await finished(service, id);
  const message = await service.app.db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
  const pieces = readChunks(service.app.db, message);
  assert.ok((await pieces.next()).value);
  await service.call('DELETE', `/v1/tests/${id}`);
  await assert.rejects(pieces.next(), MessageDeletedError);
});

test('POST /v1/tests/{id}/reanalyze with an Idempotency-Key runs one reanalysis', async (t) => {
  const service = await startTestService(t, { zone: ZONE });
  const { app, call } = service;
  const { body: submitted } = await call<Test>('POST', '/v1/tests', {
    body: MAIL,
    headers: { 'content-type': 'message/rfc822' },
  });
  await finished(service, submitted.id);
  await app.scheduler.stop();
  const { wake } = app.scheduler;
  const path = `/v1/tests/${submitted.id}/reanalyze`;
  const ask = () => call<Test>('POST', path, { headers: { 'idempotency-key': 'once' } });
  const due = async () =>
    (await app.db.selectFrom('tests').select('analysis_due_at').executeTakeFirstOrThrow())
      .analysis_due_at;
  // The response is stored with the write, whatever fails after the commit.
  app.scheduler.wake = () => {
    throw new Error('broken');
  };
  assert.equal((await ask()).status, 500);
  assert.notEqual(await due(), null);
  app.scheduler.wake = wake;
  await app.db.updateTable('tests').set({ analysis_due_at: null }).execute();
  const again = await ask();
  assert.deepEqual([again.status, again.body.id], [200, submitted.id]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(await due(), null);
});
