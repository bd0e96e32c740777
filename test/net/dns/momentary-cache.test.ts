/** DNS answers that analyses of one thread share for a moment. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { momentaryCache } from '../../../src/net/dns/momentary-cache.ts';
import type { DnsAnswer } from '../../../src/net/dns/resolver.ts';

const found = (...records: string[]): DnsAnswer => ({
  status: 'found',
  records,
  ttl: 60,
  authenticated: false,
});

/** A cache over answers that the test can change, with a clock that it can advance. */
function startCache(answer: DnsAnswer) {
  const state = { answer, time: 0, asked: 0 };
  const cache = momentaryCache(
    async () => {
      state.asked += 1;
      return state.answer;
    },
    { now: () => state.time },
  );
  return { state, cache };
}

describe('Momentary DNS cache', () => {
  it('Shares an answer for a second, also while the question is open', async () => {
    const { state, cache } = startCache(found('a'));
    await Promise.all([cache.resolver('example.com', 'TXT'), cache.resolver('EXAMPLE.com', 'TXT')]);
    state.time = 999;
    await cache.resolver('example.com', 'TXT');
    assert.equal(state.asked, 1);
    state.time = 1000;
    state.answer = found('b');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('b'));
    assert.equal(state.asked, 2);
  });

  it('Asks again for another type, and after it was cleared', async () => {
    const { state, cache } = startCache({ status: 'nxdomain' });
    await cache.resolver('example.com', 'TXT');
    await cache.resolver('example.com', 'MX');
    assert.equal(state.asked, 2);
    cache.clear();
    state.answer = found('b');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('b'));
  });

  it('Keeps no errors', async () => {
    const { state, cache } = startCache({ status: 'error', reason: 'timeout' });
    await cache.resolver('example.com', 'TXT');
    state.answer = found('a');
    assert.deepEqual(await cache.resolver('example.com', 'TXT'), found('a'));
  });

  it('Each caller gets its own records', async () => {
    const { cache } = startCache(found('b', 'a'));
    const first = await cache.resolver('example.com', 'A');
    assert.ok(first.status === 'found');
    first.records.sort();
    assert.deepEqual(await cache.resolver('example.com', 'A'), found('b', 'a'));
  });
});
