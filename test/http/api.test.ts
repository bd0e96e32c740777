/** The common behavior of the API: credentials, roles, validation, errors, pagination, and surfaces. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createApiKey } from '../../src/team/api-keys.ts';
import { makeOwner } from '../../src/team/owner.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';

interface Problem {
  object: string;
  code: string;
  request_id: string;
  errors?: { param: string; code: string; message: string }[];
}

test('Public endpoints answer without credentials', async (t) => {
  const { call } = await startTestService(t);
  const objects = {
    '/healthz': 'health',
    '/readyz': 'readiness',
    '/status': 'service_status',
    '/v1/status': 'service_status',
    '/v1/capabilities': 'capability_manifest',
  };
  for (const [path, object] of Object.entries(objects)) {
    const { status, body } = await call('GET', path, { key: null });
    assert.equal(status, 200, path);
    assert.equal((body as { object: string }).object, object);
  }
  const { body } = await call<{ dependencies: { name: string; status: string }[] }>(
    'GET',
    '/readyz',
    { key: null },
  );
  assert.deepEqual(
    Object.fromEntries(body.dependencies.map(({ name, status }) => [name, status])),
    {
      database: 'up',
      mail_listener: 'up',
      http_listener: 'up',
      scheduler: 'up',
      dns: 'up',
      outgoing_smtp: 'disabled',
      seed_mailboxes: 'disabled',
      blocklists: 'disabled',
      feedback_storage: 'up',
    },
  );
});

test('Without a database /readyz answers 503 while /healthz answers 200', async (t) => {
  const { call, app } = await startTestService(t);
  const { db } = app;
  app.db = {
    getExecutor: () => db.getExecutor(),
    selectFrom: () => {
      throw Object.assign(new Error('gone'), { code: 'SQLITE_IOERR' });
    },
  } as never;
  t.after(() => {
    app.db = db;
  });
  assert.equal((await call('GET', '/readyz', { key: null })).status, 503);
  assert.equal((await call('GET', '/healthz', { key: null })).status, 200);
  const { body } = await call('GET', '/status', { key: null });
  assert.equal(body.status, 'down');
});

test('The preview surface serves only its five operations and the OpenAPI document', async (t) => {
  const { call } = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  assert.equal((await call('GET', '/v1/tests')).status, 404);
  assert.equal((await call('POST', '/v1/tests', { json: {} })).status, 404);
  const { body } = await call<{ info: { version: string }; paths: Record<string, object> }>(
    'GET',
    '/openapi.json',
    { key: null },
  );
  assert.equal(body.info.version, 'ga09-preview-2026-07-14');
  assert.deepEqual(Object.keys(body.paths).sort(), [
    '/healthz',
    '/readyz',
    '/status',
    '/v1/capabilities',
    '/v1/status',
  ]);
  for (const operations of Object.values(body.paths))
    assert.deepEqual(Object.keys(operations), ['get']);
  const manifest = (await call('GET', '/v1/capabilities', { key: null })).body as {
    revision: string;
    capabilities: Record<string, { available: boolean }>;
  };
  assert.equal(manifest.revision, 'ga09-preview-2026-07-14');
  assert.ok(Object.values(manifest.capabilities).every(({ available }) => !available));
  // The type of an error is a page here too.
  const { body: problem } = await call<{ type: string }>('GET', '/v1/tests');
  const page = await call('GET', problem.type, { key: null });
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /href="\/docs/);
});

test('API keys: missing, invalid, expired and revoked get 401; a too low role gets 403', async (t) => {
  const clock = testClock();
  const service = await startTestService(t, { clock });
  const { call, app, makeKey } = service;
  const refused = async (key: string | null) => {
    const { status, body, headers } = await call<Problem>('GET', '/v1/tests', { key });
    assert.equal(status, 401);
    assert.equal(body.code, 'unauthenticated');
    assert.equal(headers.get('www-authenticate'), 'Bearer');
  };
  await refused(null);
  await refused('dlv_live_nonsense');
  const { owner } = await makeOwner(app, 'owner@example.com');
  const expiring = await createApiKey(app, {
    memberId: owner.id,
    name: 'x',
    role: 'viewer',
    livemode: true,
    expiresIn: 1000,
  });
  assert.equal((await call('GET', '/v1/tests', { key: expiring.key })).status, 200);
  clock.advance(1000);
  await refused(expiring.key);
  const revoked = await createApiKey(app, {
    memberId: owner.id,
    name: 'y',
    role: 'viewer',
    livemode: true,
  });
  await app.db
    .updateTable('api_keys')
    .set({ revoked_at: 'now' })
    .where('id', '=', revoked.row.id)
    .execute();
  await refused(revoked.key);
  const { status, body } = await call<Problem & { detail: string }>('POST', '/v1/tests', {
    key: await makeKey('viewer'),
    json: {},
  });
  assert.equal(status, 403);
  assert.match(body.detail, /requires the member role/);
});

test('An API key’s effective role is the lower of key and member role', async (t) => {
  const { call, app, makeKey } = await startTestService(t);
  const key = await makeKey('admin');
  assert.equal((await call('POST', '/v1/tests', { key, json: {} })).status, 201);
  await app.db.updateTable('members').set({ role: 'viewer' }).execute();
  assert.equal((await call('POST', '/v1/tests', { key, json: {} })).status, 403);
});

test('The api_keys table does not contain the key in clear text', async (t) => {
  const { app, key } = await startTestService(t);
  const rows = await app.db.selectFrom('api_keys').selectAll().execute();
  assert.ok(rows.length > 0);
  assert.ok(!JSON.stringify(rows).includes(key));
});

test('POST /v1/tests rejects invalid and unknown fields with 422, all at once', async (t) => {
  const { call } = await startTestService(t);
  const json = { name: 7, kind: 'spam', expires_in: 5, metadata: { a: 1 }, nonsense: true };
  const { status, body, headers } = await call<Problem>('POST', '/v1/tests', { json });
  assert.equal(status, 422);
  assert.equal(headers.get('content-type'), 'application/problem+json');
  assert.equal(body.object, 'error');
  assert.equal(body.request_id, headers.get('x-request-id'));
  const codes = Object.fromEntries(body.errors!.map(({ param, code }) => [param, code]));
  assert.deepEqual(codes, {
    name: 'invalid',
    kind: 'invalid',
    expires_in: 'invalid',
    'metadata.a': 'invalid',
    nonsense: 'unknown_field',
  });
});

test('Validation errors list every unknown field and query parameter', async (t) => {
  const { call } = await startTestService(t);
  const json = { email: 5, password: 7, foo: 1, bar: 2, constructor: 3 };
  const { body } = await call<Problem>('POST', '/v1/sessions', { json, key: null });
  const codes = Object.fromEntries(body.errors!.map(({ param, code }) => [param, code]));
  assert.deepEqual(codes, {
    email: 'invalid',
    password: 'invalid',
    foo: 'unknown_field',
    bar: 'unknown_field',
    constructor: 'unknown_field',
  });
  const query = await call<Problem>('GET', '/v1/tests?foo=1&limit=0&bar=2');
  assert.deepEqual(query.body.errors!.map(({ param }) => param).sort(), ['bar', 'foo', 'limit']);
  assert.equal(query.body.errors!.length, 3);
});

test('A truncated request body gets 400, not 500', async (t) => {
  const { http, key, logged } = await startTestService(t);
  const head = `POST /v1/tests HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  for (const rest of [
    'Content-Length: 100\r\n\r\n{}',
    'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n',
  ]) {
    const before = logged.length;
    const socket = connect(http.port, '127.0.0.1', () => socket.end(head + rest));
    socket.on('error', () => {});
    socket.resume();
    const line = () => logged.slice(before).find(({ fields }) => fields.path === '/v1/tests');
    for (let turns = 0; !line() && turns < 100_000; turns++) await nextTurn();
    assert.equal(line()!.fields.status, 400, rest);
    socket.destroy();
  }
  assert.deepEqual(
    logged.filter(({ level }) => level === 'error'),
    [],
  );
});

test('GET /v1/tests rejects invalid query parameters with 422', async (t) => {
  const { call } = await startTestService(t);
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1&limit=2',
    'created_after=yesterday',
    'nonsense=1',
    'status=done',
    'min_score=101',
  ])
    assert.equal((await call('GET', `/v1/tests?${query}`)).status, 422, query);
});

test('Request bodies: malformed gets 400, too large 413, unsupported type 415', async (t) => {
  const { call } = await startTestService(t);
  const post = async (body: string | Uint8Array, type = 'application/json') => {
    const answer = await call<Problem>('POST', '/v1/tests', {
      body,
      headers: { 'content-type': type },
    });
    return [answer.status, answer.body.code];
  };
  assert.deepEqual(await post('{"name":'), [400, 'malformed_json']);
  assert.deepEqual(await post(Buffer.from([0x22, 0xff, 0x22])), [400, 'malformed_json']);
  assert.deepEqual(await post(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`), [400, 'malformed_json']);
  assert.deepEqual(await post(`{"name":"${'x'.repeat(1024 * 1024)}"}`), [413, 'body_too_large']);
  assert.deepEqual(await post('name=x', 'application/x-www-form-urlencoded'), [
    415,
    'unsupported_media_type',
  ]);
  assert.deepEqual(await post('[]'), [422, 'validation_failed']);
});

test('An oversized request body gets 413 while still streaming', async (t) => {
  const { url, key } = await startTestService(t);
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 64 * 1024;
      controller.enqueue(Buffer.alloc(64 * 1024, 0x20));
      if (sent > 50 * 1024 * 1024) controller.close();
    },
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const outcome = await fetch(`${url}/v1/tests`, {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as never).then(
    (response) => response.status,
    () => 413,
  );
  assert.equal(outcome, 413);
  assert.ok(sent < 50 * 1024 * 1024, `${sent} bytes were taken`);
});

test('The router answers 404, 405 with Allow, and 404 for undecodable paths', async (t) => {
  const { call } = await startTestService(t);
  assert.equal((await call('GET', '/nowhere')).status, 404);
  const { status, headers } = await call('PUT', '/v1/tests');
  assert.equal(status, 405);
  assert.equal(headers.get('allow'), 'POST, GET, HEAD');
  assert.equal((await call('GET', '/v1/tests/%ff')).status, 404);
  assert.equal((await call('GET', '/v1/tests/test_unknown')).status, 404);
  assert.equal((await call('HEAD', '/healthz')).status, 200);
});

test('An internal error gets 500 without details and is logged with its request ID', async (t) => {
  const { call, app, logged } = await startTestService(t);
  const { newId } = app;
  app.newId = (prefix) => {
    if (prefix === 'test') throw new Error('SELECT secret FROM path');
    return newId(prefix);
  };
  const { status, body, text } = await call<Problem>('POST', '/v1/tests', { json: {} });
  assert.equal(status, 500);
  assert.equal(body.code, 'internal_error');
  assert.ok(!text.includes('secret'));
  const line = logged.find(({ message }) => message === 'request failed');
  assert.equal(line?.fields.request_id, body.request_id);
});

test('A request that is not HTTP gets a 400 problem document', async (t) => {
  const { http } = await startTestService(t);
  const reply = await new Promise<string>((resolve, reject) => {
    const socket = connect(http.port, '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  assert.match(reply, /^HTTP\/1\.1 400 /);
  assert.match(reply, /"code":"malformed_request"/);
});

test('List pagination works with starting_after and ending_before', async (t) => {
  const { call, createTest } = await startTestService(t);
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) ids.unshift((await createTest({ name: `n${i}` })).id);
  type List = { data: { id: string }[]; has_more: boolean };
  const page = async (query: string) => {
    const { body } = await call<List>('GET', `/v1/tests?${query}`);
    return [body.data.map(({ id }) => ids.indexOf(id)), body.has_more];
  };
  assert.deepEqual(await page('limit=3'), [[0, 1, 2], true]);
  assert.deepEqual(await page(`limit=3&starting_after=${ids[2]}`), [[3, 4, 5], true]);
  assert.deepEqual(await page(`limit=3&starting_after=${ids[5]}`), [[6], false]);
  assert.deepEqual(await page(`limit=3&ending_before=${ids[5]}`), [[2, 3, 4], true]);
  assert.deepEqual(await page(`limit=3&ending_before=${ids[2]}`), [[0, 1], false]);
});

test('GET /openapi.json lists each operation’s role, parameters and responses', async (t) => {
  const { call } = await startTestService(t);
  const { body } = await call<{
    openapi: string;
    paths: Record<string, Record<string, Record<string, unknown>>>;
    components: { parameters: Record<string, { schema: object }> };
  }>('GET', '/openapi.json', { key: null });
  assert.equal(body.openapi, '3.1.0');
  const create = body.paths['/v1/tests']!.post!;
  assert.equal(create['x-role'], 'member');
  const content = (create.requestBody as { content: object }).content;
  assert.deepEqual(Object.keys(content), ['application/json']);
  assert.equal(
    (create.parameters as { in: string }[]).some(({ in: location }) => location === 'query'),
    false,
  );
  const raw = body.paths['/v1/tests/raw']!.post!;
  assert.deepEqual(Object.keys((raw.requestBody as { content: object }).content), [
    'message/rfc822',
  ]);
  const { Limit } = body.components.parameters;
  assert.deepEqual(Limit!.schema, {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    format: 'int32',
  });
  const list = body.paths['/v1/tests']!.get!;
  assert.deepEqual((list.parameters as object[])[0], { $ref: '#/components/parameters/Limit' });
  assert.deepEqual(Object.keys(body.paths['/v1/tests/{id}']!), ['get', 'patch', 'delete']);
});
