/** Requests with the same Idempotency-Key take effect once and get the same response. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import * as v from 'valibot';
import { deleteExpiredResponses } from '../../src/http/idempotency.ts';
import { route } from '../../src/http/route.ts';
import { AppError } from '../../src/lib/errors.ts';
import { newLease } from '../../src/store/leases.ts';
import {
  type CallOptions,
  type ServiceOptions,
  startTestService,
  temporaryFolder,
} from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { SAME_NODE } from '../helpers/store.ts';
import { bearer, type RoutedService, startRoutedService } from './routed.ts';

const MAIL = 'From: a@example.com\r\nSubject: Hello\r\n\r\nBody\r\n';
const HOUR = 3_600_000;

/** A service, and POST /v1/tests with an Idempotency-Key. */
async function start(t: TestContext, options?: ServiceOptions) {
  const service = await startTestService(t, options);
  const create = (key: string, json: object = {}, apiKey = service.key) =>
    service.call('POST', '/v1/tests', { json, key: apiKey, headers: { 'idempotency-key': key } });
  const submit = (key: string, body: string, query = '') =>
    service.call('POST', `/v1/tests${query}`, {
      body,
      headers: { 'idempotency-key': key, 'content-type': 'message/rfc822' },
    });
  const tests = async () =>
    (await service.app.db.selectFrom('tests').select('id').execute()).map(({ id }) => id);
  return { ...service, create, submit, tests };
}

describe('Idempotency-Key with the same request', () => {
  it('replays the first response and does nothing else', async (t) => {
    const { create, tests } = await start(t);
    const first = await create('k1', { name: 'a' });
    const again = await create('k1', { name: 'a' });
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.text, first.text);
    for (const name of ['location', 'etag', 'content-type'])
      assert.equal(again.headers.get(name), first.headers.get(name));
    assert.equal(first.headers.get('idempotent-replayed'), null);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
    assert.deepEqual(await tests(), [first.body.id]);
  });

  it('fifty concurrent requests create one object', async (t) => {
    const { create, tests } = await start(t);
    const answers = await Promise.all(Array.from({ length: 50 }, () => create('k1')));
    const [id, ...others] = await tests();
    assert.deepEqual(others, []);
    for (const { status, body, headers } of answers)
      if (status === 409) {
        assert.equal(body.code, 'idempotency_in_progress');
        assert.equal(headers.get('retry-after'), '1');
      } else assert.deepEqual([status, body.id], [201, id]);
    assert.equal(
      answers.filter((a) => a.headers.get('idempotent-replayed') === null && a.status === 201)
        .length,
      1,
    );
  });

  it('replays for a submitted message', async (t) => {
    const { submit, tests } = await start(t);
    const large = MAIL + 'x'.repeat(70).concat('\r\n').repeat(40_000);
    const first = await submit('k1', large);
    const again = await submit('k1', large);
    assert.deepEqual([again.status, again.body.id], [201, first.body.id]);
    assert.equal((await submit('k1', large.replace(/x\r\n$/, 'y\r\n'))).status, 422);
    assert.equal((await tests()).length, 1);
  });

  it('is separate for each API key', async (t) => {
    const { create, makeKey, tests } = await start(t);
    const other = await makeKey('member');
    assert.notEqual((await create('k1')).body.id, (await create('k1', {}, other)).body.id);
    assert.equal((await tests()).length, 2);
  });

  it('expires after 24 hours', async (t) => {
    const clock = testClock();
    const { create, app } = await start(t, { clock });
    const kept = async () =>
      (await app.db.selectFrom('idempotency_keys').select('key').execute()).map(({ key }) => key);
    const first = await create('k1');
    clock.advance(24 * HOUR - 1);
    await create('k2');
    await deleteExpiredResponses(app);
    assert.equal((await create('k1')).body.id, first.body.id);
    clock.advance(1);
    const second = await create('k1', { name: 'another' });
    assert.notEqual(second.body.id, first.body.id);
    assert.equal((await create('k1', { name: 'another' })).body.id, second.body.id);
    clock.advance(24 * HOUR - 1);
    await deleteExpiredResponses(app);
    assert.deepEqual(await kept(), ['k1']);
    clock.advance(1);
    await deleteExpiredResponses(app);
    assert.deepEqual(await kept(), []);
  });
});

describe('Idempotency-Key with a different request', () => {
  it('gets 422 idempotency_mismatch, whatever differs', async (t) => {
    const { create, submit, call, tests } = await start(t);
    const refused = ({ status, body }: { status: number; body: unknown }) =>
      assert.deepEqual([status, (body as { code: string }).code], [422, 'idempotency_mismatch']);
    const { body } = await create('k1', { name: 'a' });
    refused(await create('k1', { name: 'b' }));
    refused(await submit('k1', MAIL));
    const headers = { 'idempotency-key': 'k1' };
    refused(await call('POST', `/v1/tests/${body.id}/reanalyze`, { headers }));
    await submit('k2', MAIL, '?name=a');
    refused(await submit('k2', MAIL, '?name=b'));
    refused(await submit('k2', MAIL));
    assert.equal((await tests()).length, 2);
  });
});

describe('Idempotency-Key after the caller’s role was lowered', () => {
  /** A member who created a test and was then made a viewer. */
  async function lowered(t: TestContext, clock = testClock()) {
    const service = await start(t, { clock });
    const { create, call, makeMember } = service;
    const member = await makeMember('member');
    const made = await create('k1', { name: 'a' }, member.key);
    assert.equal(made.status, 201);
    const json = { role: 'viewer' };
    assert.equal((await call('PATCH', `/v1/team/members/${member.id}`, { json })).status, 200);
    const again = (key = 'k1', options: CallOptions = { json: { name: 'a' } }, query = '') =>
      call<Record<string, string>>('POST', `/v1/tests${query}`, {
        key: member.key,
        ...options,
        headers: { 'idempotency-key': key, ...options.headers },
      });
    const rows = () => service.app.db.selectFrom('idempotency_keys').selectAll().execute();
    return { ...service, made, again, rows, member };
  }

  it('replays an earlier response', async (t) => {
    const { made, again, rows, tests } = await lowered(t);
    const before = await rows();
    const { status, text, headers } = await again();
    assert.deepEqual([status, text], [201, made.text]);
    assert.equal(headers.get('idempotent-replayed'), 'true');
    for (const name of ['location', 'etag'])
      assert.equal(headers.get(name), made.headers.get(name));
    assert.deepEqual([await rows(), await tests()], [before, [made.body.id]]);
  });

  it('rejects every other request with 403 and stores nothing', async (t) => {
    const { again, rows, tests } = await lowered(t);
    const before = await rows();
    const typed = (type: string, body: string) => ({ body, headers: { 'content-type': type } });
    for (const refused of [
      await again('k2'),
      await again('k1', { json: { name: 'b' } }),
      await again('k1', { json: { name: 'a' } }, '?no_such=1'),
      await again('k1', { json: { no_such_field: 1 } }),
      await again('k2', { json: { no_such_field: 1 } }),
      await again('k1', typed('application/json', '{"half":')),
      await again('k1', typed('text/plain', 'x')),
      await again('k1', typed('message/rfc822', MAIL)),
      await again('k1', typed('application/json', ' '.repeat(1024 * 1024 + 1))),
      await again(''),
      await again('x'.repeat(256)),
    ]) {
      assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], refused.text);
      assert.match(refused.body.detail!, /requires the member role\. Your role is viewer/);
    }
    assert.deepEqual([await rows(), (await tests()).length], [before, 1]);
  });

  it('answers 409 while the first request is running', async (t) => {
    const { again, app } = await lowered(t);
    await app.db.updateTable('idempotency_keys').set({ status: null, response: null }).execute();
    const { status, body } = await again();
    assert.deepEqual([status, body.code], [409, 'idempotency_in_progress']);
    assert.equal((await again('k1', { json: { name: 'b' } })).status, 403);
  });

  it('answers 403 after 24 hours', async (t) => {
    const clock = testClock();
    const { again } = await lowered(t, clock);
    clock.advance(24 * HOUR - 1);
    assert.equal((await again()).status, 201);
    clock.advance(1);
    assert.equal((await again()).status, 403);
  });

  it('answers 401 once the member is removed', async (t) => {
    const { again, call, member } = await lowered(t);
    assert.equal((await call('DELETE', `/v1/team/members/${member.id}`)).status, 200);
    assert.equal((await again()).status, 401);
  });
});

it('Idempotency-Key must have 1 to 255 characters', async (t) => {
  const { create } = await start(t);
  for (const key of ['', 'x'.repeat(256)]) {
    const { status, body } = await create(key);
    assert.equal(status, 422);
    assert.equal((body.errors as { param: string }[])[0]!.param, 'Idempotency-Key');
  }
  assert.equal((await create('x'.repeat(255))).status, 201);
});

it('Stored idempotent responses are encrypted and bound to their row', async (t) => {
  const { create, app } = await start(t);
  const { body } = await create('k1', { name: 'a' });
  await create('k2', { name: 'b' });
  const row = () =>
    app.db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('key', '=', 'k1')
      .executeTakeFirstOrThrow();
  const kept = await row();
  assert.ok(kept.response && !Buffer.from(kept.response, 'base64').includes(body.id as string));
  // A response in the row of another request can't be decrypted.
  await app.db.updateTable('idempotency_keys').set({ response: kept.response }).execute();
  const moved = await create('k2', { name: 'b' });
  assert.deepEqual([moved.status, moved.body.code], [409, 'conflict']);
  assert.equal((await create('k1', { name: 'a' })).body.id, body.id);
});

it('Unfinished idempotency claims are released at the next start', async (t) => {
  const folder = temporaryFolder(t);
  // Closed here and not by the test.
  const before = await start({ after() {} } as never, { folder, env: SAME_NODE });
  const { body } = await before.create('done');
  const row = await before.app.db
    .selectFrom('idempotency_keys')
    .selectAll()
    .executeTakeFirstOrThrow();
  const claim = { ...row, key: 'cut off', status: null, response: newLease(before.app) };
  await before.app.db.insertInto('idempotency_keys').values(claim).execute();
  const stuck = await before.create('cut off');
  assert.deepEqual([stuck.status, stuck.body.code], [409, 'idempotency_in_progress']);
  await before.stop();
  const after = await start(t, { folder, env: SAME_NODE });
  assert.equal((await after.create('cut off', {}, before.key)).status, 201);
  assert.equal((await after.create('done', {}, before.key)).body.id, body.id);
});

describe('Idempotent handler', () => {
  const Made = v.object({ id: v.string() });
  const ids: string[] = [];
  let fail: 'before' | 'in' | 'after' | null = null;
  let held: Promise<void> | null = null;

  const declared = { role: 'member', response: Made, status: 201 } as const;
  const location = ({ id }: { id: string }) => `/made/${id}`;
  const creating = route({
    ...declared,
    location,
    method: 'POST',
    path: '/made',
    operation: 'make',
    summary: 'Make',
    async handle({ app, transact, setHeader }) {
      if (fail === 'before') throw new AppError('conflict', 'Not now.');
      setHeader('x-made', 'yes');
      const id = app.newId('evt');
      const made = await transact(async (tx) => {
        const row = { id, type: 'made', livemode: 1, created_at: 'now', data: '{}' };
        await tx.insertInto('events').values(row).execute();
        if (fail === 'in') throw new AppError('unavailable', 'Not now.');
        return { id };
      });
      if (fail === 'after') throw new Error('after the write');
      return made;
    },
  });
  const acting = route({
    ...declared,
    location,
    method: 'POST',
    path: '/acted',
    operation: 'act',
    summary: 'Act',
    writes: false,
    async handle() {
      await held;
      ids.push(`a${ids.length}`);
      return { id: ids.at(-1)! };
    },
  });
  const signing = route({
    ...declared,
    location,
    method: 'POST',
    path: '/signed',
    operation: 'sign',
    summary: 'Sign',
    writes: false,
    handle({ setHeader }) {
      setHeader('Set-Cookie', 'a=b');
      return { id: 's' };
    },
  });
  const open = route({
    method: 'POST',
    path: '/open',
    operation: 'open',
    role: 'public',
    summary: 'Open',
    response: Made,
    handle: () => ({ id: `${ids.push('o')}` }),
  });

  const post = async ({ send, key }: RoutedService, path: string) =>
    send('POST', path, { headers: { ...bearer(key), 'idempotency-key': 'k1' } });
  const made = async ({ app }: RoutedService) =>
    (await app.db.selectFrom('events').select('id').execute()).map(({ id }) => id);

  it('that fails before or during its write can be retried', async (t) => {
    const service = await startRoutedService(t, [creating]);
    fail = 'before';
    assert.equal((await post(service, '/made')).status, 409);
    fail = 'in';
    assert.equal((await post(service, '/made')).status, 503);
    assert.deepEqual(await made(service), []);
    fail = null;
    const done = await post(service, '/made');
    assert.deepEqual([done.status, await made(service)], [201, [done.json.id]]);
  });

  it('that fails after its write replays the stored response', async (t) => {
    const service = await startRoutedService(t, [creating]);
    fail = 'after';
    assert.equal((await post(service, '/made')).status, 500);
    fail = null;
    const again = await post(service, '/made');
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(await made(service), [again.json.id]);
    assert.equal(again.headers.location, `/made/${again.json.id}`);
    assert.equal(again.headers['x-made'], 'yes');
  });

  it('that sets a cookie sets it only in the first response', async (t) => {
    const service = await startRoutedService(t, [signing]);
    const first = await post(service, '/signed');
    assert.deepEqual(first.headers['set-cookie'], ['a=b']);
    const again = await post(service, '/signed');
    assert.deepEqual([again.headers['idempotent-replayed'], again.text], ['true', first.text]);
    assert.equal(again.headers['set-cookie'], undefined);
    assert.equal(again.headers.location, '/made/s');
  });

  it('without a transaction stores its response afterwards; concurrent retries get 409', async (t) => {
    const service = await startRoutedService(t, [acting]);
    const release = Promise.withResolvers<void>();
    held = release.promise;
    // Either of the two may run first.
    const [one, two] = [post(service, '/acted'), post(service, '/acted')];
    const second = await Promise.race([one, two]);
    assert.equal(second.status, 409);
    assert.equal(second.json.code, 'idempotency_in_progress');
    assert.equal(second.headers['retry-after'], '1');
    release.resolve();
    const done = (await Promise.all([one, two])).find(({ status }) => status === 201)!;
    assert.equal((await post(service, '/acted')).text, done.text);
    assert.equal(ids.filter((id) => id.startsWith('a')).length, 1);
  });

  it('without credentials ignores the key', async (t) => {
    const service = await startRoutedService(t, [open]);
    const [one, two] = [await post(service, '/open'), await post(service, '/open')];
    assert.deepEqual([one.status, two.status], [200, 200]);
    assert.notEqual(one.text, two.text);
    assert.deepEqual(await service.app.db.selectFrom('idempotency_keys').selectAll().execute(), []);
  });

  it('keeps session requests separate from API key requests of the same member', async (t) => {
    const service = await startRoutedService(t, [acting]);
    held = null;
    const headers = { cookie: 'deliverability=good', 'sec-fetch-site': 'same-origin' };
    const bySession = () =>
      service.send('POST', '/acted', { headers: { ...headers, 'idempotency-key': 'k1' } });
    const first = await bySession();
    assert.equal((await bySession()).text, first.text);
    assert.notEqual((await post(service, '/acted')).text, first.text);
  });
});
