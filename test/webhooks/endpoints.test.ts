/** The operations on endpoints: create, update, enable, disable, rotate secrets, and delete. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { EVENT_TYPES } from '../../src/events/events.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { EXPIRE_DELIVERIES_JOB } from '../../src/webhooks/expire.ts';
import { startTestService } from '../helpers/app.ts';
import type { Received } from '../helpers/receiver.ts';
import { storedBytes } from '../helpers/stored-bytes.ts';
import { auditOf, type List } from '../team/team-service.ts';
import {
  createEndpoint,
  DELIVERIES,
  ENDPOINTS,
  type Endpoint,
  listDeliveries,
  paramErrorsOf,
  startWebhookService,
  statusAndCodeOf,
  waitForDelivery,
} from './webhook-service.ts';

const AT = 'https://example.com/hooks/a-password-in-the-path';

test('POST /v1/webhooks/endpoints returns the secret once; later reads omit it', async (t) => {
  const { service } = await startWebhookService(t);
  const { call } = service;
  const json = { url: AT, events: ['test.failed', 'test.completed'], description: 'The shop' };
  const { status, headers, body } = await call<Endpoint>('POST', ENDPOINTS, { json });
  assert.equal(status, 201);
  const { secret, ...endpoint } = body;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(headers.get('location'), `${ENDPOINTS}/${endpoint.id}`);
  const got = await call('GET', `${ENDPOINTS}/${endpoint.id}`);
  assert.equal(headers.get('etag'), got.headers.get('etag'));
  assert.match(endpoint.id, /^whe_/);
  assert.deepEqual(endpoint, {
    id: endpoint.id,
    object: 'webhook_endpoint',
    ...json,
    livemode: true,
    enabled: true,
    status: 'active',
    failing_since: null,
    auto_disabled_at: null,
    previous_secret_expires_at: null,
    created_at: '2026-11-21T10:00:00.000Z',
  });
  assert.deepEqual((await call('GET', `${ENDPOINTS}/${endpoint.id}`)).body, endpoint);
  assert.deepEqual((await call<List<Endpoint>>('GET', ENDPOINTS)).body.data, [endpoint]);
  assert.deepEqual(await auditOf(service, { object_id: endpoint.id }), [
    [
      'webhook_endpoint.created',
      {
        receiver: 'https://example.com',
        events: json.events,
        description: 'The shop',
        enabled: true,
      },
    ],
  ]);
});

test('POST /v1/webhooks/endpoints defaults to enabled, without description; * covers all events', async (t) => {
  const { call } = await startTestService(t);
  const create = async (json: object) =>
    (await call<Endpoint>('POST', ENDPOINTS, { json: { url: AT, ...json } })).body;
  const plain = await create({ events: ['*'] });
  assert.deepEqual([plain.enabled, plain.status, plain.description], [true, 'active', null]);
  const off = await create({ events: ['test.failed', '*'], enabled: false, description: null });
  assert.deepEqual([off.events, off.enabled, off.status], [['*'], false, 'disabled']);
  const all = await create({ events: [...EVENT_TYPES] });
  assert.deepEqual(all.events, [...EVENT_TYPES]);
  const { body } = await call<List<Endpoint>>('GET', `${ENDPOINTS}?limit=2`);
  assert.deepEqual([body.data.map(({ id }) => id), body.has_more], [[all.id, off.id], true]);
  const next = await call<List<Endpoint>>('GET', `${ENDPOINTS}?starting_after=${off.id}`);
  assert.deepEqual([next.body.data.map(({ id }) => id), next.body.has_more], [[plain.id], false]);
});

test('Webhook endpoint create and update report every invalid field with 422', async (t) => {
  const { call } = await startTestService(t);
  const made = await call<Endpoint>('POST', ENDPOINTS, { json: { url: AT, events: ['*'] } });
  const path = `${ENDPOINTS}/${made.body.id}`;
  const cases: [object, string[]][] = [
    [{ events: [] }, ['events must contain at least one event type; use ["*"] for all']],
    [{ events: ['test.failed', 'test.failed'] }, ['events must contain each event type only once']],
    [
      { events: [...EVENT_TYPES, '*'] },
      [`events must contain at most ${EVENT_TYPES.length} event types`],
    ],
    [{ events: '*' }, ['events must be a list of event types']],
    [{ events: null }, ['events must be a list of event types']],
    [{ enabled: 'yes' }, ['enabled must be true or false']],
    [{ enabled: null }, ['enabled must be true or false']],
    [{ description: 'x'.repeat(501) }, ['description must have at most 500 characters']],
    [{ description: 'a\u0000b' }, ['description must not contain control characters']],
    [{ description: '\ud800' }, ['description must be well-formed Unicode']],
    [{ description: 7 }, ['description must be a string']],
    [{ secret: 'whsec_x' }, ['secret is not a known parameter']],
    [{ status: 'active' }, ['status is not a known parameter']],
  ];
  for (const [json, faults] of cases) {
    const patched = await call('PATCH', path, { json });
    assert.deepEqual([patched.status, paramErrorsOf(patched)], [422, faults], JSON.stringify(json));
    const created = await call('POST', ENDPOINTS, { json: { url: AT, events: ['*'], ...json } });
    assert.deepEqual([created.status, paramErrorsOf(created)], [422, faults], JSON.stringify(json));
  }
  const types = await call('PATCH', path, { json: { events: ['test.completed', 'test.*'] } });
  assert.match(
    paramErrorsOf(types)[0]!,
    /^events\.1 must be one of test\.completed, .*, or \* for all$/,
  );
  const several = await call('POST', ENDPOINTS, {
    json: { url: 'ftp://example.com', enabled: 1, other: true },
  });
  assert.deepEqual(
    (several.body.errors as { param: string }[]).map(({ param }) => param).toSorted(),
    ['enabled', 'events', 'other', 'url'],
  );
  const now = await call('GET', path);
  const { secret: _, ...rest } = made.body;
  assert.deepEqual(now.body, rest);
});

test('PATCH /v1/webhooks/endpoints/{id} updates fields; a stale If-Match gets 412', async (t) => {
  const service = await startTestService(t);
  const { call } = service;
  const { body } = await call<Endpoint>('POST', ENDPOINTS, {
    json: { url: AT, events: ['*'], description: 'One' },
  });
  const path = `${ENDPOINTS}/${body.id}`;
  const etag = (await call('GET', path)).headers.get('etag')!;
  const patch = (json: object, match?: string) =>
    call<Endpoint>('PATCH', path, { json, headers: match ? { 'if-match': match } : {} });
  const events = ['domain.verified'];
  const changed = await patch({ events, description: null }, etag);
  assert.equal(changed.status, 200);
  assert.deepEqual(
    [changed.body.url, changed.body.events, changed.body.description],
    [AT, events, null],
  );
  assert.deepEqual(statusAndCodeOf(await patch({ description: 'Two' }, etag)), [
    412,
    'precondition_failed',
  ]);
  const refused = await call('DELETE', path, { headers: { 'if-match': etag } });
  assert.deepEqual(statusAndCodeOf(refused), [412, 'precondition_failed']);
  const read = await call('GET', path);
  assert.deepEqual(read.body, changed.body);
  assert.equal(read.headers.get('etag'), changed.headers.get('etag'));
  const same = await patch({ events, enabled: true }, read.headers.get('etag')!);
  assert.deepEqual([same.status, same.body], [200, changed.body]);
  assert.equal((await patch({ url: 'https://example.org/x', enabled: false })).status, 200);
  assert.deepEqual(await auditOf(service, { action: 'webhook_endpoint.changed' }), [
    [
      'webhook_endpoint.changed',
      {
        receiver: { from: 'https://example.com', to: 'https://example.org' },
        status: { from: 'active', to: 'disabled' },
      },
    ],
    [
      'webhook_endpoint.changed',
      { events: { from: ['*'], to: events }, description: { from: 'One', to: null } },
    ],
  ]);
  for (const method of ['GET', 'PATCH', 'DELETE'])
    assert.equal((await call(method, `${ENDPOINTS}/whe_none`)).status, 404);
});

test('Disabling a webhook endpoint holds its deliveries; enabling resets its failure state', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, app, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  const path = `${ENDPOINTS}/${id}`;
  const patch = (json: object) => service.call<Endpoint>('PATCH', path, { json });
  receiver.respond = () => 500;
  await append();
  await deliverDue();
  assert.deepEqual(
    (await listDeliveries(scene, id)).map(({ status, next_attempt_at }) => [
      status,
      next_attempt_at,
    ]),
    [['pending', '2026-11-21T10:01:00.000Z']],
  );
  assert.equal((await patch({ enabled: false })).body.status, 'disabled');
  await append();
  clock.advance(3_600_000);
  await deliverDue();
  assert.deepEqual(
    (await listDeliveries(scene, id)).map(({ status, next_attempt_at }) => [
      status,
      next_attempt_at,
    ]),
    [['held', null]],
  );
  const rowOf = () =>
    app.db
      .selectFrom('webhook_endpoints')
      .select(['enabled', 'failing_since', 'auto_disabled_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  assert.equal((await rowOf()).failing_since, '2026-11-21T10:00:00.000Z');
  assert.equal((await patch({ enabled: true })).body.status, 'active');
  assert.equal((await rowOf()).failing_since, null);
  receiver.respond = () => 200;
  await append();
  await deliverDue();
  assert.equal(receiver.requests.length, 2);
  assert.deepEqual(
    (await listDeliveries(scene, id)).map(({ status }) => status),
    ['succeeded', 'held'],
  );
  const auto = '2026-11-21T11:00:00.000Z';
  await app.db
    .updateTable('webhook_endpoints')
    .set({ auto_disabled_at: auto, failing_since: auto })
    .execute();
  assert.equal((await service.call('GET', path)).body.status, 'auto_disabled');
  assert.equal((await patch({ description: 'still' })).body.status, 'auto_disabled');
  assert.equal((await patch({ enabled: true })).body.status, 'active');
  assert.deepEqual(await rowOf(), { enabled: 1, failing_since: null, auto_disabled_at: null });
});

test('Changing a webhook endpoint’s URL resets its failure history', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, app, append, deliverDue, clock } = scene;
  const { id } = await createEndpoint(scene);
  receiver.respond = ({ path }) => (path === '/hooks' ? 500 : 200);
  await append();
  await deliverDue();
  const url = receiver.url.replace('/hooks', '/new');
  await service.call('PATCH', `${ENDPOINTS}/${id}`, { json: { url } });
  const row = await app.db.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.url, row.failing_since], [url, null]);
  clock.advance(60_000);
  await deliverDue();
  const [delivery] = await listDeliveries(scene, id);
  const { body } = await service.call<{ attempts: { url: string }[] }>(
    'GET',
    `${DELIVERIES}/${delivery!.id}`,
  );
  assert.deepEqual(
    [delivery!.status, ...body.attempts.map((attempt) => attempt.url)],
    ['succeeded', receiver.url, url],
  );
});

/** The signatures of a delivery in our own scheme, by the current and the previous secret. */
function signersOf({ headers, body }: Received, secrets: Record<string, string>) {
  const timestamp = headers['x-service-timestamp'];
  const nameOf = (field: string) =>
    Object.keys(secrets).find((name) => {
      const hmac = createHmac('sha256', secrets[name]!).update(`${timestamp}.${body}`);
      return headers[field] === `sha256=${hmac.digest('hex')}`;
    });
  return [
    nameOf('x-service-signature'),
    nameOf('x-service-signature-previous'),
    String(headers['webhook-signature']).split(' ').length,
  ];
}

test('After secret rotation both secrets sign during the overlap, then only the new one', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, append, deliverDue, clock } = scene;
  const { id, secret, ...endpoint } = await createEndpoint(scene);
  const secrets: Record<string, string> = { first: secret };
  const rotate = async (json?: { overlap: number }) => {
    const path = `${ENDPOINTS}/${id}/rotate-secret`;
    const { status, body } = await service.call<Endpoint>('POST', path, json ? { json } : {});
    const { secret: fresh, ...rest } = body;
    assert.equal(status, 200);
    const { overlap = 86_400 } = json ?? {};
    const previous_secret_expires_at = overlap === 0 ? null : isoTime(clock.now() + overlap * 1000);
    assert.deepEqual(rest, { id, ...endpoint, previous_secret_expires_at });
    assert.ok(!Object.values(secrets).includes(fresh));
    return fresh;
  };
  const signers = async () => {
    await append();
    await deliverDue();
    return signersOf(receiver.requests.at(-1)!, secrets);
  };
  assert.deepEqual(await signers(), ['first', undefined, 1]);
  secrets.second = await rotate();
  assert.deepEqual(await signers(), ['second', 'first', 2]);
  clock.advance(86_400_000 - 1);
  assert.deepEqual(await signers(), ['second', 'first', 2]);
  clock.advance(1);
  assert.deepEqual(await signers(), ['second', undefined, 1]);
  secrets.third = await rotate({ overlap: 60 });
  // Of three secrets, the newest two sign.
  secrets.fourth = await rotate({ overlap: 604_800 });
  assert.deepEqual(await signers(), ['fourth', 'third', 2]);
  secrets.fifth = await rotate({ overlap: 0 });
  assert.deepEqual(await signers(), ['fifth', undefined, 1]);
  for (const overlap of [-1, 604_801, 1.5, '60', null]) {
    const path = `${ENDPOINTS}/${id}/rotate-secret`;
    assert.equal((await service.call('POST', path, { json: { overlap } })).status, 422);
  }
  assert.deepEqual(
    (await auditOf(service, { action: 'webhook_endpoint.secret_rotated' })).map(([, d]) => d),
    [{ overlap: 0 }, { overlap: 604_800 }, { overlap: 60 }, { overlap: 86_400 }],
  );
});

test('Deleting a webhook endpoint removes its deliveries and stops sending', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver, app, append, deliverDue, clock } = scene;
  const { call } = service;
  const other = await createEndpoint(scene, { url: receiver.url.replace('hooks', 'other') });
  const { id } = await createEndpoint(scene);
  receiver.respond = () => 500;
  await append();
  await deliverDue();
  assert.equal(receiver.requests.length, 2);
  const [delivery] = await listDeliveries(scene, id);
  const etag = (await call('GET', `${ENDPOINTS}/${id}`)).headers.get('etag')!;
  const deleted = await call('DELETE', `${ENDPOINTS}/${id}`, { headers: { 'if-match': etag } });
  assert.deepEqual(
    [deleted.status, deleted.body],
    [200, { id, object: 'webhook_endpoint', deleted: true }],
  );
  for (const [method, path] of [
    ['GET', `${ENDPOINTS}/${id}`],
    ['PATCH', `${ENDPOINTS}/${id}`],
    ['DELETE', `${ENDPOINTS}/${id}`],
    ['GET', `${ENDPOINTS}/${id}/deliveries`],
    ['POST', `${ENDPOINTS}/${id}/test`],
    ['POST', `${ENDPOINTS}/${id}/rotate-secret`],
    ['GET', `${DELIVERIES}/${delivery!.id}`],
    ['POST', `${DELIVERIES}/${delivery!.id}/resend`],
  ] as const)
    assert.equal((await call(method, path)).status, 404, `${method} ${path}`);
  const since = '2026-11-21T00:00:00Z';
  const recovered = await call('POST', `${ENDPOINTS}/${id}/recover`, { json: { since } });
  assert.equal(recovered.status, 404);
  const list = await call<List<Endpoint>>('GET', ENDPOINTS);
  assert.deepEqual(
    list.body.data.map((one) => one.id),
    [other.id],
  );
  await append();
  clock.advance(60_000);
  await deliverDue();
  assert.deepEqual(
    receiver.requests.slice(2).map(({ path }) => path),
    ['/other', '/other'],
  );
  assert.deepEqual(await auditOf(service, { action: 'webhook_endpoint.deleted' }), [
    ['webhook_endpoint.deleted', { receiver: new URL(receiver.url).origin }],
  ]);
  // The job woken by the deletion is done when the scheduler has stopped.
  app.scheduler.wake(EXPIRE_DELIVERIES_JOB);
  await app.scheduler.stop();
  const left = await app.db.selectFrom('webhook_endpoints').select('id').execute();
  assert.deepEqual(left, [{ id: other.id }]);
  const rows = await app.db.selectFrom('webhook_deliveries').select('endpoint_id').execute();
  assert.ok(rows.every(({ endpoint_id }) => endpoint_id === other.id));
});

test('The 101st webhook endpoint gets 409; deleting one allows another', async (t) => {
  const { call } = await startTestService(t);
  const create = () => call<Endpoint>('POST', ENDPOINTS, { json: { url: AT, events: ['*'] } });
  const made = [];
  for (let i = 0; i < 100; i++) made.push(await create());
  assert.ok(made.every(({ status }) => status === 201));
  const refused = await create();
  assert.deepEqual(statusAndCodeOf(refused), [409, 'conflict']);
  assert.match(String((refused.body as never as object) && refused.text), /Delete one/);
  await call('DELETE', `${ENDPOINTS}/${made[0]!.body.id}`);
  assert.equal((await create()).status, 201);
});

test('Endpoint creation and secret rotation with an Idempotency-Key replay the same secret', async (t) => {
  const { call } = await startTestService(t);
  const headers = { 'idempotency-key': 'one' };
  const json = { url: AT, events: ['*'] };
  const first = await call<Endpoint>('POST', ENDPOINTS, { json, headers });
  const again = await call<Endpoint>('POST', ENDPOINTS, { json, headers });
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual([again.status, again.body], [201, first.body]);
  assert.equal((await call<List<Endpoint>>('GET', ENDPOINTS)).body.data.length, 1);
  const path = `${ENDPOINTS}/${first.body.id}/rotate-secret`;
  const rotated = await call<Endpoint>('POST', path, { headers: { 'idempotency-key': 'two' } });
  const repeated = await call<Endpoint>('POST', path, { headers: { 'idempotency-key': 'two' } });
  assert.equal(repeated.body.secret, rotated.body.secret);
  assert.notEqual(rotated.body.secret, first.body.secret);
});

// The database file and the log never contain endpoint secrets.

test('Database and log contain no current or previous webhook secrets', async (t) => {
  const scene = await startWebhookService(t);
  const { service, receiver } = scene;
  const { call, folder, key, logged } = service;
  const headers = (name: string) => ({ 'idempotency-key': name });
  const made = await createEndpoint(scene, {}, { headers: headers('one') });
  const path = `${ENDPOINTS}/${made.id}`;
  const rotated = await call<Endpoint>('POST', `${path}/rotate-secret`, {
    headers: headers('two'),
  });
  const sample = await call<{ id: string }>('POST', `${path}/test`, { headers: headers('three') });
  assert.equal((await waitForDelivery(scene, sample.body.id)).status, 'succeeded');
  await call('PATCH', path, { json: { secret: made.secret } });
  const bytes = await storedBytes(service.app, folder);
  assert.ok(bytes.includes(receiver.url), 'what is no secret is found');
  const log = JSON.stringify(logged);
  assert.ok(log.includes(path), 'what is asked is logged');
  for (const secret of [made.secret, rotated.body.secret, key]) {
    const bare = secret.replace(/^whsec_/, '');
    const texts = [bare, Buffer.from(bare, 'base64').toString('hex')];
    for (const text of [...texts, Buffer.from(bare, 'base64')])
      assert.ok(!bytes.includes(text), 'a secret is in the database');
    for (const text of texts) assert.ok(!log.includes(text), 'a secret is in the log');
  }
});
