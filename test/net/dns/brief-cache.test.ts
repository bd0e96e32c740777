/** DNS answers that analyses of one thread share for a second. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBriefCache } from '../../../src/net/dns/brief-cache.ts';
import type { DnsAnswer } from '../../../src/net/dns/resolver.ts';

const found = (...records: string[]): DnsAnswer => ({
  status: 'found',
  records,
  ttl: 60,
  authenticated: false,
});

/** A cache over answers that the test can change, with a clock that it can advance. */
function startCache(answer: DnsAnswer) {
  const state = { answer, time: 0, queries: 0 };
  const cache = createBriefCache(
    async () => {
      state.queries += 1;
      return state.answer;
    },
    { now: () => state.time },
  );
  return { state, cache };
}

describe('Brief DNS cache', () => {
  it('Shares an answer for one second, and a query in flight', async () => {
    const { state, cache } = startCache(found('a'));
    await Promise.all([cache.resolver('example.com', 'TXT'), cache.resolver('EXAMPLE.com', 'TXT')]);
    state.time = 999;
    await cache.resolver('example.com', 'TXT');
    assert.equal(state.queries, 1);
    state.time = 1000;
    state.answer = found('b');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('b'));
    assert.equal(state.queries, 2);
  });

  it('Queries again for another type, and after it was cleared', async () => {
    const { state, cache } = startCache({ status: 'nxdomain' });
    await cache.resolver('example.com', 'TXT');
    await cache.resolver('example.com', 'MX');
    assert.equal(state.queries, 2);
    cache.clear();
    state.answer = found('b');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('b'));
  });

  it('Does not cache errors', async () => {
    const { state, cache } = startCache({ status: 'error', reason: 'timeout' });
    await cache.resolver('example.com', 'TXT');
    state.answer = found('a');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('a'));
  });

  it('Forgets the oldest answer when it is full', async () => {
    const { state, cache } = startCache(found('a'));
    for (let i = 0; i <= 1000; i++) await cache.resolver(`${i}.example.com`, 'A');
    assert.equal(state.queries, 1001);
    await cache.resolver('1.example.com', 'A');
    await cache.resolver('1000.example.com', 'A');
    assert.equal(state.queries, 1001);
    await cache.resolver('0.example.com', 'A');
    assert.equal(state.queries, 1002);
  });

  it('Does not cache large answers', async () => {
    const { state, cache } = startCache(found('a'.repeat(4096)));
    await cache.resolver('example.com', 'TXT');
    await cache.resolver('example.com', 'TXT');
    assert.equal(state.queries, 1);
    state.answer = found('a'.repeat(4096), 'b');
    for (let i = 0; i < 2; i++) await cache.resolver('example.net', 'TXT');
    assert.equal(state.queries, 3);
  });

  it('Each caller gets its own records', async () => {
    const { cache } = startCache(found('b', 'a'));
    for (let i = 0; i < 3; i++) {
      const answer = await cache.resolver('example.com', 'A');
      assert.deepEqual(answer, found('b', 'a'));
      assert.ok(answer.status === 'found');
      answer.records.sort();
    }
  });
});
