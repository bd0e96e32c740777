/** Two nodes on one database allow each rate limit once, and delay guesses together. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRateLimit } from '../../src/http/rate-limit.ts';
import { deleteExpiredCounts, rateLimitFor } from '../../src/http/shared-rate-limit.ts';
import { CHEAP_PASSWORDS, type TestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { skipUnlessOnPostgres } from '../helpers/postgres.ts';
import { seededRandom } from '../helpers/random.ts';
import { startNodes } from '../store/races/nodes.ts';

const skip = skipUnlessOnPostgres();

const count = (responses: { status: number }[], status: number): number =>
  responses.filter((response) => response.status === status).length;

test('Two nodes allow the general limit of a key once', { skip }, async (t) => {
  const clock = testClock();
  const [a, b] = await startNodes(t, { clock, env: { DELIVERABILITY_RATE_LIMIT: '50/min' } });
  const list = (node: TestService, key = a.key) => node.call('GET', '/v1/tests', { key });
  const flood = () => Promise.all(Array.from({ length: 80 }, (_, i) => list(i % 2 ? a : b)));
  const responses = await flood();
  assert.deepEqual([count(responses, 200), count(responses, 429)], [50, 30]);
  // Each remaining number is reported once.
  const left = responses
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1]));
  assert.deepEqual(
    left.toSorted((x, y) => x - y),
    Array.from({ length: 50 }, (_, i) => i),
  );
  assert.equal((await list(b, await a.makeKey('viewer'))).status, 200, 'another key');
  clock.advance(61_000);
  assert.equal(count(await flood(), 200), 50);
});

test('Two nodes allow the limit of a route once', { skip }, async (t) => {
  const [a, b] = await startNodes(t, { clock: testClock() });
  const guess = (node: TestService) =>
    node.call('POST', '/v1/password_resets/confirm', {
      key: null,
      json: { token: 'A'.repeat(43), password: 'four words make one' },
    });
  const responses = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(i % 2 ? a : b)));
  assert.deepEqual([count(responses, 404), count(responses, 429)], [20, 10]);
});

test('A shared limit decides as one in memory', { skip }, async (t) => {
  const clock = testClock(Date.UTC(2026, 10, 21));
  const [a, b] = await startNodes(t, { clock });
  const rate = { requests: 10, seconds: 12 };
  const local = createRateLimit('x', rate, clock);
  const shared = [a, b].map(({ app }) => rateLimitFor(app, 'x', rate));
  const random = seededRandom(7);
  // Both begin a slot, so their slots are the same.
  for (let step = 0; step < 300; step++) {
    const caller = 'a';
    const expected = local.consume(caller);
    const actual = await shared[step % 2]!.consume(caller);
    assert.deepEqual(actual, expected, `step ${step}`);
    clock.advance(random.below(4) * 1000);
  }
});

test('A shared limit outlives neither its window nor a clock that is set back', {
  skip,
}, async (t) => {
  const clock = testClock();
  const [a, b] = await startNodes(t, { clock });
  const limits = [a, b].map(({ app }) => rateLimitFor(app, 'x', { requests: 2, seconds: 12 }));
  const consume = async () => (await limits[0]!.consume('a')).allowed;
  assert.deepEqual([await consume(), await consume(), await consume()], [true, true, false]);
  clock.advance(-3_600_000);
  assert.equal(await consume(), false);
  clock.advance(13_000);
  assert.equal(await consume(), true);
  const rows = () => a.app.db.selectFrom('rate_limits').select('name').execute();
  assert.deepEqual(await rows(), [{ name: 'x a' }]);
  clock.advance(3_600_000);
  await deleteExpiredCounts(b.app);
  assert.deepEqual(await rows(), []);
});

test('Callers above the limit cost no further statements', { skip }, async (t) => {
  const clock = testClock();
  const [a] = await startNodes(t, { clock });
  const limit = rateLimitFor(a.app, 'x', { requests: 1, seconds: 12 });
  await limit.consume('a');
  assert.equal((await limit.consume('a')).allowed, false);
  await a.app.db.deleteFrom('rate_limits').execute();
  assert.equal((await limit.consume('a')).allowed, false, 'from memory');
  clock.advance(12_000);
  assert.equal((await limit.consume('a')).allowed, true);
});

test('Two nodes delay sign-in attempts together', { skip }, async (t) => {
  const clock = testClock();
  const [a, b] = await startNodes(t, { clock, passwordCost: CHEAP_PASSWORDS });
  const json = { email: 'owner@example.com', password: 'a wrong password' };
  const guess = (node: TestService) => node.call('POST', '/v1/sessions', { key: null, json });
  const guesses = await Promise.all([a, b, a, b, a, b, a, b].map(guess));
  assert.deepEqual([count(guesses, 401), count(guesses, 429)], [3, 5]);
  // Then one attempt after 1, 2, 4 … seconds, on either node.
  for (const [round, seconds] of [1, 2, 4, 8].entries()) {
    clock.advance(seconds * 1000 - 1);
    assert.equal((await guess(round % 2 ? a : b)).status, 429);
    clock.advance(1);
    const both = await Promise.all([guess(a), guess(b)]);
    assert.deepEqual([count(both, 401), count(both, 429)], [1, 1]);
  }
});
