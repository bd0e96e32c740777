/** Who guesses waits longer and longer; memory of it is bounded, and it is forgotten in time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/lib/errors.ts';
import { createDelays, type Delays } from '../../src/team/session-delays.ts';
import { testClock } from '../helpers/clock.ts';

const wrong = async () => null;
const right = async () => 'in';

function setUp(max?: number) {
  const clock = testClock();
  return { clock, delays: createDelays(clock, max) };
}

/** The seconds of `Retry-After`, or what the try gave. */
async function outcome(
  delays: Delays,
  account: string,
  ip: string | null,
  check: () => Promise<string | null> = wrong,
): Promise<number | string | null> {
  try {
    return await delays.attempt({ account, ip }, check);
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'rate_limited');
    return Number(error.headers['retry-after']);
  }
}

test('three tries are free; then each takes twice as long as the one before, a minute at most', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) assert.equal(await outcome(delays, 'a', null), null);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    assert.equal(await outcome(delays, 'a', null, right), seconds);
    clock.advance(seconds * 1000 - 1);
    assert.equal(await outcome(delays, 'a', null, right), 1, 'a millisecond too early');
    clock.advance(1);
    assert.equal(await outcome(delays, 'a', null), null);
  }
});

test('a try that was refused does not count, and is not made', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  for (let i = 0; i < 20; i++)
    await outcome(delays, 'a', null, () => assert.fail('nothing is checked'));
  clock.advance(1000);
  await outcome(delays, 'a', null);
  assert.equal(await outcome(delays, 'a', null), 2);
});

test('a right one clears the account and leaves the address', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', '192.0.2.1');
  clock.advance(1000);
  assert.equal(await outcome(delays, 'a', '192.0.2.1', right), 'in');
  assert.equal(await outcome(delays, 'a', '192.0.2.2'), null);
  assert.equal(await outcome(delays, 'b', '192.0.2.1'), null);
  assert.equal(await outcome(delays, 'c', '192.0.2.1'), 2);
});

test('one address waits for all accounts, one account for all addresses, others not', async () => {
  const { delays } = setUp();
  for (const account of ['a', 'b', 'c']) await outcome(delays, account, '192.0.2.1');
  assert.equal(await outcome(delays, 'd', '192.0.2.1'), 1);
  assert.equal(await outcome(delays, 'd', '192.0.2.2'), null);
  for (const ip of ['192.0.2.3', '192.0.2.4', '192.0.2.5']) await outcome(delays, 'e', ip);
  assert.equal(await outcome(delays, 'e', '192.0.2.6'), 1);
  assert.equal(await outcome(delays, 'f', '192.0.2.6'), null);
});

test('a network of IPv6 is one address', async () => {
  const { delays } = setUp();
  for (const ip of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff:1:2:3'])
    await outcome(delays, `account of ${ip}`, ip);
  assert.equal(await outcome(delays, 'x', '2001:db8:0:1::9'), 1);
  assert.equal(await outcome(delays, 'x', '2001:db8:0:2::9'), null);
});

test('many at once gain nothing: as many as are free run, and then one', async () => {
  const { clock, delays } = setUp();
  const at = () => {
    let end = () => {};
    const ended = new Promise<null>((resolve) => {
      end = () => resolve(null);
    });
    return { ended, end };
  };
  const first = Array.from({ length: 10 }, at);
  const outcomes = first.map(({ ended }) => outcome(delays, 'a', null, () => ended));
  for (const { end } of first) end();
  const settled = await Promise.all(outcomes);
  assert.deepEqual(settled.slice(0, 3), [null, null, null]);
  assert.deepEqual(settled.slice(3), Array(7).fill(1));
  clock.advance(1000);
  const slow = at();
  const running = outcome(delays, 'a', null, () => slow.ended);
  assert.equal(await outcome(delays, 'a', null), 1);
  slow.end();
  assert.equal(await running, null);
});

test('what could not be checked does not count', async () => {
  const { delays } = setUp();
  for (let i = 0; i < 10; i++)
    await assert.rejects(
      delays.attempt({ account: 'a', ip: '192.0.2.1' }, async () => {
        throw new Error('broken');
      }),
      /broken/,
    );
  assert.equal(await outcome(delays, 'a', '192.0.2.1', right), 'in');
});

test('a quarter of an hour later all is forgotten, and `clear` forgets an account at once', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  delays.clear('a');
  for (let i = 0; i < 3; i++) assert.equal(await outcome(delays, 'a', null), null);
  clock.advance(15 * 60_000);
  for (let i = 0; i < 3; i++) assert.equal(await outcome(delays, 'a', null), null);
  assert.equal(await outcome(delays, 'a', null), 1);
});

test('a clock that is set back makes no delay longer', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  clock.advance(-3_600_000);
  assert.equal(await outcome(delays, 'a', null), 1);
  clock.advance(1000);
  assert.equal(await outcome(delays, 'a', null, right), 'in');
});

test('only so many are remembered: those unused longest are forgotten first', async () => {
  const { delays } = setUp(3);
  for (const account of ['a', 'b', 'c'])
    for (let i = 0; i < 3; i++) await outcome(delays, account, null);
  assert.equal(await outcome(delays, 'a', null), 1, 'looked at, so used last');
  await outcome(delays, 'd', null);
  assert.equal(await outcome(delays, 'b', null), null, 'forgotten');
  assert.equal(await outcome(delays, 'a', null), 1);
});
