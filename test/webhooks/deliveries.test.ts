/** The operations on deliveries: test, wait, read, resend, and recover. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { isoTime } from '../../src/lib/clock.ts';
import { ListedTest } from '../../src/mailtests/schema.ts';
import { verifySignature } from '../../src/webhooks/signatures.ts';
import { auditOf, type List } from '../team/team-service.ts';
import {
  createEndpoint,
  DELIVERIES,
  type Delivery,
  ENDPOINTS,
  type Endpoint,
  listDeliveries,
  startWebhookService,
  statusAndCodeOf,
  type WebhookTestService,
  waitForDelivery,
} from './webhook-service.ts';

const MIN_MS = 60_000;
const DATA = { id: 'test_1', object: 'test' };

const resend = ({ service }: WebhookTestService, id: string) =>
  service.call<Delivery>('POST', `${DELIVERIES}/${id}/resend`);

const switchTo = ({ service }: WebhookTestService, id: string, enabled: boolean) =>
  service.call<Endpoint>('PATCH', `${ENDPOINTS}/${id}`, { json: { enabled } });

const recover = ({ service }: WebhookTestService, id: string, since: string) =>
  service.call<{ recovered: number }>('POST', `${ENDPOINTS}/${id}/recover`, { json: { since } });

test('POST /v1/webhooks/endpoints/{id}/test delivers a sample that is not listed as an event', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, clock } = scene;
  const { id, secret } = await createEndpoint(scene, { events: ['alert.resolved'] });
  receiver.respond = () => ({ status: 202, headers: { 'x-Seen': 'yes' }, body: 'thanks' });
  const made = await service.call<Delivery>('POST', `${ENDPOINTS}/${id}/test`);
  assert.equal(made.status, 201);
  assert.equal(made.headers.get('location'), `${DELIVERIES}/${made.body.id}`);
  const first = {
    id: made.body.id,
    object: 'webhook_delivery',
    endpoint_id: id,
    event_id: made.body.event_id,
    event_type: 'test.completed',
    livemode: false,
    status: 'pending',
    next_attempt_at: '2026-11-21T10:00:00.000Z',
    created_at: '2026-11-21T10:00:00.000Z',
    payload: made.body.payload,
    attempts: [],
  };
  assert.deepEqual(made.body, first);
  const done = await waitForDelivery(scene, made.body.id);
  const [request] = await receiver.waitForRequests(1);
  assert.equal(request!.body, made.body.payload);
  const event = JSON.parse(request!.body);
  assert.deepEqual(
    [event.id, event.type, event.livemode],
    [first.event_id, 'test.completed', false],
  );
  assert.deepEqual(v.parse(ListedTest, event.data), event.data);
  const signed = {
    headers: request!.headers as Record<string, string>,
    body: Buffer.from(request!.body),
    secret,
    now: clock.now(),
  };
  assert.deepEqual(verifySignature(signed), { verified: true, isPreviousSecret: false });
  const [attempt] = done.attempts;
  assert.deepEqual(done, {
    ...first,
    status: 'succeeded',
    next_attempt_at: null,
    attempts: [attempt],
  });
  const { response_headers, request_headers, ...rest } = attempt!;
  assert.equal(response_headers!['x-seen'], 'yes');
  assert.equal(request_headers['x-service-signature'], request!.headers['x-service-signature']);
  assert.ok(!JSON.stringify(request_headers).includes(secret));
  assert.deepEqual(rest, {
    number: 1,
    trigger: 'test',
    started_at: '2026-11-21T10:00:00.000Z',
    duration_ms: 0,
    url: receiver.url,
    response_status: 202,
    response_body: 'thanks',
    error: null,
  });
  assert.equal((await service.call('GET', `/v1/events/${event.id}`)).status, 404);
  assert.deepEqual(await auditOf(service, { action: 'webhook_endpoint.tested' }), [
    ['webhook_endpoint.tested', { delivery_id: first.id }],
  ]);
});

test('GET /v1/webhooks/deliveries/{id}?wait returns when the current attempt ends', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, clock } = scene;
  const { id } = await createEndpoint(scene);
  const released = Promise.withResolvers<void>();
  receiver.respond = async () => {
    await released.promise;
    return { status: 500, body: `${'é'.repeat(3000)}` };
  };
  const { body } = await service.call<Delivery>('POST', `${ENDPOINTS}/${id}/test`);
  await receiver.waitForRequests(1);
  const under = await service.call<Delivery>('GET', `${DELIVERIES}/${body.id}?wait=0`);
  assert.deepEqual(
    [under.body.status, under.body.next_attempt_at, under.body.attempts[0]!.duration_ms],
    ['pending', null, null],
  );
  const late = await service.call<Delivery>('GET', `${DELIVERIES}/${body.id}?wait=1`);
  assert.deepEqual(late.body, under.body);
  const waiting = waitForDelivery(scene, body.id);
  clock.advance(2000);
  released.resolve();
  const failed = await waiting;
  assert.deepEqual(
    [failed.status, failed.next_attempt_at],
    ['pending', isoTime(clock.now() + MIN_MS)],
  );
  const [attempt] = failed.attempts;
  assert.deepEqual(
    [attempt!.duration_ms, attempt!.response_status, attempt!.error],
    [2000, 500, 'status 500: the server had an internal error'],
  );
  assert.equal(attempt!.response_body, 'é'.repeat(2048));
  assert.equal(
    (await waitForDelivery(scene, body.id)).attempts.length,
    1,
    'the next is a minute away',
  );
  for (const wait of ['41', '-1', 'x'])
    assert.equal((await service.call('GET', `${DELIVERIES}/${body.id}?wait=${wait}`)).status, 422);
  for (const query of ['', '?wait=40'])
    assert.equal((await service.call('GET', `${DELIVERIES}/whd_none${query}`)).status, 404);
});

test('POST /v1/webhooks/deliveries/{id}/resend works in any status', async (t) => {
  const scene = await startWebhookService(t);
  const { service, app, receiver, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  const event = await append({ data: DATA });
  await deliverDue();
  const [delivery] = await listDeliveries(scene, id);
  clock.advance(MIN_MS);
  receiver.respond = () => 500;
  const again = await resend(scene, delivery!.id);
  assert.equal(again.status, 200);
  assert.deepEqual(
    [again.body.status, again.body.next_attempt_at, again.body.attempts.length],
    ['pending', isoTime(clock.now()), 1],
  );
  const failed = await waitForDelivery(scene, delivery!.id);
  assert.deepEqual([failed.status, failed.payload], ['pending', receiver.requests[0]!.body]);
  receiver.respond = () => 204;
  clock.advance(MIN_MS);
  await deliverDue();
  await resend(scene, delivery!.id);
  const { status, attempts } = await waitForDelivery(scene, delivery!.id);
  assert.deepEqual(
    [status, ...attempts.map(({ number, trigger }) => `${number} ${trigger}`)],
    ['succeeded', '1 event', '2 resend', '3 retry', '4 resend'],
  );
  assert.deepEqual(
    new Set(receiver.requests.map(({ body }) => JSON.parse(body).id)),
    new Set([event.id]),
  );
  await switchTo(scene, id, false);
  for (const answer of [
    await resend(scene, delivery!.id),
    await service.call('POST', `${ENDPOINTS}/${id}/test`),
    await recover(scene, id, '2026-01-01'),
  ]) {
    assert.deepEqual(statusAndCodeOf(answer), [409, 'conflict']);
    assert.match(answer.text, /is disabled\. Enable it, then try again\./);
  }
  await switchTo(scene, id, true);
  await app.db.deleteFrom('events').execute();
  assert.deepEqual(statusAndCodeOf(await resend(scene, delivery!.id)), [410, 'gone']);
  const kept = await waitForDelivery(scene, delivery!.id);
  assert.deepEqual([kept.status, kept.payload, kept.livemode], ['succeeded', null, null]);
  assert.equal((await resend(scene, 'whd_none')).status, 404);
  assert.equal((await auditOf(service, { action: 'webhook_delivery.resent' })).length, 2);
});

test('Resending a delivery that waits sends it now; after a failure its schedule goes on', async (t) => {
  const scene = await startWebhookService(t);
  const { app, receiver, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  receiver.respond = () => 500;
  await append({ data: DATA });
  await deliverDue();
  const [waiting] = await listDeliveries(scene, id);
  const scheduledAt = isoTime(clock.now() + MIN_MS);
  assert.equal(waiting!.next_attempt_at, scheduledAt);
  clock.advance(10_000);
  const { status, body } = await resend(scene, waiting!.id);
  assert.deepEqual([status, body.next_attempt_at], [200, isoTime(clock.now())]);
  const failed = await waitForDelivery(scene, waiting!.id);
  assert.deepEqual([failed.status, failed.next_attempt_at], ['pending', scheduledAt]);
  assert.equal(receiver.requests.length, 2);
  // The resend wasn't one of the six attempts: the next delay is the second one.
  clock.advance(MIN_MS - 10_000);
  await deliverDue();
  const retried = await waitForDelivery(scene, waiting!.id);
  assert.equal(retried.next_attempt_at, isoTime(clock.now() + 5 * MIN_MS));
  // A success ends the schedule.
  receiver.respond = () => 200;
  await resend(scene, waiting!.id);
  await waitForDelivery(scene, waiting!.id);
  clock.advance(5 * MIN_MS);
  await deliverDue();
  const done = await waitForDelivery(scene, waiting!.id);
  assert.deepEqual(
    [done.status, ...done.attempts.map(({ trigger }) => trigger)],
    ['succeeded', 'event', 'resend', 'retry', 'resend'],
  );
  assert.equal(receiver.requests.length, 4);
  const row = await app.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.due_at, row.resumes_at, row.lease], [null, null, null]);
});

test('Resending during the scheduled attempt gets 409 and sends nothing twice', async (t) => {
  const scene = await startWebhookService(t);
  const { receiver, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  receiver.respond = () => 500;
  await append({ data: DATA });
  await deliverDue();
  const [waiting] = await listDeliveries(scene, id);
  clock.advance(MIN_MS);
  receiver.respond = () => 200;
  // The scheduled attempt and many resends start at once.
  const [, ...answers] = await Promise.all([
    deliverDue(),
    ...Array.from({ length: 10 }, () => resend(scene, waiting!.id)),
  ]);
  await waitForDelivery(scene, waiting!.id);
  const { attempts } = await waitForDelivery(scene, waiting!.id);
  const statuses = answers.map(({ status }) => status);
  assert.ok(
    statuses.every((status) => status === 200 || status === 409),
    String(statuses),
  );
  // Each resend after the success is wanted; none shares its attempt with another.
  assert.equal(receiver.requests.length, attempts.length);
  assert.deepEqual(
    attempts.map(({ number }) => number),
    attempts.map((_, i) => i + 1),
  );
});

test('A sample delivery can be resent with the same body', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver } = scene;
  const { id } = await createEndpoint(scene);
  const { body } = await service.call<Delivery>('POST', `${ENDPOINTS}/${id}/test`);
  await waitForDelivery(scene, body.id);
  assert.equal((await resend(scene, body.id)).status, 200);
  const { attempts } = await waitForDelivery(scene, body.id);
  assert.deepEqual(
    attempts.map(({ trigger }) => trigger),
    ['test', 'resend'],
  );
  assert.deepEqual(new Set(receiver.requests.map((request) => request.body)).size, 1);
});

test('POST /v1/webhooks/endpoints/{id}/recover requeues held and failed deliveries since a time', async (t) => {
  const scene = await startWebhookService(t);
  const { service, app, receiver, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  const other = await createEndpoint(scene);
  receiver.respond = () => 500;
  const times: string[] = [];
  for (let n = 0; n < 4; n++) {
    times.push(isoTime(clock.now()));
    await append({ data: { ...DATA, n } });
    clock.advance(1000);
  }
  await deliverDue();
  const set = (n: number, status: 'failed' | 'succeeded') =>
    app.db
      .updateTable('webhook_deliveries')
      .set({ status, due_at: null })
      .where('endpoint_id', '=', id)
      .where('created_at', '=', times[n]!)
      .execute();
  await set(0, 'failed');
  await set(1, 'failed');
  await set(2, 'succeeded');
  await switchTo(scene, id, false);
  await switchTo(scene, id, true);
  const statuses = async () =>
    (await listDeliveries(scene, id)).map(({ status }) => status).reverse();
  assert.deepEqual(await statuses(), ['failed', 'failed', 'succeeded', 'held']);
  receiver.respond = () => 200;
  const before = receiver.requests.length;
  const since = times[1]!.replace('.000Z', 'Z');
  const answer = await recover(scene, id, since);
  assert.deepEqual(
    [answer.status, answer.body],
    [200, { object: 'webhook_recovery', endpoint_id: id, since: times[1], recovered: 2 }],
  );
  await deliverDue();
  assert.deepEqual(await statuses(), ['failed', 'succeeded', 'succeeded', 'succeeded']);
  assert.deepEqual(
    receiver.requests
      .slice(before)
      .map(({ body }) => JSON.parse(body).data.n)
      .toSorted(),
    [1, 3],
  );
  const [newest] = await listDeliveries(scene, id);
  assert.deepEqual(
    (await waitForDelivery(scene, newest!.id)).attempts.map(({ trigger }) => trigger),
    ['event', 'recover'],
  );
  assert.equal((await recover(scene, id, isoTime(clock.now()))).body.recovered, 0);
  // A delivery whose event is no longer stored isn't recovered.
  await app.db.deleteFrom('events').execute();
  assert.equal((await recover(scene, id, '2026-01-01T00:00:00Z')).body.recovered, 0);
  assert.ok((await listDeliveries(scene, other.id)).every(({ status }) => status === 'pending'));
  for (const wrong of [undefined, null, 'yesterday', '2026-02-30', 7]) {
    const json = wrong === undefined ? {} : { since: wrong };
    assert.equal((await service.call('POST', `${ENDPOINTS}/${id}/recover`, { json })).status, 422);
  }
  assert.deepEqual((await auditOf(service, { action: 'webhook_endpoint.recovered' })).at(-1), [
    'webhook_endpoint.recovered',
    { since: times[1] },
  ]);
});

test('Recovering 1,200 deliveries queues each once; a replayed request recovers no more', async (t) => {
  const scene = await startWebhookService(t);
  const { service, app, append } = scene;
  const { id } = await createEndpoint(scene);
  // Nothing is delivered from here on.
  await app.scheduler.stop();
  const event = await append({ data: DATA });
  const row = await app.db.selectFrom('webhook_deliveries').selectAll().executeTakeFirstOrThrow();
  for (let piece = 0; piece < 12; piece++)
    await app.db
      .insertInto('webhook_deliveries')
      .values(
        Array.from({ length: 100 }, () => ({
          ...row,
          id: app.newId('whd'),
          status: 'held' as const,
          due_at: null,
          round_failures: 6,
        })),
      )
      .execute();
  const request = {
    json: { since: event.created_at },
    headers: { 'idempotency-key': 'recover' },
  };
  const path = `${ENDPOINTS}/${id}/recover`;
  const { body } = await service.call<{ recovered: number }>('POST', path, request);
  assert.equal(body.recovered, 1200);
  const rows = await app.db.selectFrom('webhook_deliveries').selectAll().execute();
  assert.equal(rows.length, 1201);
  assert.ok(rows.every(({ status, due_at }) => status === 'pending' && due_at !== null));
  assert.equal(rows.filter(({ round_trigger }) => round_trigger === 'recover').length, 1200);
  assert.ok(rows.every(({ round_failures }) => round_failures === 0));
  const again = await service.call('POST', path, request);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(again.body, body);
});

test('Webhook deliveries are filtered by status, event and time, with pagination', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  const other = await createEndpoint(scene, { events: ['test.failed'] });
  const failing = await append({ data: DATA });
  receiver.respond = () => 500;
  await deliverDue();
  clock.advance(1000);
  receiver.respond = () => 200;
  const second = await append({ type: 'test.failed', data: DATA });
  const third = await append({ type: 'alert.triggered', data: DATA });
  await deliverDue();
  const events = async (query: string) =>
    (await listDeliveries(scene, id, query)).map(({ event_id }) => event_id);
  assert.deepEqual(await events(''), [third.id, second.id, failing.id]);
  assert.deepEqual(await events('?status=pending'), [failing.id]);
  assert.deepEqual(await events('?status=succeeded&limit=1'), [third.id]);
  assert.deepEqual(await events(`?event_id=${second.id}`), [second.id]);
  assert.deepEqual(await events('?event_type=test.failed'), [second.id]);
  assert.deepEqual(await events('?created_after=2026-11-21T10:00:01Z'), [third.id, second.id]);
  assert.deepEqual(await events('?status=held'), []);
  const [newest, middle] = await listDeliveries(scene, id);
  assert.deepEqual(await events(`?starting_after=${middle!.id}`), [failing.id]);
  assert.deepEqual(await events(`?ending_before=${middle!.id}`), [third.id]);
  assert.deepEqual(newest, {
    id: newest!.id,
    object: 'webhook_delivery',
    endpoint_id: id,
    event_id: third.id,
    event_type: 'alert.triggered',
    livemode: true,
    status: 'succeeded',
    next_attempt_at: null,
    created_at: '2026-11-21T10:00:01.000Z',
  });
  assert.deepEqual(
    (await listDeliveries(scene, other.id)).map(({ event_id }) => event_id),
    [second.id],
  );
  for (const query of ['status=sent', 'event_type=*', 'created_after=x', 'wait=1', 'limit=101']) {
    const path = `${ENDPOINTS}/${id}/deliveries?${query}`;
    assert.equal((await service.call('GET', path)).status, 422, query);
  }
  assert.equal((await service.call('GET', `${ENDPOINTS}/whe_none/deliveries`)).status, 404);
});

test('An endpoint receives the events of its mode, and only keys of that mode see it', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, append, deliverDue } = scene;
  const { call } = service;
  const testKey = await service.makeKey('admin', false);
  const live = await createEndpoint(scene);
  const json = { url: receiver.url, events: ['*'] };
  const made = await call<Endpoint>('POST', ENDPOINTS, { key: testKey, json });
  const sandbox = made.body;
  assert.deepEqual([made.status, sandbox.livemode], [201, false]);
  const events = [
    await append({ data: DATA, livemode: true }),
    await append({ data: DATA, livemode: false }),
  ];
  await deliverDue();
  const deliveriesOf = async (id: string, key?: string) => {
    const path = `${ENDPOINTS}/${id}/deliveries`;
    const { body } = await call<List<Delivery>>('GET', path, key === undefined ? {} : { key });
    return body.data;
  };
  const delivered = [await deliveriesOf(live.id), await deliveriesOf(sandbox.id, testKey)];
  assert.deepEqual(
    delivered.map((list) => list.map(({ event_id, livemode }) => [event_id, livemode])),
    [[[events[0]!.id, true]], [[events[1]!.id, false]]],
  );
  // Samples are in test mode, whatever the mode of the endpoint.
  for (const [id, key] of [
    [live.id, service.key],
    [sandbox.id, testKey],
  ] as const) {
    const sample = await call<Delivery>('POST', `${ENDPOINTS}/${id}/test`, { key });
    assert.deepEqual([sample.status, sample.body.livemode], [201, false]);
  }
  await deliverDue();
  assert.deepEqual(
    receiver.requests.map(({ body }) => JSON.parse(body).livemode),
    [true, false, false, false],
  );
  for (const [key, id, delivery] of [
    [testKey, live.id, delivered[0]![0]!.id],
    [service.key, sandbox.id, delivered[1]![0]!.id],
  ] as const) {
    const { body } = await call<List<Endpoint>>('GET', ENDPOINTS, { key });
    assert.ok(body.data.length === 1 && body.data.every((endpoint) => endpoint.id !== id));
    for (const [method, path, json] of [
      ['GET', `${ENDPOINTS}/${id}`],
      ['PATCH', `${ENDPOINTS}/${id}`, { enabled: false }],
      ['DELETE', `${ENDPOINTS}/${id}`],
      ['POST', `${ENDPOINTS}/${id}/rotate-secret`, {}],
      ['POST', `${ENDPOINTS}/${id}/test`],
      ['POST', `${ENDPOINTS}/${id}/recover`, { since: '2026-01-01' }],
      ['GET', `${ENDPOINTS}/${id}/deliveries`],
      ['GET', `${DELIVERIES}/${delivery}`],
      ['GET', `${DELIVERIES}/${delivery}?wait=1`],
      ['POST', `${DELIVERIES}/${delivery}/resend`],
    ] as const) {
      const { status } = await call(method, path, { key, json });
      assert.equal(status, 404, `${method} ${path}`);
    }
  }
});

test('A delivery with more than 100 attempts shows the newest 100', async (t) => {
  const scene = await startWebhookService(t);
  const { app, append, deliverDue } = scene;
  const { id } = await createEndpoint(scene);
  await append({ data: DATA });
  await deliverDue();
  const [delivery] = await listDeliveries(scene, id);
  const row = await app.db.selectFrom('webhook_attempts').selectAll().executeTakeFirstOrThrow();
  const more = Array.from({ length: 120 }, (_, i) => ({ ...row, number: i + 2 }));
  await app.db.insertInto('webhook_attempts').values(more).execute();
  const { attempts } = await waitForDelivery(scene, delivery!.id);
  assert.deepEqual([attempts.length, attempts[0]!.number, attempts.at(-1)!.number], [100, 22, 121]);
});

test('Webhook test and resend replay their response for a repeated Idempotency-Key', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver } = scene;
  const { id } = await createEndpoint(scene);
  const twice = async (path: string, key: string) => {
    const options = { headers: { 'idempotency-key': key } };
    const first = await service.call<Delivery>('POST', path, options);
    await waitForDelivery(scene, first.body.id);
    const again = await service.call<Delivery>('POST', path, options);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.body, first.body);
    return first.body;
  };
  const made = await twice(`${ENDPOINTS}/${id}/test`, 'one');
  await twice(`${DELIVERIES}/${made.id}/resend`, 'two');
  const { attempts } = await waitForDelivery(scene, made.id);
  assert.equal(attempts.length, 2);
  assert.equal(receiver.requests.length, 2);
  assert.equal((await listDeliveries(scene, id)).length, 1);
});
