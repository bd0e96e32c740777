/** Session cookies, and CSRF protection. */

// @one-database: about HTTP; every operation runs on both in another test.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as v from 'valibot';
import { clearedSessionCookie, readSessionCookies, sessionCookie } from '../../src/http/cookies.ts';
import { route } from '../../src/http/route.ts';
import { bearer, startRoutedService } from './routed.ts';

const COOKIE = { cookie: 'deliverability=good' };
const HTTP = { APP_URL: 'http://127.0.0.1:8080' };
const HTTPS = { APP_URL: 'https://app.example.com' };

const ORIGINS: [headers: Record<string, string>, own: boolean | null][] = [
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'nonsense' }, false],
  // A page at the APP_URL calls the BASE_URL: another origin or site, but allowed.
  [{ 'sec-fetch-site': 'same-site', origin: 'https://app.example.com' }, true],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com' }, true],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://api.example.com:8443' }, true],
  [{ 'sec-fetch-site': 'same-site', origin: 'https://other.example.com' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://app.example.com.evil.example' }, false],
  // Behind a proxy with another host name.
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://elsewhere.example' }, true],
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true],
  [{ 'sec-fetch-site': 'none', origin: 'null' }, false],
  [{ 'sec-fetch-site': 'same-site', origin: 'null' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'null' }, false],
  [{ origin: 'https://app.example.com' }, true],
  [{ origin: 'https://api.example.com:8443' }, true],
  [{ origin: 'https://api.example.com' }, false],
  [{ origin: 'http://app.example.com' }, false],
  [{ origin: 'https://app.example.com.evil.example' }, false],
  [{ origin: 'null' }, false],
  [{ origin: '' }, false],
  [{}, null],
];
const ENV = {
  DELIVERABILITY_BASE_URL: 'https://api.example.com:8443/v',
  DELIVERABILITY_APP_URL: 'https://app.example.com/mail',
};
const SECURE_COOKIE = { cookie: '__Host-deliverability=good' };

const open = route({
  method: 'POST',
  path: '/open',
  operation: 'open',
  role: 'public',
  summary: 'Open to all',
  response: v.object({ ok: v.boolean() }),
  handle({ setHeader, app }) {
    setHeader('Set-Cookie', sessionCookie('t0ken', app.config, 60));
    return { ok: true };
  },
});

describe('CSRF protection of cookie-authenticated requests', () => {
  it('rejects writes from other origins with 403', async (t) => {
    const { send } = await startRoutedService(t, [], { env: ENV });
    for (const [headers, own] of ORIGINS)
      for (const [method, path, ok] of [
        ['POST', '/v1/tests', 201],
        ['PATCH', '/v1/tests/x', 404],
        ['DELETE', '/v1/tests/x', 404],
      ] as const) {
        const { status, json } = await send(method, path, {
          headers: { ...SECURE_COOKIE, ...headers },
          json: {},
        });
        assert.equal(status, own ? ok : 403, `${method} ${JSON.stringify(headers)}`);
        if (!own) assert.equal(json.code, 'forbidden');
      }
  });

  it('allows reads from any origin but marks them same-origin', async (t) => {
    const { send } = await startRoutedService(t, [], { env: ENV });
    for (const [headers] of ORIGINS)
      for (const method of ['GET', 'HEAD']) {
        const reply = await send(method, '/v1/tests', {
          headers: { ...SECURE_COOKIE, ...headers },
        });
        assert.deepEqual(
          [reply.status, reply.headers['cross-origin-resource-policy']],
          [200, 'same-origin'],
        );
      }
  });

  it('answers 401 without a valid session cookie', async (t) => {
    const { send } = await startRoutedService(t, []);
    for (const cookie of ['deliverability=bad', '__Host-deliverability=good', 'other=good', '']) {
      const { status, headers } = await send('GET', '/v1/tests', { headers: { cookie } });
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer']);
    }
    const { status } = await send('GET', '/v1/tests', { headers: COOKIE });
    assert.equal(status, 200);
  });

  it('requires the __Host- cookie when the app URL is https', async (t) => {
    const { send } = await startRoutedService(t, [], { env: ENV });
    assert.equal((await send('GET', '/v1/tests', { headers: COOKIE })).status, 401);
  });
});

describe('CSRF protection of API key requests', () => {
  it('does not apply; a key takes precedence over a cookie', async (t) => {
    const { send, key, makeKey } = await startRoutedService(t, []);
    const post = (headers: Record<string, string>) =>
      send('POST', '/v1/tests', { headers, json: {} });
    assert.equal((await post({ ...bearer(key), 'sec-fetch-site': 'cross-site' })).status, 201);
    assert.equal((await post({ ...bearer(key), ...COOKIE })).status, 201);
    const own = { ...COOKIE, 'sec-fetch-site': 'same-origin' };
    assert.equal((await post({ ...own, ...bearer(await makeKey('viewer')) })).status, 403);
    for (const authorization of ['Bearer wrong', 'bearer', `Bearer ${key} x`, 'Bearer  '])
      assert.equal((await post({ ...own, authorization })).status, 401, authorization);
  });

  it('ignores other Authorization schemes and uses the session cookie', async (t) => {
    const { send } = await startRoutedService(t, []);
    const headers = { ...COOKIE, authorization: 'Basic dXNlcjpwYXNz' };
    assert.equal((await send('GET', '/v1/tests', { headers })).status, 200);
  });
});

it('CSRF protection rejects cross-site writes even without credentials', async (t) => {
  const { send } = await startRoutedService(t, [open], { env: ENV });
  for (const [headers, own] of ORIGINS) {
    const reply = await send('POST', '/open', { headers });
    assert.equal(reply.status, own === false ? 403 : 200, JSON.stringify(headers));
    assert.deepEqual(
      reply.headers['set-cookie'],
      own === false
        ? undefined
        : ['__Host-deliverability=t0ken; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax'],
    );
  }
});

it('Session lookup tries up to three cookies of the same name', async (t) => {
  const { send } = await startRoutedService(t, []);
  const status = async (...values: string[]) => {
    const cookie = values.map((value) => `deliverability=${value}`).join('; ');
    return (await send('GET', '/v1/tests', { headers: { cookie } })).status;
  };
  assert.equal(await status('garbage', 'good'), 200);
  assert.equal(await status('a', '"', 'b', 'good'), 200);
  assert.equal(await status('a', 'b', 'c', 'good'), 401, 'no more than three are tried');
  assert.equal(await status('a', 'b'), 401);
});

describe('Session cookie', () => {
  it('is set with HttpOnly, SameSite and, over https, Secure and __Host-', () => {
    assert.equal(
      sessionCookie('abc-_1', HTTP),
      'deliverability=abc-_1; Path=/; HttpOnly; SameSite=Lax',
    );
    assert.equal(
      sessionCookie('abc', HTTPS, 3600.7),
      '__Host-deliverability=abc; Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=Lax',
    );
    assert.equal(
      clearedSessionCookie(HTTPS),
      '__Host-deliverability=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax',
    );
    for (const token of ['', 'a;b', 'a b', 'a\r\nSet-Cookie: x', 'ü'])
      assert.throws(() => sessionCookie(token, HTTP));
  });

  it('is found among other cookies', () => {
    const cases: [string | null, string | null][] = [
      [null, null],
      ['', null],
      [';;;=;', null],
      ['deliverability', null],
      ['deliverability=', null],
      ['deliverability=a', 'a'],
      [' a=b ;  deliverability = x ; c="d"', 'x'],
      ['Deliverability=a', null],
      ['xdeliverability=a; deliverability2=b', null],
      ['__Host-deliverability=a', null],
      ['deliverability="a"', null],
      ['deliverability=a b; deliverability=c', 'c'],
      ['deliverability=a=b', 'a=b'],
      ['deliverability=first; deliverability=second', 'first'],
      [`deliverability=${'x'.repeat(201)}`, null],
      ['deliverability=a\u00e9', null],
    ];
    for (const [header, token] of cases)
      assert.equal(readSessionCookies(header, HTTP)[0] ?? null, token, String(header));
    const both = 'deliverability=a; __Host-deliverability=b';
    assert.deepEqual(readSessionCookies(both, HTTPS), ['b']);
  });
});
