/** What nobody waits for leaves room among the questions at once to what somebody waits for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createDnsResolver } from '../../src/net/dns-resolver.ts';
import { startDnsServer } from '../helpers/dns-server.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.silent.example`);

test('many questions of the background whose servers are dead hold up nobody else', async (t) => {
  const silent = Object.fromEntries(NAMES.map((name) => [name, { fails: 'timeout' as const }]));
  const server = await startDnsServer({ ...silent, 'example.com': { A: ['192.0.2.1'] } });
  t.after(() => server.close());
  const resolve = createDnsResolver({
    servers: [server.address],
    clock: systemClock,
    timeoutMs: 1000,
    attemptMs: 1000,
    maxInFlight: 4,
  });
  t.after(() => resolve.close());
  let failed = 0;
  const dead = NAMES.map(async (name) => {
    const answer = await resolve.background(name, 'A');
    failed++;
    return answer.status;
  });
  const answer = await resolve('example.com', 'A');
  assert.deepEqual([answer.status, failed], ['found', 0]);
  assert.deepEqual(await Promise.all(dead), Array(6).fill('error'));
  assert.equal([...server.asked.keys()].filter((key) => key.includes('silent')).length, 2);
});

test('both have one cache', async (t) => {
  const server = await startDnsServer({ 'example.com': { A: ['192.0.2.1'] } });
  t.after(() => server.close());
  const resolve = createDnsResolver({ servers: [server.address], clock: systemClock });
  t.after(() => resolve.close());
  await resolve.background('example.com', 'A');
  await resolve('example.com', 'A');
  assert.equal(server.asked.get('example.com/A'), 1);
});
