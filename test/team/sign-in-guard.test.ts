/** Delays after failed attempts grow, expire, and use bounded memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/lib/errors.ts';
import { type AttemptThrottle, createAttemptThrottle } from '../../src/team/attempts.ts';
import { createPasswordHasher } from '../../src/team/sign-in-guard.ts';
import { testClock } from '../helpers/clock.ts';
import { countScrypt } from './scrypt-count.ts';

const wrong = async () => null;
const right = async () => 'in';

function setUp(max?: number) {
  const clock = testClock();
  return { clock, delays: createAttemptThrottle(clock, max) };
}

/** The seconds of `Retry-After`, or the result of the attempt. */
async function outcome(
  delays: AttemptThrottle,
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

test('Sign-in guard allows three attempts, then doubles the delay up to 60 seconds', async () => {
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

test('Sign-in guard does not check or count attempts made during a delay', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  for (let i = 0; i < 20; i++)
    await outcome(delays, 'a', null, () => assert.fail('nothing is checked'));
  clock.advance(1000);
  await outcome(delays, 'a', null);
  assert.equal(await outcome(delays, 'a', null), 2);
});

test('Sign-in guard: a successful attempt clears the account but not the IP address', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', '192.0.2.1');
  clock.advance(1000);
  assert.equal(await outcome(delays, 'a', '192.0.2.1', right), 'in');
  assert.equal(await outcome(delays, 'a', '192.0.2.2'), null);
  assert.equal(await outcome(delays, 'b', '192.0.2.1'), null);
  assert.equal(await outcome(delays, 'c', '192.0.2.1'), 2);
});

test('Sign-in guard counts per account and per IP address, independently', async () => {
  const { delays } = setUp();
  for (const account of ['a', 'b', 'c']) await outcome(delays, account, '192.0.2.1');
  assert.equal(await outcome(delays, 'd', '192.0.2.1'), 1);
  assert.equal(await outcome(delays, 'd', '192.0.2.2'), null);
  for (const ip of ['192.0.2.3', '192.0.2.4', '192.0.2.5']) await outcome(delays, 'e', ip);
  assert.equal(await outcome(delays, 'e', '192.0.2.6'), 1);
  assert.equal(await outcome(delays, 'f', '192.0.2.6'), null);
});

test('Sign-in guard counts an IPv6 /64 as one address', async () => {
  const { delays } = setUp();
  for (const ip of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff:1:2:3'])
    await outcome(delays, `account of ${ip}`, ip);
  assert.equal(await outcome(delays, 'x', '2001:db8:0:1::9'), 1);
  assert.equal(await outcome(delays, 'x', '2001:db8:0:2::9'), null);
});

test('Sign-in guard: parallel attempts do not exceed the attempt limit', async () => {
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

test('Sign-in guard does not count attempts whose check failed with an error', async () => {
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

test('Sign-in guard forgets attempts after 15 minutes, and at once on clear()', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  delays.clear('a');
  for (let i = 0; i < 3; i++) assert.equal(await outcome(delays, 'a', null), null);
  clock.advance(15 * 60_000);
  for (let i = 0; i < 3; i++) assert.equal(await outcome(delays, 'a', null), null);
  assert.equal(await outcome(delays, 'a', null), 1);
});

test('Sign-in guard: setting the clock back does not lengthen delays', async () => {
  const { clock, delays } = setUp();
  for (let i = 0; i < 3; i++) await outcome(delays, 'a', null);
  clock.advance(-3_600_000);
  assert.equal(await outcome(delays, 'a', null), 1);
  clock.advance(1000);
  assert.equal(await outcome(delays, 'a', null, right), 'in');
});

test('Sign-in guard counts a known browser separately from strangers', async () => {
  const { clock, delays } = setUp();
  const guess = { account: 'a', ip: '192.0.2.1' };
  for (let i = 0; i < 3; i++) await outcome(delays, guess.account, guess.ip);
  assert.equal(await outcome(delays, 'a', '192.0.2.1', right), 1);
  const known = { ...guess, device: 'one' };
  assert.equal(await delays.attempt(known, right), 'in');
  // Strangers and other browsers stay delayed.
  clock.advance(1000);
  await outcome(delays, 'a', '192.0.2.1');
  assert.equal(await outcome(delays, 'a', '192.0.2.2'), 2);
  for (let i = 0; i < 3; i++) await delays.attempt(known, wrong);
  await assert.rejects(delays.attempt(known, right), /Try again in 1 second\./);
  assert.equal(await delays.attempt({ ...known, device: 'two' }, right), 'in');
  assert.equal(await delays.attempt({ ...known, account: 'b' }, right), 'in');
  clock.advance(1000);
  assert.equal(await delays.attempt(known, right), 'in');
  assert.equal(await delays.attempt(known, wrong), null, 'and is cleared when it is in');
});

const MAX = 50;

test('Sign-in guard: a flood of account names does not evict a guessed account', async () => {
  const { delays } = setUp(MAX);
  for (let i = 0; i < 3; i++) await outcome(delays, 'victim', `192.0.2.${i}`);
  // From a single IP address, and from one address each.
  for (let i = 0; i < MAX; i++) await outcome(delays, `name ${i}`, '198.51.100.1');
  assert.equal(await outcome(delays, 'victim', '192.0.2.9', right), 1);
  for (let i = 0; i < 3 * MAX; i++) await outcome(delays, `other ${i}`, `203.0.113.${i}`);
  assert.equal(await outcome(delays, 'victim', '192.0.2.9', right), 1);
});

test('Sign-in guard: a flood of IP addresses does not evict a guessing address', async () => {
  const { delays } = setUp(MAX);
  for (let i = 0; i < 3; i++) await outcome(delays, `name ${i}`, '192.0.2.1');
  for (let i = 0; i < 3 * MAX; i++) await outcome(delays, `name ${i}`, `203.0.113.${i}`);
  assert.equal(await outcome(delays, 'x', '192.0.2.1', right), 1);
});

test('Sign-in guard: refused attempts evict no entries', async () => {
  const { delays } = setUp(MAX);
  for (let i = 0; i < 3; i++) await outcome(delays, `name ${i}`, '192.0.2.1');
  for (let i = 0; i < 2 * (MAX - 1); i++) await outcome(delays, `name ${i % (MAX - 1)}`, null);
  await outcome(delays, 'victim', null);
  for (let i = 0; i < 3 * MAX; i++)
    assert.equal(await outcome(delays, `new name ${i}`, '192.0.2.1'), 1);
  for (let i = 0; i < 2; i++) assert.equal(await outcome(delays, 'victim', null), null);
  assert.equal(await outcome(delays, 'victim', null), 1, 'the first was remembered');
});

test('Sign-in guard at capacity evicts the entries with fewest failures, oldest first', async () => {
  const { clock, delays } = setUp(3);
  for (const [account, tries] of [
    ['a', 3],
    ['b', 2],
    ['c', 2],
    ['d', 3],
  ] as const)
    for (let i = 0; i < tries; i++) await outcome(delays, account, null);
  // `b` was evicted.
  assert.equal(await outcome(delays, 'a', null), 1);
  assert.equal(await outcome(delays, 'd', null), 1);
  assert.equal(await outcome(delays, 'c', null), null);
  assert.equal(await outcome(delays, 'c', null), 1, 'three by now');
  await outcome(delays, 'e', null);
  assert.equal(await outcome(delays, 'a', null, right), 'in', 'forgotten: the oldest of equals');
  // Forgotten attempts don't count.
  clock.advance(15 * 60_000);
  for (const account of ['x', 'y', 'z', 'x', 'x']) await outcome(delays, account, null);
  assert.equal(await outcome(delays, 'x', null), 1);
});

test('Sign-in guard: IP addresses do not evict accounts', async () => {
  const { delays } = setUp(3);
  for (const account of ['a', 'b', 'c']) await outcome(delays, account, null);
  for (const ip of ['192.0.2.1', '192.0.2.2']) await outcome(delays, 'a', ip);
  for (let i = 0; i < 2; i++) assert.equal(await outcome(delays, 'b', null), null);
  assert.equal(await outcome(delays, 'b', null), 1);
});

// Passwords are hashed with limited concurrency; a full queue rejects immediately.

test('Password work runs two hashes at a time and queues the rest', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordHasher();
  const passwords = ['one', 'two', 'three', 'four', 'five'];
  const hashes = await Promise.all(passwords.map((password) => work.hash(password)));
  assert.deepEqual([count.begun, count.most, count.running], [5, 2, 0]);
  const checks = passwords.map((password, i) => work.verify(password, hashes[i]!));
  assert.deepEqual(await Promise.all(checks), Array(5).fill(true));
  assert.equal(await work.verify('one', hashes[1]!), false);
  assert.equal(count.most, 2);
});

test('Verifying against a null hash takes one hash and returns false', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordHasher();
  const { result, count: begun } = await count.during(() => work.verify('any', null));
  assert.deepEqual([result, begun], [false, 1]);
});

test('Password work rejects requests when the queue is full; aborted ones cost nothing', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordHasher();
  const gone = new AbortController();
  const inside = [work.verify('a', null), work.verify('b', null)];
  const waiting = Array.from({ length: 50 }, () => work.verify('c', null, { signal: gone.signal }));
  await assert.rejects(work.verify('d', null), { code: 'unavailable' });
  // A client that disconnects while waiting causes no hash.
  gone.abort();
  for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, 'rejected');
  await Promise.all(inside);
  assert.equal(count.begun, 2);
  assert.equal(await work.verify('e', null), false, 'and there is room again');
});

test('Password work serves known browsers ahead of queued strangers', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordHasher();
  const gone = new AbortController();
  let ended = 0;
  const strangers = Array.from({ length: 52 }, () =>
    work.verify('a', null, { signal: gone.signal }).then(
      () => ended++,
      () => {},
    ),
  );
  await assert.rejects(work.verify('a', null), { code: 'unavailable' });
  const known = [work.verify('b', null, { isKnownClient: true }), work.hash('c')];
  const [checked, hash] = await Promise.all(known);
  gone.abort();
  assert.deepEqual([checked, typeof hash], [false, 'string']);
  await Promise.all(strangers);
  // Two at once, of which the slower may wait for its turn of the processor. In order of arrival, it would be fifty.
  assert.ok(ended <= 25 && count.begun <= 29, `${ended} of ${count.begun}`);
  assert.equal(count.most, 2);
});
