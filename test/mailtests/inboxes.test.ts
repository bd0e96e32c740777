/** Inboxes: each message to their address becomes a test. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { INBOX_LIMITS } from '../../src/mailtests/inbox-mail.ts';
import type { ListedTest } from '../../src/mailtests/schema.ts';
import type { Inbox } from '../../src/mailtests/schemas/inbox.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { sendMail } from '../helpers/send.ts';

const mail = (subject: string) => `From: a@example.com\r\nSubject: ${subject}\r\n\r\nText\r\n`;

async function createInbox({ call }: TestService, json: object = {}, key?: string): Promise<Inbox> {
  const as = key === undefined ? {} : { key };
  const created = await call<Inbox>('POST', '/v1/tests', {
    json: { reusable: true, ...json },
    ...as,
  });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.headers.get('location'), `/v1/inboxes/${created.body.id}`);
  return created.body;
}

const send = ({ smtp }: TestService, { address }: Inbox, subject: string) =>
  sendMail({ port: smtp.port, to: address, raw: mail(subject) });

const testsOf = async ({ call }: TestService, { id }: Inbox) =>
  (await call<{ data: ListedTest[] }>('GET', `/v1/tests?inbox_id=${id}`)).body.data;

async function start(t: TestContext) {
  const service = await startTestService(t);
  return { service, inbox: await createInbox(service, { name: 'Nightly', tags: ['b', 'a'] }) };
}

test('Each message to an inbox becomes a test with its settings', async (t) => {
  const service = await startTestService(t);
  const settings = { name: 'Nightly', kind: 'marketing', metadata: { a: 'b' }, tags: ['x'] };
  const inbox = await createInbox(service, settings);
  assert.equal(inbox.object, 'inbox');
  assert.equal(inbox.last_received_at, null);
  await send(service, inbox, 'One');
  await send(service, { ...inbox, address: inbox.address.toUpperCase() }, 'Two');
  const tests = await testsOf(service, inbox);
  assert.equal(tests.length, 2);
  for (const { id } of tests) {
    const { status, name, kind, metadata, tags, inbox_id } = await service.getTest(id, '?wait=20');
    assert.equal(status, 'completed');
    assert.deepEqual({ name, kind, metadata, tags }, settings);
    assert.equal(inbox_id, inbox.id);
  }
  const { body } = await service.call<{ data: { data: ListedTest }[] }>(
    'GET',
    '/v1/events?type=test.completed',
  );
  assert.deepEqual(
    body.data.map(({ data }) => data.inbox_id),
    [inbox.id, inbox.id],
  );
  const { body: later } = await service.call<Inbox>('GET', `/v1/inboxes/${inbox.id}`);
  assert.equal(later.last_received_at, tests[0]!.received_at);
});

test('The same bytes again are the same test', async (t) => {
  const { service, inbox } = await start(t);
  const first = await send(service, inbox, 'One');
  assert.equal(await send(service, inbox, 'One'), first);
  assert.equal((await testsOf(service, inbox)).length, 1);
});

test('A deleted inbox rejects messages, and its tests stay', async (t) => {
  const { service, inbox } = await start(t);
  await send(service, inbox, 'One');
  assert.equal((await service.call('DELETE', `/v1/inboxes/${inbox.id}`)).status, 200);
  await assert.rejects(send(service, inbox, 'Two'), /5\.1\.1/);
  assert.equal((await testsOf(service, inbox)).length, 1);
  const audit = await service.call<{ data: { action: string }[] }>(
    'GET',
    `/v1/audit_log?object_id=${inbox.id}`,
  );
  assert.deepEqual(
    audit.body.data.map(({ action }) => action),
    ['inbox.deleted', 'inbox.created'],
  );
});

test('Inboxes of a test-mode key are separate, and so are their tests', async (t) => {
  const { service, inbox } = await start(t);
  const key = await service.makeKey('member', false);
  const sandbox = await createInbox(service, {}, key);
  assert.equal(sandbox.livemode, false);
  await send(service, sandbox, 'One');
  assert.deepEqual(await testsOf(service, sandbox), []);
  const own = { key };
  const { body } = await service.call<{ data: ListedTest[] }>('GET', '/v1/tests', own);
  assert.deepEqual(
    body.data.map(({ inbox_id, livemode }) => [inbox_id, livemode]),
    [[sandbox.id, false]],
  );
  assert.equal((await service.call('GET', `/v1/inboxes/${inbox.id}`, own)).status, 404);
  assert.equal((await service.call('DELETE', `/v1/inboxes/${inbox.id}`, own)).status, 404);
});

test('An inbox takes a limited number of messages per hour, and asks the sender to wait', async (t) => {
  const { service, inbox } = await start(t);
  const { perHour } = INBOX_LIMITS;
  t.after(() => {
    INBOX_LIMITS.perHour = perHour;
  });
  INBOX_LIMITS.perHour = 2;
  await send(service, inbox, 'One');
  await send(service, inbox, 'Two');
  await assert.rejects(send(service, inbox, 'Three'), /452.*4\.2\.1/);
  // A repeated message needs no space.
  await send(service, inbox, 'Two');
  INBOX_LIMITS.perHour = perHour;
  await send(service, inbox, 'Three');
});

test('All inboxes together take a limited number of messages and bytes', async (t) => {
  const { service, inbox } = await start(t);
  const other = await createInbox(service);
  const limits = { ...INBOX_LIMITS };
  t.after(() => void Object.assign(INBOX_LIMITS, limits));
  INBOX_LIMITS.totalPerHour = 2;
  await send(service, inbox, 'One');
  await send(service, other, 'Two');
  await assert.rejects(send(service, inbox, 'Three'), /452/);
  INBOX_LIMITS.totalPerHour = limits.totalPerHour;
  INBOX_LIMITS.totalBytesPerDay = mail('One').length * 3 - 1;
  await assert.rejects(send(service, inbox, 'Three'), /452/);
  INBOX_LIMITS.totalBytesPerDay = limits.totalBytesPerDay;
  await send(service, inbox, 'Three');
});

test('Messages that arrive at the same time are all stored, each once', async (t) => {
  const { service, inbox } = await start(t);
  const subjects = ['One', 'Two', 'Three', 'One', 'Two', 'Three'];
  await Promise.all(subjects.map((subject) => send(service, inbox, subject)));
  assert.equal((await testsOf(service, inbox)).length, 3);
});

test('A reusable address cannot test placement', async (t) => {
  const { call } = await startTestService(t);
  const json = { reusable: true, placement: true };
  const { status, body } = await call<{ detail: string }>('POST', '/v1/tests', { json });
  assert.equal(status, 422);
  assert.match(body.detail, /placement monitor/);
});

test('Creating an inbox with an Idempotency-Key creates one', async (t) => {
  const { call } = await startTestService(t);
  const request = { json: { reusable: true }, headers: { 'idempotency-key': 'a' } };
  const [first, second] = [
    await call<Inbox>('POST', '/v1/tests', request),
    await call<Inbox>('POST', '/v1/tests', request),
  ];
  assert.deepEqual(second.body, first.body);
  const { body } = await call<{ data: Inbox[] }>('GET', '/v1/inboxes');
  assert.equal(body.data.length, 1);
});
