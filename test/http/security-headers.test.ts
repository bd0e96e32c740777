/** Security headers of every response. */

// @one-database: about HTTP; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { it } from 'node:test';
import { route } from '../../src/http/route.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { readAll } from './listener.ts';
import { bearer, type Reply, type RoutedService, startRoutedService } from './routed.ts';

const STRICT = "default-src 'none'; frame-ancestors 'none'";
const COMMON = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': STRICT,
};

function assertMannered({ headers, status }: Reply, what: string, other: object = {}): void {
  for (const [name, value] of Object.entries({ ...COMMON, 'cache-control': 'no-store', ...other }))
    assert.equal(headers[name], value, `${what} (${status}): ${name}`);
  assert.match(String(headers['x-request-id']), /^req_/, what);
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('access-control')),
    [],
    what,
  );
}

/** A completed test. */
async function completed({ call }: RoutedService): Promise<string> {
  const { body } = await call<Test>('POST', '/v1/tests', {
    body: 'From: a@example.com\r\nSubject: Hello\r\n\r\nBody\r\n',
    headers: { 'content-type': 'message/rfc822' },
  });
  const { body: ended } = await call<Test>('GET', `/v1/tests/${body.id}?wait=20`);
  assert.notEqual(ended.status, 'processing');
  return body.id;
}

it('Security headers are sent with every kind of response', async (t) => {
  const service = await startRoutedService(t, []);
  const { send, key } = service;
  const path = `/v1/tests/${await completed(service)}`;
  const headers = { ...bearer(key), origin: 'https://elsewhere.example' };
  const cases: [method: string, path: string, status: number, headers?: Record<string, string>][] =
    [
      ['GET', path, 200],
      ['HEAD', path, 200],
      ['GET', '/v1/tests/export', 200],
      ['GET', '/healthz', 200],
      ['GET', '/v1/tests', 401, { authorization: 'Bearer x' }],
      ['GET', '/v1/tests/x', 404],
      ['GET', '/nowhere', 404],
      ['PUT', path, 405],
      ['GET', '/v1/tests?limit=0', 422],
    ];
  for (const [method, url, status, more] of cases) {
    const reply = await send(method, url, { headers: { ...headers, ...more } });
    assert.equal(reply.status, status, url);
    assertMannered(reply, `${method} ${url}`);
  }
  assertMannered(await send('GET', '/openapi.json'), 'the document', {
    'cache-control': 'no-cache',
  });
  assertMannered(await send('GET', `${path}/source`, { headers }), 'the message', {
    'cache-control': 'private, no-store',
  });
  const page = await send('GET', `${path}/report.html`, { headers });
  const policy = String(page.headers['content-security-policy']);
  assert.ok(policy !== STRICT && policy.includes('style-src'), 'the policy of the page stays');
  assertMannered(page, 'the page', {
    'content-security-policy': policy,
    'cache-control': 'private, no-cache',
  });
  const pdf = await send('GET', `${path}/report.pdf`, { headers });
  assert.equal(pdf.status, 200);
  assertMannered(pdf, 'the PDF', {
    'content-security-policy': "frame-ancestors 'none'",
    'cache-control': 'private, no-store',
  });
});

it('CORS preflight requests are rejected', async (t) => {
  const { send } = await startRoutedService(t, []);
  const headers = {
    origin: 'https://elsewhere.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const known = await send('OPTIONS', '/v1/tests', { headers });
  assert.deepEqual([known.status, known.headers.allow], [405, 'POST, GET, HEAD']);
  assertMannered(known, 'OPTIONS');
  const unknown = await send('OPTIONS', '/nowhere', { headers });
  assert.equal(unknown.status, 404);
  assertMannered(unknown, 'OPTIONS');
});

it('Security headers set by a route are kept', async (t) => {
  const own = {
    'content-security-policy': "default-src 'self'",
    'referrer-policy': 'same-origin',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'public, max-age=60',
  };
  const page = route({
    method: 'GET',
    path: '/page',
    operation: 'page',
    role: 'public',
    summary: 'A page',
    produces: ['text/html'],
    handle({ setHeader }) {
      setHeader('X-Own', 'yes');
      return new Response('<p>', { headers: { 'content-type': 'text/html', ...own } });
    },
  });
  const { send } = await startRoutedService(t, [page]);
  const reply = await send('GET', '/page');
  assertMannered(reply, 'the page', own);
  assert.equal(reply.headers['x-own'], 'yes');
});

it('Strict-Transport-Security is sent only when clients use https', async (t) => {
  const told = async (base: string, app = base) => {
    const env = { DELIVERABILITY_BASE_URL: base, DELIVERABILITY_APP_URL: app };
    const { send } = await startRoutedService(t, [], { env });
    const replies = [await send('GET', '/healthz'), await send('GET', '/nowhere')];
    return replies.map(({ headers }) => headers['strict-transport-security']);
  };
  const year = 'max-age=31536000';
  assert.deepEqual(await told('https://api.example.com'), [year, year]);
  assert.deepEqual(await told('http://127.0.0.1:8080'), [undefined, undefined]);
  const mixed = await told('http://api.example.com', 'https://app.example.com');
  assert.deepEqual(mixed, [undefined, undefined]);
});

it('Security headers are sent for requests that never reach a route', async (t) => {
  const { http } = await startRoutedService(t, []);
  for (const bytes of [
    'nonsense\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
  ]) {
    const socket = connect(http.port, '127.0.0.1', () => socket.write(bytes));
    t.after(() => socket.destroy());
    const [status, ...lines] = (await readAll(socket)).split('\r\n\r\n')[0]!.split('\r\n');
    assert.match(status!, / 400 /);
    const fields = new Set(lines.map((line) => line.toLowerCase()));
    for (const [name, value] of Object.entries(COMMON))
      assert.ok(fields.has(`${name}: ${value}`.toLowerCase()), `${bytes}: ${name}`);
  }
});
