/** Several nodes on one database: each job runs once, also with wrong clocks, and a restart resumes its own work. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendDigests } from '../../src/alerts/channels/alert-mail.ts';
import type { App } from '../../src/app.ts';
import { isoTime, systemClock } from '../../src/lib/clock.ts';
import { expireTests } from '../../src/mailtests/expire.ts';
import { insertMessage } from '../../src/mailtests/messages.ts';
import { deleteOrphanedChunks } from '../../src/store/chunks.ts';
import { transact } from '../../src/store/open.ts';
import { holdInterrupted } from '../../src/webhooks/claim.ts';
import type { TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { newDatabase, startNode, wrongClock } from '../helpers/nodes.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { sendMail } from '../helpers/send.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { ENDPOINTS } from '../webhooks/webhook-service.ts';
import { assertRunOnce } from './two-nodes.ts';

const skip = skipUnlessOnPostgres();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const count = async (app: App, table: 'report_runs' | 'monitor_runs' | 'events') => {
  const { n } = await app.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
};

test(
  'Two nodes whose clocks are ten minutes apart run each schedule and monitor of a week once',
  {
    skip,
  },
  (t) => assertRunOnce(t, { days: 7, fridays: 1 }),
);

test('Of three running nodes, two with clocks 5 minutes off, each test, email and webhook is handled once', {
  skip,
}, async (t) => {
  const url = await newDatabase(t);
  const receiver = await startReceiver(t);
  const sink = await startMailSink(t);
  const env = {
    ...receiver.env,
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'team@example.com',
  };
  const nodes: TestService[] = [];
  for (const minutes of [0, 5, -5])
    nodes.push(
      await startNode(t, url, { env, clock: wrongClock(systemClock, minutes * MINUTE_MS) }),
    );
  const [right] = nodes as [(typeof nodes)[0]];
  const endpoint = await right.call('POST', ENDPOINTS, {
    json: { url: receiver.url, events: ['test.completed'] },
  });
  assert.equal(endpoint.status, 201, endpoint.text);
  const ids = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const node = nodes[i % 3]!;
      const invited = await node.call('POST', '/v1/team/invitations', {
        json: { email: `member${i}@example.com`, role: 'viewer' },
      });
      assert.equal(invited.status, 201, invited.text);
      const sent = await node.call<{ id: string }>('POST', '/v1/tests/raw', {
        body: goodMessage({ Subject: `Message ${i}` }),
        headers: { 'content-type': 'message/rfc822' },
      });
      assert.equal(sent.status, 201, sent.text);
      return sent.body.id;
    }),
  );
  // A node that is behind sees the work of one that is ahead as due later, but the latter does it.
  const tests = await Promise.all(ids.map((id, i) => nodes[i % 3]!.getTest(id, '?wait=25')));
  assert.deepEqual([...new Set(tests.map(({ status }) => status))], ['completed']);
  const isDone = async () => {
    const { n } = await right.app.db
      .selectFrom('webhook_deliveries')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('status', '=', 'succeeded')
      .executeTakeFirstOrThrow();
    return n === 30 && sink.taken.length >= 30;
  };
  while (!(await isDone())) await right.app.signals.wait('anything', 100);
  const attempts = await right.app.db.selectFrom('webhook_attempts').select('number').execute();
  assert.equal(attempts.length, 30);
  assert.equal(receiver.requests.length, 30);
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 30);
  assert.equal(sink.taken.length, 30);
  assert.equal(new Set(sink.taken.flatMap(({ to }) => to)).size, 30);
  assert.equal(await count(right.app, 'events'), 30);
});

test('Two nodes that expire the same tests emit one event for each', { skip }, async (t) => {
  const url = await newDatabase(t);
  const clock = testClock();
  const nodes = [await startNode(t, url, { clock }), await startNode(t, url, { clock })];
  for (const { app } of nodes) await app.scheduler.stop();
  for (let i = 0; i < 40; i++) await nodes[i % 2]!.createTest();
  clock.advance(40 * DAY_MS);
  await Promise.all(nodes.flatMap(({ app }) => [expireTests(app), expireTests(app)]));
  assert.equal(await count(nodes[0]!.app, 'events'), 40);
});

test('Two nodes that send the digest of the same alerts send one email', { skip }, async (t) => {
  const url = await newDatabase(t);
  const sink = await startMailSink(t);
  const env = {
    DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
    DELIVERABILITY_MAIL_FROM: 'alerts@example.com',
  };
  const nodes = [await startNode(t, url, { env }), await startNode(t, url, { env })];
  for (const { app } of nodes) await app.scheduler.stop();
  const { app, call } = nodes[0]!;
  const { body } = await call<{ id: string }>('POST', '/v1/alerts', {
    json: { name: 'Low', condition: 'score_below', threshold: 50, channels: ['email'] },
  });
  for (let round = 1; round <= 10; round++) {
    const row = { alert_id: body.id, news: 'triggered', channel: 'email', attempts: 0 } as const;
    for (let i = 0; i < 5; i++)
      await app.db
        .insertInto('alert_notifications')
        .values({
          ...row,
          id: app.newId('ntf'),
          recipient: 'ann@example.com',
          status: 'queued',
          created_at: isoTime(app.clock.now()),
        })
        .execute();
    await Promise.all(nodes.map((node) => sendDigests(node.app)));
    const mails = await app.db.selectFrom('outbox').select('id').execute();
    assert.equal(mails.length, round);
  }
});

// What a killed node leaves behind.

/** Leases as a node takes them that is then killed: an unfinished request, a webhook attempt, a test. */
async function leaveWork(app: App, node: string): Promise<void> {
  const { db, clock } = app;
  const until = isoTime(clock.now() + 90_000);
  const lease = `${node}:${app.newId('req')}`;
  await db
    .updateTable('idempotency_keys')
    .set({ status: null, response: lease, created_at: isoTime(clock.now()) })
    .execute();
  await db
    .updateTable('webhook_deliveries')
    .set({ lease, due_at: until, status: 'pending', attempts: 1 })
    .execute();
  await db.updateTable('tests').set({ lease, leased_until: until }).execute();
}

for (const [name, isReleased] of [
  ['mx1', true],
  ['mx2', false],
] as const)
  test(`The start of node ${name} ${isReleased ? 'releases' : 'leaves'} what a killed node mx1 left`, {
    skip,
  }, async (t) => {
    const url = await newDatabase(t);
    const clock = testClock();
    const receiver = await startReceiver(t);
    const options = { clock, env: receiver.env };
    const killed = await startNode(t, url, { ...options, name: 'mx1' });
    await killed.app.scheduler.stop();
    const post = (node: typeof killed, key = killed.key) =>
      node.call('POST', '/v1/tests', { json: {}, key, headers: { 'idempotency-key': 'k' } });
    await post(killed);
    const { body } = await killed.call('POST', ENDPOINTS, {
      json: { url: receiver.url, events: ['*'] },
    });
    await killed.call('POST', `${ENDPOINTS}/${(body as { id: string }).id}/test`);
    await leaveWork(killed.app, 'mx1');
    assert.equal((await post(killed)).status, 409);
    const next = await startNode(t, url, { ...options, name });
    await next.app.scheduler.stop();
    const leases = async () => {
      const test = await next.app.db.selectFrom('tests').select('lease').executeTakeFirst();
      const deliveries = await next.app.db
        .selectFrom('webhook_deliveries')
        .select('status')
        .where('lease', 'like', 'mx1:%')
        .execute();
      return [test?.lease?.split(':')[0] ?? null, deliveries.length];
    };
    assert.deepEqual(await leases(), isReleased ? [null, 0] : ['mx1', 1]);
    assert.equal((await post(next)).status, isReleased ? 201 : 409);
    if (isReleased) return;
    clock.advance(5 * MINUTE_MS - 1);
    assert.equal((await post(next)).status, 409);
    clock.advance(1);
    assert.equal((await post(next)).status, 201, 'once the claim has ended');
  });

test('What a killed node was sending to a disabled endpoint is held when its lease has ended', {
  skip,
}, async (t) => {
  const clock = testClock();
  const receiver = await startReceiver(t);
  const { app, call } = await startNode(t, await newDatabase(t), { clock, env: receiver.env });
  await app.scheduler.stop();
  const { body } = await call<{ id: string }>('POST', ENDPOINTS, {
    json: { url: receiver.url, events: ['*'] },
  });
  await call('POST', `${ENDPOINTS}/${body.id}/test`);
  await leaveWork(app, 'mx1');
  await call('PATCH', `${ENDPOINTS}/${body.id}`, { json: { enabled: false } });
  const statusAfter = async (ms: number) => {
    clock.advance(ms);
    await holdInterrupted(app);
    const row = app.db.selectFrom('webhook_deliveries').select(['status', 'lease']);
    return Object.values(await row.executeTakeFirstOrThrow());
  };
  const [status, lease] = await statusAfter(89_000);
  assert.equal(status, 'pending');
  assert.match(lease!, /^mx1:/);
  assert.deepEqual(await statusAfter(1000), ['held', null]);
});

test('Chunks without a message are deleted after an hour, and no message is stored without its chunks', {
  skip,
}, async (t) => {
  const clock = testClock();
  const { app, createTest, smtp } = await startNode(t, await newDatabase(t), { clock });
  const insert = () =>
    app.db
      .insertInto('message_chunks')
      .values({ message_id: app.newId('msg'), position: 1, bytes: new Uint8Array([1]) })
      .execute();
  const chunks = async () =>
    (await app.db.selectFrom('message_chunks').select('position').execute()).length;
  await insert();
  clock.advance(59 * MINUTE_MS);
  await insert();
  await deleteOrphanedChunks(app);
  assert.equal(await chunks(), 2);
  clock.advance(2 * MINUTE_MS);
  await deleteOrphanedChunks(app);
  assert.equal(await chunks(), 1);
  const { address } = await createTest();
  const raw = goodMessage({}, 'A line of the message.\n'.repeat(60_000));
  await sendMail({ port: smtp.port, to: address, raw });
  clock.advance(2 * HOUR_MS);
  await deleteOrphanedChunks(app);
  assert.equal(await chunks(), 3, 'those of the message stay');
  // As if this process had been suspended while it stored the chunks.
  const row = await app.db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
  const late = { ...row, id: app.newId('msg'), test_id: null };
  await assert.rejects(
    transact(app.db, (tx) => insertMessage(tx, late, Buffer.from(raw))),
    /were deleted/,
  );
});

test('A node that starts is told that the clock of its machine is wrong', { skip }, async (t) => {
  const machineClock = { now: () => Date.now() - 5 * MINUTE_MS };
  const { app, logged } = await startNode(t, await newDatabase(t), { machineClock });
  const warning = logged.find(({ message }) => message.startsWith('the clock of this machine'));
  assert.equal(warning?.fields.ahead_by_seconds, -300);
  assert.ok(Math.abs(app.clock.now() - Date.now()) < MINUTE_MS);
  assert.equal(Math.round(app.clockSkewMs()! / MINUTE_MS), -5);
});
