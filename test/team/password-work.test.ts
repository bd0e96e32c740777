/** Passwords are hashed a few at a time, and who would wait too long is told at once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswordWork } from '../../src/team/password-work.ts';
import { countScrypt } from './scrypt-count.ts';

test('two at once, the others in turn, and all are right', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordWork();
  const passwords = ['one', 'two', 'three', 'four', 'five'];
  const hashes = await Promise.all(passwords.map((password) => work.hash(password)));
  assert.deepEqual([count.begun, count.most, count.running], [5, 2, 0]);
  const checks = passwords.map((password, i) => work.verify(password, hashes[i]!));
  assert.deepEqual(await Promise.all(checks), Array(5).fill(true));
  assert.equal(await work.verify('one', hashes[1]!), false);
  assert.equal(count.most, 2);
});

test('a null hash takes as much work and is false', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordWork();
  const { result, count: begun } = await count.during(() => work.verify('any', null));
  assert.deepEqual([result, begun], [false, 1]);
});

test('beyond those that wait already, the answer is that there are too many', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordWork();
  const gone = new AbortController();
  const inside = [work.verify('a', null), work.verify('b', null)];
  const waiting = Array.from({ length: 50 }, () => work.verify('c', null, { signal: gone.signal }));
  await assert.rejects(work.verify('d', null), { code: 'unavailable' });
  // Whoever goes away while waiting costs nothing.
  gone.abort();
  for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, 'rejected');
  await Promise.all(inside);
  assert.equal(count.begun, 2);
  assert.equal(await work.verify('e', null), false, 'and there is room again');
});

test('who is known waits for no crowd of strangers', async (t) => {
  const count = countScrypt(t);
  const work = createPasswordWork();
  const gone = new AbortController();
  let ended = 0;
  const strangers = Array.from({ length: 52 }, () =>
    work.verify('a', null, { signal: gone.signal }).then(
      () => ended++,
      () => {},
    ),
  );
  await assert.rejects(work.verify('a', null), { code: 'unavailable' });
  const known = [work.verify('b', null, { known: true }), work.hash('c')];
  const [checked, hash] = await Promise.all(known);
  gone.abort();
  assert.deepEqual([checked, typeof hash], [false, 'string']);
  await Promise.all(strangers);
  assert.ok(ended <= 4, `${ended}`);
  assert.ok(count.begun <= 6, `${count.begun}`);
  assert.equal(count.most, 2);
});
