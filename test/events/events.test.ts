/** The operations on events: the same object in the API and in webhooks, separated by mode. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendEvent, eventAppended, expireEvents } from '../../src/events/events.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { transact } from '../../src/store/open.ts';
import { subscribe } from '../../src/store/subscribers.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { goodMessage } from '../helpers/good-message.ts';
import type { List, Problem } from '../team/team-service.ts';
import { createEndpoint, startWebhookService } from '../webhooks/webhook-service.ts';

interface Event {
  id: string;
  object: 'event';
  type: string;
  created_at: string;
  livemode: boolean;
  data: Record<string, unknown>;
}

const DATA = { id: 'test_1', object: 'test' };

test('The test.completed event equals the webhook body and contains the listed test', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver } = scene;
  const { call } = service;
  await createEndpoint(scene);
  const sent = await call<Test>('POST', '/v1/tests?client_ip=192.0.2.1&helo=a', {
    body: goodMessage(),
    headers: { 'content-type': 'message/rfc822' },
  });
  await service.getTest(sent.body.id, '?wait=50');
  const [request] = await receiver.waitForRequests(1);
  const list = await call<List<Event>>('GET', '/v1/events');
  const [event] = list.body.data;
  assert.equal(list.body.data.length, 1);
  assert.deepEqual([event!.type, event!.livemode], ['test.completed', true]);
  const one = await call<Event>('GET', `/v1/events/${event!.id}`);
  assert.deepEqual(one.body, event);
  assert.equal(one.text, request!.body, 'to the letter');
  assert.equal(request!.headers['x-service-event-id'], event!.id);
  const tests = await call<List<Test>>('GET', '/v1/tests');
  assert.deepEqual(event!.data, tests.body.data[0]);
});

test('Event data is returned and delivered unchanged', async (t) => {
  const scene = await startWebhookService(t);
  const { service, append, receiver } = scene;
  await createEndpoint(scene);
  const data = {
    ...DATA,
    text: 'Grüße, "quotes", \u2028 and </script>',
    deep: { list: [{ any: null }, [1.5]], __proto_: 1 },
    number: 1e21,
  };
  const { id } = await append({ type: 'test.failed', data });
  const { body } = await service.call<Event>('GET', `/v1/events/${id}`);
  assert.deepEqual(body.data, JSON.parse(JSON.stringify(data)));
  const [request] = await receiver.waitForRequests(1);
  assert.deepEqual(JSON.parse(request!.body), body);
});

test('GET /v1/events lists newest first, filtered by type and time, with pagination', async (t) => {
  const { service, append, clock } = await startWebhookService(t);
  const ids: string[] = [];
  for (const type of [
    'test.completed',
    'test.failed',
    'test.completed',
    'alert.triggered',
  ] as const) {
    ids.unshift((await append({ type, data: DATA })).id);
    clock.advance(60_000);
  }
  const idsOf = async (query: string) => {
    const { status, body, text } = await service.call<List<Event>>('GET', `/v1/events${query}`);
    assert.equal(status, 200, text);
    return [...body.data.map(({ id }) => id), body.has_more];
  };
  assert.deepEqual(await idsOf(''), [...ids, false]);
  assert.deepEqual(await idsOf('?type=test.completed'), [ids[1], ids[3], false]);
  assert.deepEqual(await idsOf('?type=domain.verified'), [false]);
  assert.deepEqual(await idsOf('?created_after=2026-11-21T10:02:00Z'), [ids[0], ids[1], false]);
  assert.deepEqual(await idsOf('?created_after=2026-11-21T11:02:00%2B01:00&limit=1'), [
    ids[0],
    true,
  ]);
  assert.deepEqual(await idsOf('?limit=2'), [ids[0], ids[1], true]);
  assert.deepEqual(await idsOf(`?limit=2&starting_after=${ids[1]}`), [ids[2], ids[3], false]);
  assert.deepEqual(await idsOf(`?limit=2&ending_before=${ids[2]}`), [ids[0], ids[1], false]);
  for (const query of [
    'type=test',
    'type=*',
    'created_after=yesterday',
    'limit=0',
    'livemode=true',
  ]) {
    const { status, body } = await service.call<Problem>('GET', `/v1/events?${query}`);
    assert.deepEqual([status, body.errors?.[0]?.param], [422, query.split('=')[0]], query);
  }
});

test('GET /v1/events returns only events of the key’s own mode', async (t) => {
  const { service, append } = await startWebhookService(t);
  const { call, makeKey } = service;
  const sandbox = await makeKey('member', false);
  const live = await append({ data: DATA, livemode: true });
  const tried = await append({ data: DATA, livemode: false });
  for (const [key, own, other] of [
    [undefined, live.id, tried.id],
    [sandbox, tried.id, live.id],
  ] as const) {
    const options = key === undefined ? {} : { key };
    const list = await call<List<Event>>('GET', '/v1/events', options);
    assert.deepEqual(
      list.body.data.map(({ id }) => id),
      [own],
    );
    const found = await call<Event>('GET', `/v1/events/${own}`, options);
    assert.equal(found.body.livemode, key === undefined);
    assert.equal((await call('GET', `/v1/events/${other}`, options)).status, 404);
  }
  assert.equal((await call('GET', '/v1/events/evt_none')).status, 404);
});

// Events are deleted in any number after the retention time; 0 keeps all.

const DAY_MS = 86_400_000;

test('expireEvents deletes events older than EVENT_RETENTION; 0 keeps all', async (t) => {
  const clock = testClock();
  const { app } = await startTestService(t, { clock });
  const append = (count: number) =>
    transact(app.db, async (tx) => {
      for (let i = 0; i < count; i++)
        await appendEvent(tx, { type: 'test.failed', livemode: true, data: {} }, app);
    });
  const ids = async () => (await app.db.selectFrom('events').select('id').execute()).length;
  await append(2_001);
  clock.advance(30 * DAY_MS);
  await append(1);
  await expireEvents(app);
  assert.equal(await ids(), 2_002, 'just 30 days old is not older');
  clock.advance(1);
  await expireEvents(app);
  assert.equal(await ids(), 1);
  app.config = { ...app.config, EVENT_RETENTION: 0 };
  clock.advance(1000 * DAY_MS);
  await expireEvents(app);
  assert.equal(await ids(), 1);
});

test('A failing event subscriber rolls back the event and the change', async (t) => {
  const { app } = await startTestService(t);
  app.subscribers.add(
    subscribe(eventAppended, async () => {
      throw new Error('no');
    }),
  );
  const change = transact(app.db, async (tx) => {
    await tx.updateTable('members').set({ name: 'changed' }).execute();
    await appendEvent(tx, { type: 'test.failed', livemode: true, data: {} }, app);
  });
  await assert.rejects(change, /^Error: no$/);
  assert.deepEqual(await app.db.selectFrom('events').select('id').execute(), []);
  const { name } = await app.db.selectFrom('members').select('name').executeTakeFirstOrThrow();
  assert.equal(name, 'owner');
});

test('DELIVERABILITY_OWNER_EMAIL creates the first owner in an empty database', async (t) => {
  const env = { DELIVERABILITY_OWNER_EMAIL: 'First@example.com' };
  const { app } = await startTestService(t, { env });
  const members = await app.db.selectFrom('members').select(['email', 'role']).execute();
  assert.deepEqual(members, [{ email: 'first@example.com', role: 'owner' }]);
});
