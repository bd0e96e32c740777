/** Deliveries over time: retries, failure, held deliveries, and crashes. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { appendEvent } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { transact } from '../../src/store/open.ts';
import { bringDeliveriesForward, releaseDeliveries } from '../../src/webhooks/claim.ts';
import { createSlots, type Slots } from '../../src/webhooks/deliver.ts';
import { DELIVER_JOB } from '../../src/webhooks/enqueue.ts';
import { onPostgres } from '../helpers/store.ts';
import { rejectUpdates } from '../helpers/stored-bytes.ts';
import { startMailSink } from '../outbox/mail-sink.ts';
import { attemptsOf, startWebhookService } from './webhook-service.ts';

const MIN_MS = 60_000;
const DAY_MS = 86_400_000;

test('Webhook delivery sends an event once with its ID, type and HMAC signature', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t);
  const { secret } = await makeEndpoint();
  const event = await append({ data: { subject: 'Grüße "und" mehr\u2028' } });
  await deliverDue();
  assert.equal(receiver.requests.length, 1);
  const [{ headers, body, method }] = receiver.requests as [(typeof receiver.requests)[0]];
  assert.equal(method, 'POST');
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body), {
    id: event.id,
    object: 'event',
    type: 'test.completed',
    created_at: event.created_at,
    livemode: true,
    data: { subject: 'Grüße "und" mehr\u2028' },
  });
  const timestamp = String(Math.floor(clock.now() / 1000));
  assert.equal(headers['x-service-event-id'], event.id);
  assert.equal(headers['x-service-timestamp'], timestamp);
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  assert.equal(headers['x-service-signature'], `sha256=${expected}`);
  const [delivery] = await deliveries();
  assert.equal(delivery!.status, 'succeeded');
  assert.equal(delivery!.due_at, null);
  const [attempt] = await attemptsOf(app, delivery!.id);
  assert.equal(attempt!.response_status, 200);
  assert.equal(attempt!.error, null);
  assert.equal(attempt!.trigger, 'event');
});

test('Webhook retries after 1, 5 and 30 minutes, 2 and 8 hours, then fails', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t);
  await makeEndpoint();
  receiver.respond = () => ({ status: 503, body: 'later' });
  await append();
  await deliverDue();
  for (const [index, minutes] of [1, 5, 30, 120, 480].entries()) {
    clock.advance(minutes * MIN_MS - 1);
    await deliverDue();
    assert.equal(receiver.requests.length, index + 1, `before ${minutes} minutes`);
    clock.advance(1);
    await deliverDue();
    assert.equal(receiver.requests.length, index + 2, `after ${minutes} minutes`);
  }
  clock.advance(30 * DAY_MS - 1);
  await deliverDue();
  assert.equal(receiver.requests.length, 6);
  const [delivery] = await deliveries();
  assert.equal(delivery!.status, 'failed');
  const attempts = await attemptsOf(app, delivery!.id);
  assert.deepEqual(
    attempts.map(({ number, trigger }) => [number, trigger]),
    [
      [1, 'event'],
      [2, 'retry'],
      [3, 'retry'],
      [4, 'retry'],
      [5, 'retry'],
      [6, 'retry'],
    ],
  );
  assert.equal(attempts[5]!.error, 'status 503: the server is unavailable');
  assert.equal(attempts[5]!.response_body, 'later');
  const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  assert.equal(ids.size, 1);
  assert.equal(new Set(receiver.requests.map(({ body }) => body)).size, 1);
});

test('Webhook retry delay counts from the end of the previous attempt', async (t) => {
  const { receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t);
  await makeEndpoint();
  receiver.respond = () => {
    clock.advance(20_000);
    return 500;
  };
  await append();
  const begun = clock.now();
  await deliverDue();
  const [delivery] = await deliveries();
  assert.equal(delivery!.due_at, isoTime(begun + 20_000 + MIN_MS));
});

test('Webhook events go to subscribed, enabled endpoints; auto-disabled ones have them held', async (t) => {
  const { receiver, makeEndpoint, append, deliverDue, deliveries } = await startWebhookService(t);
  const wants = await makeEndpoint({ events: '["test.failed","test.completed"]' });
  await makeEndpoint({ events: '["test.failed"]' });
  await makeEndpoint({ enabled: 0 });
  await makeEndpoint({ deleted_at: isoTime(0) });
  const failing = await makeEndpoint({ auto_disabled_at: isoTime(0) });
  await append();
  await deliverDue();
  assert.deepEqual(
    (await deliveries()).map(({ endpoint_id, status }) => [endpoint_id, status]),
    [
      [wants.id, 'succeeded'],
      [failing.id, 'held'],
    ],
  );
  assert.equal(receiver.requests.length, 1);
});

test('An event rolled back with its transaction is never delivered', async (t) => {
  const { receiver, makeEndpoint, app, deliverDue, deliveries, append } =
    await startWebhookService(t);
  await makeEndpoint();
  await assert.rejects(
    transact(app.db, async (tx) => {
      await appendEvent(tx, { type: 'test.failed', livemode: true, data: {} }, app);
      throw new Error('undone');
    }),
  );
  await append();
  await deliverDue();
  assert.equal((await deliveries()).length, 1);
  assert.equal(receiver.requests.length, 1);
});

test('A webhook attempt cut short by a crash is logged as interrupted and retried', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t);
  await makeEndpoint();
  receiver.respond = () => 500;
  await append();
  await deliverDue();
  const { id } = (await deliveries())[0]!;
  // The state after a claim whose process never returns.
  await app.db
    .updateTable('webhook_deliveries')
    .set({ lease: 'req_gone', attempts: 2, due_at: isoTime(clock.now() + 90_000) })
    .execute();
  await app.db
    .insertInto('webhook_attempts')
    .values({
      delivery_id: id,
      number: 2,
      trigger: 'retry',
      started_at: isoTime(clock.now()),
      url: receiver.url,
      request_headers: '{}',
    })
    .execute();
  await releaseDeliveries(app);
  // Other nodes may be sending: there, the lease has to expire.
  if (onPostgres) clock.advance(90_000);
  receiver.respond = () => 200;
  await deliverDue();
  const attempts = await attemptsOf(app, id);
  assert.match(attempts[1]!.error!, /^interrupted/);
  assert.equal(attempts[1]!.duration_ms, null);
  assert.equal(attempts[2]!.response_status, 200);
  const [delivery] = await deliveries();
  assert.equal(delivery!.status, 'succeeded');
  assert.equal(delivery!.round_failures, 1);
});

test('A webhook delivery whose lease expires is retried without a restart', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t);
  const { id } = await makeEndpoint({ enabled: 0 });
  await app.db.updateTable('webhook_endpoints').set({ enabled: 1 }).where('id', '=', id).execute();
  await app.scheduler.stop();
  await append();
  await app.db
    .updateTable('webhook_deliveries')
    .set({ lease: 'req_other', due_at: isoTime(clock.now() + 90_000) })
    .execute();
  app.scheduler.start();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(receiver.requests.length, 0);
  clock.advance(90_000);
  await deliverDue();
  assert.equal(receiver.requests.length, 1);
  assert.equal((await deliveries())[0]!.status, 'succeeded');
});

test('An endpoint failing for five days is disabled, with mail to owner and admins', async (t) => {
  const sink = await startMailSink(t);
  const { app, service, receiver, clock, makeEndpoint, append, deliverDue, deliveries } =
    await startWebhookService(t, {
      env: {
        DELIVERABILITY_MAIL_URL: `smtp://127.0.0.1:${sink.port}`,
        DELIVERABILITY_MAIL_FROM: 'no-reply@example.com',
      },
    });
  const admin = await service.makeMember('admin');
  await service.makeMember('member');
  const { id } = await makeEndpoint();
  receiver.respond = () => 500;
  const stateOf = () =>
    app.db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  await append();
  await deliverDue();
  assert.equal((await stateOf()).failing_since, isoTime(clock.now()));
  clock.advance(4 * DAY_MS);
  await append();
  await deliverDue();
  // One success resets the failures.
  receiver.respond = () => 200;
  await append();
  await deliverDue();
  assert.equal((await stateOf()).failing_since, null);
  receiver.respond = () => 500;
  await append();
  await deliverDue();
  clock.advance(5 * DAY_MS - 1);
  await append();
  await deliverDue();
  assert.equal((await stateOf()).auto_disabled_at, null);
  clock.advance(1);
  await append();
  await deliverDue();
  assert.equal((await stateOf()).auto_disabled_at, isoTime(clock.now()));
  const held = (await deliveries()).filter(({ status }) => status === 'held');
  assert.ok(held.length >= 1);
  assert.ok((await deliveries()).every(({ status }) => status !== 'pending'));
  const asked = receiver.requests.length;
  await append();
  await deliverDue();
  assert.equal(receiver.requests.length, asked);
  assert.equal((await deliveries()).at(-1)!.status, 'held');
  await app.scheduler.stop();
  assert.deepEqual(
    sink.taken.map(({ to }) => String(to)).sort(),
    [admin.email, 'owner@example.com'].sort(),
  );
  const mail = sink.taken[0]!.raw.toString().replace(/=\r\n/g, '').replace(/=3D/g, '=');
  assert.match(mail, new RegExp(id));
  // The request in the email recovers everything, including the first failed delivery.
  const [, since] = /"since": "([^"]+)"/.exec(mail)!;
  assert.ok((await deliveries()).some(({ created_at }) => created_at === since));
  const missed = (await deliveries()).filter(({ status }) => status !== 'succeeded');
  receiver.respond = () => 200;
  await service.call('PATCH', `/v1/webhooks/endpoints/${id}`, { json: { enabled: true } });
  const recovered = await service.call('POST', `/v1/webhooks/endpoints/${id}/recover`, {
    json: { since },
  });
  const old = missed.filter(({ created_at }) => created_at < since!);
  assert.equal(recovered.body.recovered, missed.length - old.length);
  // Only failures before the success in between are left out.
  assert.ok(old.every(({ created_at }) => Date.parse(created_at) < clock.now() - 9 * DAY_MS + 1));
});

test('A webhook receiver that never responds delays no other endpoint', async (t) => {
  const { app, receiver, makeEndpoint, append, deliveries } = await startWebhookService(t);
  for (let i = 0; i < 30; i++)
    await makeEndpoint({ url: receiver.url.replace('/hooks', '/silent') });
  const { id: good } = await makeEndpoint();
  const silent: (() => void)[] = [];
  receiver.respond = ({ path }) =>
    path === '/hooks' ? 200 : new Promise((resolve) => silent.push(() => resolve(200)));
  for (let i = 0; i < 20; i++) await append();
  const done = async () =>
    (await deliveries()).filter(
      ({ endpoint_id, status }) => endpoint_id === good && status === 'succeeded',
    ).length;
  const begun = performance.now();
  while ((await done()) < 20 && performance.now() - begun < 5000) await app.signals.wait('any', 20);
  assert.equal(await done(), 20);
  assert.ok(silent.length <= 60, 'two at once to each that has not answered yet');
  receiver.respond = () => 200;
  for (const answer of silent) answer();
});

test('A webhook outcome that cannot be stored is stored later without a second call', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliveries } = await startWebhookService(t);
  await makeEndpoint();
  const accept = await rejectUpdates(app.db, 'webhook_attempts', 'duration_ms');
  await append();
  await receiver.waitForRequests(1);
  clock.advance(120_000);
  app.scheduler.wake(DELIVER_JOB);
  await app.scheduler.stop().catch(() => {});
  assert.equal((await deliveries())[0]!.status, 'pending');
  await accept();
  app.scheduler.start();
  while ((await deliveries())[0]!.status !== 'succeeded') await app.signals.wait('any', 20);
  assert.equal(receiver.requests.length, 1);
  assert.equal((await attemptsOf(app, (await deliveries())[0]!.id)).length, 1);
});

test('Setting the clock back does not postpone pending webhook retries', async (t) => {
  const { app, receiver, clock, makeEndpoint, append, deliverDue } = await startWebhookService(t);
  await makeEndpoint();
  receiver.respond = () => 500;
  await append();
  await deliverDue();
  clock.advance(-10 * DAY_MS);
  await bringDeliveriesForward(app);
  await deliverDue();
  assert.equal(receiver.requests.length, 2);
  // Correctly scheduled deliveries stay unchanged.
  await bringDeliveriesForward(app);
  await deliverDue();
  assert.equal(receiver.requests.length, 2);
});

// Concurrency limits.

/** Starts as many calls as the limits allow, and returns their number. */
function fill(slots: Slots, id: string): number {
  let begun = 0;
  while (slots.available(id) > 0) {
    slots.start(id);
    begun++;
  }
  return begun;
}

function prove(slots: Slots, id: string): void {
  for (let i = 0; i < 10; i++) {
    slots.start(id);
    slots.finish(id, true);
  }
}

test('Webhook concurrency starts at two calls per endpoint and grows to ten on success', () => {
  const slots = createSlots();
  assert.equal(slots.available('a'), 2);
  prove(slots, 'a');
  assert.equal(fill(slots, 'a'), 10);
  assert.equal(slots.available('b'), 2);
});

test('Each failure halves an endpoint’s webhook concurrency, down to one', () => {
  const slots = createSlots();
  prove(slots, 'a');
  const rooms = [5, 2, 1, 1].map((expected) => {
    slots.start('a');
    slots.finish('a', false);
    return { expected, room: slots.available('a') };
  });
  for (const { expected, room } of rooms) assert.equal(room, expected);
  slots.start('a');
  slots.finish('a', true);
  assert.equal(slots.available('a'), 2);
});

test('A hundred endpoints that never respond leave capacity for a healthy one', () => {
  const slots = createSlots();
  prove(slots, 'good');
  for (let i = 0; i < 100; i++) fill(slots, `dead ${i}`);
  assert.ok(slots.available('good') > 0);
  assert.equal(slots.available('nobody knows yet'), 1);
});

test('Twenty healthy endpoints that stop responding leave capacity for others', () => {
  const slots = createSlots();
  for (let i = 0; i < 21; i++) prove(slots, `e${i}`);
  let begun = 0;
  for (let i = 0; i < 20; i++) begun += fill(slots, `e${i}`);
  assert.ok(begun < 200);
  assert.ok(slots.available('e20') > 0);
});

test('Webhook concurrency never exceeds 200 calls in total', () => {
  const slots = createSlots();
  for (let i = 0; i < 300; i++) prove(slots, `e${i}`);
  let begun = 0;
  for (let i = 0; i < 300; i++) begun += fill(slots, `e${i}`);
  assert.equal(begun, 200);
});
