/** Rate limits per key, session, and IP address, their header fields, and their bounded memory. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as v from 'valibot';
import { addressGroup, createRateLimit } from '../../src/http/rate-limit.ts';
import { route } from '../../src/http/route.ts';
import { testClock } from '../helpers/clock.ts';
import { bearer, type Reply, startRoutedService } from './routed.ts';

const FIVE = { DELIVERABILITY_RATE_LIMIT: '5/min' };
const fieldsOf = ({ headers }: Reply) => [headers['ratelimit-policy'], headers.ratelimit];

async function startLimited(t: Parameters<typeof startRoutedService>[0], routes = [] as never[]) {
  const clock = testClock();
  return { clock, ...(await startRoutedService(t, routes, { clock, env: FIVE })) };
}

describe('Default rate limit', () => {
  it('is reported in headers and enforced with 429 over a sliding window', async (t) => {
    const { send, key, clock } = await startLimited(t);
    const list = () => send('GET', '/v1/tests', { headers: bearer(key) });
    assert.deepEqual(fieldsOf(await list()), ['"default";q=5;w=60', '"default";r=4;t=60']);
    clock.advance(30_000);
    for (const left of [3, 2, 1, 0])
      assert.deepEqual(fieldsOf(await list()), ['"default";q=5;w=60', `"default";r=${left};t=30`]);
    const refused = await list();
    assert.equal(refused.status, 429);
    assert.equal(refused.json.code, 'rate_limited');
    assert.equal(refused.headers['retry-after'], '30');
    assert.deepEqual(fieldsOf(refused), ['"default";q=5;w=60', '"default";r=0;t=30']);
    clock.advance(30_000);
    assert.equal((await list()).status, 200, 'the first counts no more');
    assert.equal((await list()).status, 429, 'the other four do');
    clock.advance(30_000);
    assert.deepEqual(fieldsOf(await list()), ['"default";q=5;w=60', '"default";r=3;t=30']);
  });

  it('applies per API key and is reported with errors too', async (t) => {
    const { send, key, makeKey } = await startLimited(t);
    const other = await makeKey('viewer');
    const headers = bearer(key);
    for (let i = 0; i < 5; i++) await send('GET', '/v1/tests', { headers });
    assert.equal((await send('GET', '/v1/tests', { headers })).status, 429);
    assert.equal((await send('GET', '/v1/tests', { headers: bearer(other) })).status, 200);
    const invalid = await send('GET', '/v1/tests?limit=0', { headers: bearer(other) });
    assert.deepEqual([invalid.status, fieldsOf(invalid)[1]], [422, '"default";r=3;t=60']);
    const forbidden = await send('DELETE', '/v1/tests/x', { headers: bearer(other) });
    assert.deepEqual([forbidden.status, fieldsOf(forbidden)[1]], [403, '"default";r=2;t=60']);
  });

  it('applies per session', async (t) => {
    const { send, key } = await startLimited(t);
    const headers = { cookie: 'deliverability=good' };
    for (let i = 0; i < 5; i++) await send('GET', '/v1/tests', { headers });
    assert.equal((await send('GET', '/v1/tests', { headers })).status, 429);
    assert.equal((await send('GET', '/v1/tests', { headers: bearer(key) })).status, 200);
  });

  it('applies per IP address without valid credentials, leaving keys unaffected', async (t) => {
    const { send, key } = await startLimited(t);
    const guess = () => send('GET', '/v1/tests', { headers: bearer('dlv_live_guess') });
    assert.equal((await guess()).status, 401);
    assert.equal((await send('GET', '/v1/tests')).status, 401);
    assert.equal((await send('GET', '/status')).status, 200);
    assert.equal((await send('GET', '/nowhere')).status, 404);
    assert.equal((await send('OPTIONS', '/v1/tests')).status, 405);
    assert.equal((await guess()).status, 429);
    assert.equal((await send('GET', '/nowhere')).status, 429);
    assert.equal((await send('GET', '/v1/tests', { headers: bearer(key) })).status, 200);
  });

  it('does not apply to /healthz and /readyz', async (t) => {
    const { send } = await startLimited(t);
    for (let i = 0; i < 7; i++)
      for (const path of ['/healthz', '/readyz']) {
        const reply = await send('GET', path);
        assert.deepEqual([reply.status, fieldsOf(reply)], [200, [undefined, undefined]]);
      }
    assert.deepEqual(fieldsOf(await send('GET', '/status'))[1], '"default";r=4;t=60');
  });

  it('is off when configured as 0', async (t) => {
    const { send, key } = await startRoutedService(t, []);
    const reply = await send('GET', '/v1/tests', { headers: bearer(key) });
    assert.deepEqual(fieldsOf(reply), [undefined, undefined]);
  });
});

describe('Rate limit of one operation', () => {
  const guarded = route({
    method: 'POST',
    path: '/guarded',
    operation: 'guard',
    role: 'public',
    summary: 'Guarded',
    limit: { requests: 2, seconds: 300 },
    response: v.object({ ok: v.boolean() }),
    handle: () => ({ ok: true }),
  });

  it('applies per IP address in addition to the default limit', async (t) => {
    const clock = testClock();
    const env = { ...FIVE, DELIVERABILITY_TRUSTED_PROXIES: '127.0.0.1' };
    const { send } = await startRoutedService(t, [guarded], { clock, env });
    const from = (ip: string) => send('POST', '/guarded', { headers: { 'x-forwarded-for': ip } });
    assert.deepEqual(fieldsOf(await from('2001:db8::1')), [
      '"default";q=5;w=60, "guard";q=2;w=300',
      '"default";r=4;t=60, "guard";r=1;t=300',
    ]);
    assert.equal((await from('2001:db8::2')).status, 200);
    const refused = await from('2001:db8::3');
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '300']);
    assert.equal((await from('2001:db8:0:1::1')).status, 200);
    clock.advance(300_000);
    assert.equal((await from('2001:db8::3')).status, 200);
  });

  it('can be shared by several operations', async (t) => {
    const other = { ...guarded, path: '/other', operation: 'other', limit: 'guard' };
    const { send } = await startRoutedService(t, [guarded, other], { clock: testClock() });
    const first = await send('POST', '/other');
    assert.deepEqual(fieldsOf(first), ['"guard";q=2;w=300', '"guard";r=1;t=300']);
    assert.equal((await send('POST', '/guarded')).status, 200);
    for (const path of ['/other', '/guarded'])
      assert.equal((await send('POST', path)).status, 429, path);
  });

  it('rejects a reference to an unknown shared limit at start', async (t) => {
    const lost = { ...guarded, limit: 'nobody' };
    await assert.rejects(
      startRoutedService(t, [lost]),
      /shares the limit of an operation without one/,
    );
  });

  it('is shared by a link’s page and its API operation', async (t) => {
    const { send } = await startRoutedService(t, []);
    const pages: [page: string, api: string, json: object][] = [
      [
        '/password/x',
        '/v1/password_resets/confirm',
        { token: 'x', password: 'a password of words' },
      ],
      [
        '/invitations/x',
        '/v1/team/invitations/accept',
        { token: 'x', name: 'X', password: 'a password of words' },
      ],
    ];
    for (const [page, api, json] of pages) {
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const fill = () => send('POST', page, { headers: form, body: 'password=x' });
      for (let i = 0; i < 10; i++) {
        assert.equal((await fill()).status, 404);
        assert.equal((await send('POST', api, { json })).status, 404);
      }
      assert.equal((await fill()).status, 429, page);
      assert.equal((await send('POST', api, { json })).status, 429, api);
    }
  });

  it('of password resets is reported by page and API alike', async (t) => {
    const { send } = await startRoutedService(t, [], { clock: testClock(), env: FIVE });
    const ask = () =>
      send('POST', '/v1/password_resets', { json: { email: 'nobody@example.com' } });
    const fill = () =>
      send('POST', '/forgot-password', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'email=nobody%40example.com',
      });
    for (const [of, left] of [
      [ask, 19],
      [fill, 18],
    ] as const)
      assert.deepEqual(fieldsOf(await of()), [
        '"default";q=5;w=60, "password_resets";q=20;w=60',
        `"default";r=${left - 15};t=60, "password_resets";r=${left};t=60`,
      ]);
    const free = await startRoutedService(t, [], { clock: testClock() });
    const sent = () =>
      free.send('POST', '/v1/password_resets', { json: { email: 'nobody@example.com' } });
    for (let i = 0; i < 20; i++) assert.equal((await sent()).status, 202);
    const refused = await sent();
    assert.equal(refused.status, 429);
    assert.deepEqual(fieldsOf(refused), [
      '"password_resets";q=20;w=60',
      '"password_resets";r=0;t=60',
    ]);
  });

  it('applies even when the default limit is off', async (t) => {
    const { send } = await startRoutedService(t, [guarded]);
    for (const status of [200, 200, 429])
      assert.equal((await send('POST', '/guarded')).status, status);
  });
});

describe('Rate limit counter', () => {
  const RATE = { requests: 3, seconds: 12 };

  it('frees a slot exactly after the reported reset time', () => {
    for (const steps of [
      [0, 0, 0],
      [0, 700, 5300],
      [1, 999, 11_000],
      [0, 4000, 4000],
    ]) {
      const clock = testClock();
      const limit = createRateLimit('x', RATE, clock);
      for (const step of steps) {
        clock.advance(step);
        assert.equal(limit.consume('a').allowed, true);
      }
      const { allowed, reset, left } = limit.consume('a');
      assert.deepEqual([allowed, left], [false, 0]);
      if (reset > 1) {
        clock.advance((reset - 1) * 1000 - 1000);
        assert.equal(limit.consume('a').allowed, false, `${steps}: too early`);
        clock.advance(2000);
      } else clock.advance(1000);
      assert.equal(limit.consume('a').allowed, true, `${steps}: after ${reset} s`);
    }
  });

  it('never exceeds the limit in any window by more than one slot', () => {
    const clock = testClock();
    const limit = createRateLimit('x', { requests: 10, seconds: 12 }, clock);
    const taken: number[] = [];
    for (let at = 0; at < 120_000; at += 170) {
      if (limit.consume('a').allowed) taken.push(clock.now());
      clock.advance(170);
    }
    for (const start of taken)
      assert.ok(taken.filter((at) => at >= start && at < start + 11_000).length <= 10);
    assert.ok(taken.length >= 100, `${taken.length} in ten windows`);
  });

  it('tracks a bounded number of clients and keeps the most active', () => {
    const limit = createRateLimit('x', RATE, testClock(), 100);
    for (let i = 0; i < 3; i++) limit.consume('often');
    for (let i = 0; i < 5000; i++) {
      limit.consume(`once ${i}`);
      if (i % 50 === 0) assert.equal(limit.consume('often').allowed, false);
    }
    for (let i = 0; i < 5000; i++) limit.consume(`again ${i}`);
    assert.equal(limit.consume('often').allowed, true, 'it was forgotten');
  });

  it('does not lock clients out longer than a window when the clock is set back', () => {
    const clock = testClock();
    const limit = createRateLimit('x', RATE, clock);
    for (let i = 0; i < 3; i++) limit.consume('a');
    clock.advance(5000);
    limit.consume('a');
    clock.advance(-3_600_000);
    assert.equal(limit.consume('a').allowed, false);
    clock.advance(12_000);
    assert.equal(limit.consume('a').allowed, true);
  });

  it('groups IPv6 addresses by /64', () => {
    assert.equal(addressGroup('192.0.2.1'), '192.0.2.1');
    assert.equal(addressGroup('2001:db8::1'), addressGroup('2001:db8::ffff:1:2:3'));
    assert.notEqual(addressGroup('2001:db8::1'), addressGroup('2001:db8:0:1::1'));
    assert.equal(addressGroup(null), 'unknown');
  });
});
