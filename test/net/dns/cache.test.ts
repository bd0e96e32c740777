/** The cache, shared queries and concurrency limits of the DNS resolver. */

// @alone: two of its time limits end at the same moment.

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { createSemaphore } from '../../../src/lib/concurrency.ts';
import { createDnsCache, createDnsResolver } from '../../../src/net/dns/network-resolver.ts';
import type { DnsAnswer } from '../../../src/net/dns/resolver.ts';
import type { Zone } from '../../../src/net/dns/zone.ts';
import { startDnsServer } from '../../helpers/dns-server.ts';

const NAME = 'a.example.com';
const zone: Zone = { [NAME]: { A: ['192.0.2.7'] } };
const server = await startDnsServer(zone);
after(() => server.close());
beforeEach(() => {
  server.queries.clear();
  server.zone = zone;
  server.ttl = 50;
});

function resolverAt(start = 0) {
  const clock = { ms: start, now: () => clock.ms };
  const resolve = createDnsResolver({
    servers: [server.address],
    clock,
    // Only a query that hangs takes so long, on a busy machine too.
    timeoutMs: 60_000,
    attemptMs: 30_000,
  });
  return { clock, resolve, asked: (key: string) => server.queries.get(key) ?? 0 };
}

test('DNS cache keeps a positive answer for its TTL and reports the rest', async () => {
  const { clock, resolve, asked } = resolverAt();
  await resolve(NAME, 'A');
  clock.ms = 49_000;
  const kept = await resolve(NAME.toUpperCase(), 'A');
  assert.deepEqual([kept.status === 'found' && kept.ttl, asked(`${NAME}/A`)], [1, 1]);
  clock.ms = 50_000;
  await resolve(NAME, 'A');
  assert.equal(asked(`${NAME}/A`), 2);
});

test('DNS cache caps positive TTLs at 60 seconds and negative ones at 30', async () => {
  server.ttl = 86_400;
  const { clock, resolve, asked } = resolverAt();
  await resolve(NAME, 'A');
  await resolve('none.example.com', 'A');
  clock.ms = 29_000;
  await resolve('none.example.com', 'A');
  assert.equal(asked('none.example.com/A'), 1);
  clock.ms = 30_000;
  await resolve('none.example.com', 'A');
  assert.equal(asked('none.example.com/A'), 2);
  clock.ms = 59_000;
  await resolve(NAME, 'A');
  assert.equal(asked(`${NAME}/A`), 1);
  clock.ms = 60_000;
  await resolve(NAME, 'A');
  assert.equal(asked(`${NAME}/A`), 2);
});

test('DNS cache keeps a negative answer for the SOA minimum', async () => {
  server.ttl = 20;
  const { clock, resolve } = resolverAt();
  assert.equal((await resolve('new.example.com', 'A')).status, 'nxdomain');
  server.zone = { ...zone, 'new.example.com': { A: ['192.0.2.8'] } };
  clock.ms = 19_000;
  assert.equal((await resolve('new.example.com', 'A')).status, 'nxdomain');
  clock.ms = 20_000;
  assert.equal((await resolve('new.example.com', 'A')).status, 'found');
});

test('DNS cache does not keep errors or answers with TTL 0', async () => {
  server.ttl = 0;
  const { resolve, asked } = resolverAt();
  await resolve(NAME, 'A');
  await resolve(NAME, 'A');
  assert.equal(asked(`${NAME}/A`), 2);
  server.zone = { [NAME]: { fails: 'servfail' } };
  assert.equal((await resolve(NAME, 'MX')).status, 'error');
  server.zone = { [NAME]: { MX: ['10 mx.example.com'] } };
  assert.equal((await resolve(NAME, 'MX')).status, 'found');
});

test('Concurrent identical DNS questions are sent once', async () => {
  const { resolve, asked } = resolverAt();
  const answers = await Promise.all(Array.from({ length: 30 }, () => resolve(NAME, 'A')));
  assert.equal(asked(`${NAME}/A`), 1);
  assert.ok(answers.every((answer) => answer.status === 'found'));
});

test('Modifying returned records does not change the DNS cache', async () => {
  const { resolve } = resolverAt();
  const first = await resolve(NAME, 'A');
  if (first.status === 'found') first.records.length = 0;
  const second = await resolve(NAME, 'A');
  assert.deepEqual(second.status === 'found' && second.records, ['192.0.2.7']);
});

test('Closing the resolver ends running questions and sends no new ones', async () => {
  server.zone = { [NAME]: { fails: 'timeout' } };
  const { resolve } = resolverAt();
  const pending = resolve(NAME, 'A');
  resolve.close();
  const disabled: DnsAnswer = { status: 'error', reason: 'disabled' };
  assert.deepEqual(await pending, disabled);
  assert.deepEqual(await resolve('b.example.com', 'A'), disabled);
  assert.equal(server.queries.get('b.example.com/A'), undefined);
});

test('DNS questions beyond the concurrency limit are queued and answered', async () => {
  const resolve = createDnsResolver({
    servers: [server.address],
    clock: { now: () => 0 },
    maxInFlight: 2,
  });
  const names = Array.from({ length: 40 }, (_, i) => `n${i}.example.com`);
  const answers = await Promise.all(names.map((name) => resolve(name, 'A')));
  assert.ok(answers.every((answer) => answer.status === 'nxdomain'));
});

test('DNS cache ignores entries that a clock set back would keep too long', () => {
  const clock = { ms: 86_400_000, now: () => clock.ms };
  const cache = createDnsCache(clock, 10);
  cache.set('a', { status: 'found', ttl: 50, records: [] } as unknown as DnsAnswer, 50);
  cache.set('b', { status: 'found', ttl: 50, records: [] } as unknown as DnsAnswer, 50);
  clock.ms -= 1000;
  assert.equal(cache.get('a'), null);
  clock.ms += 1000;
  assert.notEqual(cache.get('b'), null);
});

test('DNS cache evicts the least recently used answer', () => {
  const cache = createDnsCache({ now: () => 0 }, 2);
  const answer: DnsAnswer = { status: 'nodata' };
  cache.set('a', answer, 60);
  cache.set('b', answer, 60);
  cache.get('a');
  cache.set('c', answer, 60);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key) !== null),
    [true, false, true],
  );
  assert.equal(cache.size, 2);
});

test('createSemaphore admits waiters in order and drops aborted ones', async () => {
  const gate = createSemaphore(1);
  const patient = new AbortController().signal;
  const impatient = new AbortController();
  assert.equal(await gate.acquire(patient), true);
  const order: string[] = [];
  const gaveUp = gate.acquire(impatient.signal);
  const second = gate.acquire(patient).then(() => order.push('second'));
  const third = gate.acquire(patient).then(() => order.push('third'));
  impatient.abort();
  assert.equal(await gaveUp, false);
  assert.deepEqual(order, []);
  gate.release();
  await second;
  assert.deepEqual(order, ['second']);
  gate.release();
  await third;
  gate.release();
  assert.equal(await gate.acquire(AbortSignal.abort()), false);
  assert.equal(await gate.acquire(patient), true);
});

// Background queries may use only part of the concurrency limit.

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.silent.example`);

test('Background DNS questions to dead servers do not delay foreground ones', async (t) => {
  const silent = Object.fromEntries(NAMES.map((name) => [name, { fails: 'timeout' as const }]));
  const server = await startDnsServer({ ...silent, 'example.com': { A: ['192.0.2.1'] } });
  t.after(() => server.close());
  const resolve = createDnsResolver({
    servers: [server.address],
    clock: systemClock,
    maxInFlight: 4,
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => resolve.close());
  let failed = 0;
  const dead = NAMES.map(async (name) => {
    const answer = await resolve.background(name, 'A');
    failed++;
    return answer.status;
  });
  const answer = await resolve('example.com', 'A');
  assert.deepEqual([answer.status, failed], ['found', 0]);
  t.mock.timers.tick(5000);
  assert.deepEqual(await Promise.all(dead), Array(6).fill('error'));
  assert.equal([...server.queries.keys()].filter((key) => key.includes('silent')).length, 2);
});

test('Foreground and background DNS questions share one cache', async (t) => {
  const server = await startDnsServer({ 'example.com': { A: ['192.0.2.1'] } });
  t.after(() => server.close());
  const resolve = createDnsResolver({ servers: [server.address], clock: systemClock });
  t.after(() => resolve.close());
  await resolve.background('example.com', 'A');
  await resolve('example.com', 'A');
  assert.equal(server.queries.get('example.com/A'), 1);
});
