/** What client developers rely on: cursors, bodies, queries, content types, ETags, test mode, documents, error pages. */

// @one-database: about HTTP; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { DOCUMENTED_ROUTES, ROUTES } from '../../src/features.ts';
import { preferredEncoding } from '../../src/http/compression.ts';
import { ERROR_TYPES } from '../../src/http/error-types.ts';
import { type Route, requiresLiveMode } from '../../src/http/route.ts';
import { isoTime } from '../../src/lib/clock.ts';
import { dmarc } from '../feedback/reading/builders.ts';
import { startTestService, type TestService } from '../helpers/app.ts';
import { goodMessage } from '../helpers/good-message.ts';
import { sender } from './routed.ts';

interface Problem {
  code: string;
  detail: string;
  errors: { param: string; code: string }[];
}
interface List {
  data: { id: string }[];
  has_more: boolean;
}

/** A domain, a monitor, and so on, so that lists below an object have one to list. */
async function makeParents(service: TestService): Promise<Record<string, string>> {
  const { call } = service;
  const made = async (path: string, json: object) =>
    (await call<{ id: string }>('POST', path, { json })).body.id;
  const schedule = { name: 'n', frequency: 'weekly', recipients: ['ann@example.com'] };
  const monitor = { name: 'n', type: 'blocklist', targets: ['example.com'], frequency: 'daily' };
  return {
    '/v1/monitors/:id/runs': await made('/v1/monitors', monitor),
    '/v1/alerts/:id/incidents': await made('/v1/alerts', {
      name: 'n',
      condition: 'auth_fail',
      channels: ['email'],
    }),
    '/v1/webhooks/endpoints/:id/deliveries': await made('/v1/webhooks/endpoints', {
      url: 'https://example.com/',
      events: ['*'],
    }),
    '/v1/feedback/reports/:id/rows': await uploadReport(service),
    '/v1/tests/:id/history': (await service.createTest()).id,
    '/v1/reports/schedules/:id/runs': await made('/v1/reports/schedules', schedule),
  };
}

async function uploadReport({ call }: TestService): Promise<string> {
  await call('POST', '/v1/domains', { json: { name: 'reports.example' } });
  const policy = '<policy_published><domain>reports.example</domain><p>none</p></policy_published>';
  const { body } = await call<List>('POST', '/v1/feedback/reports', {
    body: dmarc({ policy }),
    headers: { 'content-type': 'application/octet-stream' },
  });
  return body.data[0]!.id;
}

const LISTS = DOCUMENTED_ROUTES.filter(({ query }) => query && 'starting_after' in query.entries);

test('Every list rejects cursors that are unknown, malformed, or from another list', async (t) => {
  const service = await startTestService(t);
  const { call, createTest, makeKey } = service;
  const parents = await makeParents(service);
  const { id: foreign } = await createTest();
  const invitation = { email: 'bob@example.com' };
  const { body: other } = await call('POST', '/v1/team/invitations', { json: invitation });
  const domains = await call<List>('GET', '/v1/domains?limit=1');
  const required: Record<string, string> = {
    '/v1/feedback/sources': `&domain_id=${domains.body.data[0]!.id}`,
  };
  assert.ok(LISTS.length >= 16);
  for (const { path, operation } of LISTS) {
    const url = path.replace(':id', parents[path] ?? '');
    const ofAnotherKind = operation === 'listTests' ? String(other.id) : foreign;
    for (const param of ['starting_after', 'ending_before'])
      for (const cursor of [
        'test_00000000000000000000000000',
        ofAnotherKind,
        'nonsense',
        '',
        `${foreign}x`,
        'x'.repeat(2000),
        "' OR 1=1 --",
      ]) {
        const query = `?${param}=${encodeURIComponent(cursor)}${required[path] ?? ''}`;
        const { status, body } = await call<Problem>('GET', url + query);
        assert.deepEqual([status, body.code], [400, 'invalid_cursor'], `${url}${query}`);
        assert.deepEqual(
          body.errors.map((error) => [error.param, error.code]),
          [[param, 'invalid_cursor']],
        );
        assert.ok(body.detail.includes(param) && body.detail.includes(cursor.slice(0, 40)));
      }
  }
  // A test of the other mode, and a deleted one.
  const key = await makeKey('owner', false);
  const path = `/v1/tests?starting_after=${foreign}`;
  assert.equal((await call('GET', path)).status, 200);
  assert.equal((await call('GET', path, { key })).status, 400);
  await call('DELETE', `/v1/tests/${foreign}`);
  assert.equal((await call('GET', path)).status, 400);
});

test('A cursor stays valid when its object no longer matches the filter', async (t) => {
  const { call, createTest, app } = await startTestService(t);
  const [older, newer] = [await createTest(), await createTest()];
  const page = async () =>
    (await call<List>('GET', `/v1/tests?status=waiting&starting_after=${newer.id}`)).body;
  assert.deepEqual(
    (await page()).data.map(({ id }) => id),
    [older.id],
  );
  await app.db.updateTable('tests').set({ status: 'failed' }).where('id', '=', newer.id).execute();
  assert.deepEqual(
    (await page()).data.map(({ id }) => id),
    [older.id],
  );
});

test('Every operation without a body rejects one that is not empty, and names it', async (t) => {
  const { http, key } = await startTestService(t);
  const send = sender(http.port);
  const headers = { authorization: `Bearer ${key}` };
  const withoutBody = DOCUMENTED_ROUTES.filter(({ body, consumes }) => !body && !consumes);
  assert.ok(withoutBody.some(({ operation }) => operation === 'sendReportSchedule'));
  for (const { method, path, query } of withoutBody) {
    const queries: Record<string, string>[] = [
      {},
      { q: 'x' },
      { domain_id: 'nothing_0' },
      { domain: 'mta-sts.example.com' },
      { name: 'example.com' },
    ];
    const search = queries.find((given) => !query || v.safeParse(query, given).success);
    const url = `${path.replace(/:\w+/g, 'nothing_0')}?${new URLSearchParams(search)}`;
    const isUnexpected = async (sent: object, expected: boolean) => {
      const { status, json } = await send(method, url, { ...sent });
      const what = `${method} ${url} ${JSON.stringify(sent)}: ${status}`;
      assert.equal(json.code === 'unexpected_body', expected, what);
      if (expected) assert.equal(status, 400, what);
    };
    await isUnexpected({ headers, json: { recipients: ['ann@example.com'] } }, true);
    await isUnexpected({ headers, body: 'x' }, true);
    await isUnexpected({ headers, json: [] }, true);
    await isUnexpected({ headers, body: 'x'.repeat(100_000) }, true);
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    await isUnexpected({ headers: form, body: '{}' }, true);
    // Some client libraries send an empty object with every request.
    await isUnexpected({ headers, json: {} }, false);
    await isUnexpected({ headers, body: ' {\n} ' }, false);
    await isUnexpected({ headers }, false);
    await isUnexpected({ headers: { ...headers, 'content-type': 'application/json' } }, false);
  }
});

test('A connection can be used again after a GET request with a body', async (t) => {
  const { http } = await startTestService(t);
  const send = sender(http.port);
  for (const body of ['{}', '{"a":1}', 'x'.repeat(300), 'x'.repeat(1_000_000)]) {
    const { status } = await send('GET', '/healthz', { body });
    assert.equal(status, body === '{}' ? 200 : 400);
    assert.equal((await send('GET', '/healthz')).status, 200);
  }
});

test('Public documents ignore unknown query parameters', async (t) => {
  const { call } = await startTestService(t);
  const paths = ['/healthz', '/readyz', '/status', '/v1/status', '/v1/capabilities'];
  for (const path of [...paths, '/openapi.json', '/docs', '/'])
    for (const query of ['?cb=1', '?cb=1&cb=2', '?__proto__=1', '?%'])
      assert.equal((await call('GET', path + query, { key: null })).status, 200, path + query);
  assert.equal((await call('GET', '/v1/tests?cb=1')).status, 422);
});

const BOTH_BODIES =
  'Unsupported content type. Send application/json, or send a raw message to /v1/tests/raw.';

test('POST /v1/tests/raw takes a message; the previous path still works, and others get 415', async (t) => {
  const { call } = await startTestService(t);
  const rfc822 = { 'content-type': 'message/rfc822' };
  const ids = [];
  for (const path of ['/v1/tests/raw', '/v1/tests']) {
    const query = '?name=One&client_ip=192.0.2.1&helo=a';
    const sent = await call('POST', path + query, { body: goodMessage(), headers: rfc822 });
    assert.deepEqual([sent.status, sent.body.name], [201, 'One'], sent.text);
    ids.push(sent.body.id);
  }
  assert.equal(new Set(ids).size, 2);
  const cases: [path: string, type: string, body: string, taken: string][] = [
    ['/v1/tests/raw', 'application/json', '{}', 'message/rfc822'],
    ['/v1/tests/raw', 'text/plain', 'Subject: x', 'message/rfc822'],
    ['/v1/tests', 'text/xml', '<a/>', BOTH_BODIES],
    ['/v1/tests', 'text/plain', 'Subject: x', BOTH_BODIES],
    ['/v1/tests', 'application/x-www-form-urlencoded', 'name=x', BOTH_BODIES],
    ['/v1/domains', 'text/xml', '<a/>', 'Unsupported content type. Send application/json.'],
  ];
  for (const [path, type, body, taken] of cases) {
    const headers = { 'content-type': type };
    const refused = await call<Problem>('POST', path, { body, headers });
    assert.deepEqual([refused.status, refused.body.code], [415, 'unsupported_media_type'], type);
    assert.ok(refused.body.detail.includes(taken), refused.body.detail);
  }
});

test('A JSON object is accepted without a content type, and with the one that fetch adds', async (t) => {
  const { http, key, url } = await startTestService(t);
  const authorization = `Bearer ${key}`;
  const body = JSON.stringify({ name: 'One' });
  const bare = await sender(http.port)('POST', '/v1/tests', { headers: { authorization }, body });
  assert.deepEqual([bare.status, bare.json.name], [201, 'One']);
  // As generated clients send it: without a header, fetch adds text/plain.
  const answer = await fetch(`${url}/v1/tests`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  assert.equal(((await answer.json()) as { name: string }).name, 'One');
  // curl -d '' sends a form type with nothing.
  const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const empty = await sender(http.port)('POST', '/v1/tests', { headers: form, body: '' });
  assert.equal(empty.status, 201);
});

test('Changes by the service keep the ETag of every object, and changes by users change it', async (t) => {
  const service = await startTestService(t);
  const { call, createTest, app } = service;
  const parents = await makeParents(service);
  const json = { name: 'example.com', dkim_selectors: ['s1'] };
  const domain = (await call<{ id: string }>('POST', '/v1/domains', { json })).body.id;
  const now = isoTime(app.clock.now());
  const { db } = app;
  const cases: [path: string, byService: () => Promise<unknown>, byUser: object][] = [
    [
      `/v1/tests/${(await createTest()).id}`,
      () => db.updateTable('tests').set({ status: 'failed', completed_at: now }).execute(),
      { metadata: { a: 'b' } },
    ],
    [
      `/v1/domains/${domain}`,
      () =>
        db
          .updateTable('domains')
          .set({
            status: 'verified',
            verified_at: now,
            health_status: 'critical',
            learnt_selectors: JSON.stringify([{ selector: 's2', seen_at: now }]),
          })
          .execute(),
      { dkim_selectors: ['s1', 's3'] },
    ],
    [
      `/v1/monitors/${parents['/v1/monitors/:id/runs']}`,
      () => db.updateTable('monitors').set({ status: 'alerting', last_run_at: now }).execute(),
      { frequency: 'weekly' },
    ],
    [
      `/v1/alerts/${parents['/v1/alerts/:id/incidents']}`,
      () => db.updateTable('alerts').set({ last_triggered_at: now }).execute(),
      { enabled: false },
    ],
    [
      `/v1/webhooks/endpoints/${parents['/v1/webhooks/endpoints/:id/deliveries']}`,
      () => db.updateTable('webhook_endpoints').set({ auto_disabled_at: now }).execute(),
      { description: 'Shop' },
    ],
    [
      `/v1/reports/schedules/${parents['/v1/reports/schedules/:id/runs']}`,
      () => db.updateTable('report_schedules').set({ next_send_at: now }).execute(),
      { format: 'pdf' },
    ],
  ];
  for (const [path, byService, byUser] of cases) {
    const before = await call('GET', path);
    await byService();
    const after = await call('GET', path);
    assert.notEqual(after.text, before.text, path);
    const etag = after.headers.get('etag')!;
    assert.equal(etag, before.headers.get('etag'), path);
    const change = { json: byUser, headers: { 'if-match': etag } };
    const changed = await call('PATCH', path, change);
    assert.equal(changed.status, 200, `${path}: ${changed.text}`);
    assert.notEqual(changed.headers.get('etag'), etag, path);
    assert.equal((await call('PATCH', path, change)).status, 412, path);
  }
});

const RANK = ['public', 'viewer', 'member', 'admin', 'owner'];

test('Location is declared only for objects that the same caller can get', () => {
  for (const { operation, role, location } of ROUTES.filter((route) => route.location)) {
    const path = location!({ id: 'x_1' } as never);
    const get = ROUTES.find(
      (route) =>
        route.method === 'GET' && new RegExp(`^${route.path.replace(/:\w+/g, 'x_1')}$`).test(path),
    );
    assert.ok(get, `${operation}: ${path}`);
    assert.ok(RANK.indexOf(get.role) <= RANK.indexOf(role), operation);
  }
});

test('Test-mode keys read everything, and change only what has a test mode', async (t) => {
  const { call, makeKey } = await startTestService(t);
  const key = await makeKey('owner', false);
  const changing = ({ method, writes }: Route) => method !== 'GET' && writes !== false;
  const WITH_TEST_MODE = /^\/v1\/(tests|inboxes|webhooks|reports\/share|reports\/shared)(\/|$)/;
  for (const route of DOCUMENTED_ROUTES.filter(({ role }) => role !== 'public')) {
    const mayChange = WITH_TEST_MODE.test(route.path) || route.operation === 'revokeApiKey';
    assert.equal(requiresLiveMode(route), changing(route) && !mayChange, route.operation);
    if (!changing(route)) continue;
    const path = route.path.replace(/:\w+/g, 'nothing_0');
    const { status, body } = await call<Problem>(route.method, path, { key });
    const isRefused = status === 403 && body.code === 'live_mode_required';
    // It may revoke itself, which the handler decides.
    assert.equal(isRefused, !WITH_TEST_MODE.test(route.path), `${route.operation}: ${status}`);
  }
});

test('Documents and pages are compressed as the client prefers, and can be revalidated', async (t) => {
  const { http } = await startTestService(t);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetchRaw(`http://127.0.0.1:${http.port}${path}`, headers);
  for (const path of ['/openapi.json', '/docs', '/', '/sign-in', '/errors/not_found']) {
    const plain = await get(path);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.match(String(plain.headers.vary), /Accept-Encoding/);
    const policy = /^\/(openapi|docs|errors)/.test(path) ? 'no-cache' : 'private, no-cache';
    assert.equal(plain.headers['cache-control'], policy, path);
    const etag = String(plain.headers.etag);
    assert.match(etag, /^W\/"[\w-]{22}"$/);
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const)
      for (let i = 0; i < 2; i++) {
        const { headers, bytes } = await get(path, { 'accept-encoding': `${encoding}, x` });
        assert.equal(headers['content-encoding'], encoding);
        assert.equal(headers['content-length'], String(bytes.byteLength));
        assert.ok(bytes.byteLength < plain.bytes.byteLength / 2, path);
        assert.ok(decode(bytes).equals(plain.bytes));
        assert.equal(headers.etag, etag);
      }
    const same = await get(path, { 'if-none-match': etag, 'accept-encoding': 'br' });
    assert.deepEqual([same.status, same.bytes.byteLength], [304, 0]);
    assert.deepEqual([same.headers.etag, same.headers['content-type']], [etag, undefined]);
    assert.ok(same.headers['x-request-id'] && same.headers['content-security-policy']);
    assert.equal((await get(path, { 'if-none-match': 'W/"other"' })).status, 200);
  }
  const accept = { accept: 'text/html' };
  const missing = await get('/nothing-here', accept);
  const packed = await get('/nothing-here', { ...accept, 'accept-encoding': 'br' });
  assert.deepEqual([missing.status, packed.status, packed.headers.etag], [404, 404, undefined]);
  assert.equal(packed.headers['content-encoding'], 'br');
  assert.ok(packed.bytes.byteLength < missing.bytes.byteLength / 2);
  assert.match(brotliDecompressSync(packed.bytes).toString(), /Page not found/);
  // Pages with the token of a link, and the API, whose responses may contain secrets.
  for (const path of ['/password/x', '/invitations/x', '/unsubscribe/x', '/v1/capabilities']) {
    const { headers } = await get(path, { 'accept-encoding': 'br, gzip' });
    assert.deepEqual([headers['content-encoding'], headers.etag], [undefined, undefined], path);
    assert.match(String(headers['cache-control']), /no-store/);
  }
});

/** Without the decompression of fetch. */
function fetchRaw(url: string, headers: Record<string, string>) {
  return new Promise<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    bytes: Buffer;
  }>((resolve, reject) => {
    request(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes: Buffer.concat(chunks),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

test('preferredEncoding follows the weights of Accept-Encoding', () => {
  const cases: [header: string | null, encoding: string | null][] = [
    [null, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip;q=0.5, identity', null],
    ['gzip;q=x', null],
  ];
  for (const [header, encoding] of cases)
    assert.equal(preferredEncoding(header), encoding, String(header));
});

test('Every error code has a page, to which the type of problems links', async (t) => {
  const { call } = await startTestService(t);
  const { body } = await call<{ type: string }>('GET', '/v1/tests/none');
  assert.equal(body.type, '/errors/not_found');
  const browser = { key: null, headers: { accept: 'text/html,*/*;q=0.8' } };
  for (const [code, { title }] of Object.entries(ERROR_TYPES)) {
    const page = await call('GET', `/errors/${code}`, browser);
    assert.deepEqual(
      [page.status, page.headers.get('content-type')],
      [200, 'text/html; charset=utf-8'],
    );
    for (const text of [title, code, 'What it means', 'What to do'])
      assert.ok(page.text.includes(text), `${code}: ${text}`);
    const accept = { key: null, headers: { accept: 'application/json' } };
    const { body: json } = await call('GET', `/errors/${code}`, accept);
    assert.deepEqual([json.object, json.code, json.title], ['error_type', code, title]);
  }
  for (const code of ['none', '__proto__', 'constructor'])
    assert.equal((await call('GET', `/errors/${code}`, browser)).status, 404);
});

test('The preview surface declares its capabilities unavailable, and names no credentials', async (t) => {
  const { call } = await startTestService(t, { env: { DELIVERABILITY_SURFACE: 'preview' } });
  const { body } = await call<{ capabilities: Record<string, object> }>('GET', '/v1/capabilities');
  const capabilities = Object.values(body.capabilities);
  assert.equal(capabilities.length, 8);
  for (const capability of capabilities)
    assert.deepEqual(capability, { available: false, reason: 'Not available in the preview.' });
  const { text } = await call('GET', '/openapi.json');
  assert.ok(!/securitySchemes|bearer|cookie|x-role/i.test(text));
  const { description } = JSON.parse(text).info;
  assert.match(description, /not available/);
  for (const name of Object.keys(body.capabilities)) assert.match(description, new RegExp(name));
});

test('Lengths count characters, so that emoji count once', async (t) => {
  const { call } = await startTestService(t);
  const statusOf = async (json: object) => (await call('POST', '/v1/tests', { json })).status;
  for (const make of [
    (count: number) => ({ name: '😀'.repeat(count) }),
    (count: number) => ({ name: 'a'.repeat(count) }),
  ])
    assert.deepEqual([await statusOf(make(200)), await statusOf(make(201))], [201, 422]);
  const metadata = (key: number, value: number) => ({
    metadata: { ['😀'.repeat(key)]: '😀'.repeat(value) },
  });
  assert.equal(await statusOf(metadata(40, 500)), 201);
  assert.equal(await statusOf(metadata(41, 1)), 422);
  assert.equal(await statusOf(metadata(1, 501)), 422);
});

test('Every test has the URL of its page', async (t) => {
  const { call, createTest, url } = await startTestService(t, {
    env: { DELIVERABILITY_APP_URL: 'https://app.example.com' },
  });
  const { id, address, report_url: reportUrl } = await createTest();
  assert.equal(reportUrl, `https://app.example.com/tests/${id}`);
  const { body } = await call<{ data: { report_url: string }[] }>('GET', '/v1/tests');
  assert.equal(body.data[0]!.report_url, reportUrl);
  const { pathname } = new URL(reportUrl, url);
  const page = await call<string>('GET', pathname);
  assert.equal(page.status, 200);
  assert.ok(page.text.includes(address));
});
