/** Subscribers take part in the transaction of the publisher, in order, each on its own channel. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/store/open.ts';
import { channel, createSubscribers, subscribe } from '../../src/store/subscribers.ts';

const TX = {} as Tx;

test('subscribers of a channel are called in order, with the transaction and what is published', async () => {
  const saved = channel<[id: string, count: number]>('saved');
  const calls: unknown[] = [];
  const noted = (who: string) =>
    subscribe(saved, async (tx, id, count) => {
      await new Promise(setImmediate);
      calls.push([who, tx === TX, id, count]);
    });
  const subscribers = createSubscribers([noted('first')]);
  subscribers.add(noted('second'), noted('third'));
  await subscribers.publish(saved, TX, 'a', 1);
  assert.deepEqual(calls, [
    ['first', true, 'a', 1],
    ['second', true, 'a', 1],
    ['third', true, 'a', 1],
  ]);
});

test('one that rejects ends the publication, and later ones are not called', async () => {
  const saved = channel<[]>('saved');
  let called = false;
  const subscribers = createSubscribers([
    subscribe(saved, () => Promise.reject(new Error('no'))),
    subscribe(saved, async () => {
      called = true;
    }),
  ]);
  await assert.rejects(subscribers.publish(saved, TX), /^Error: no$/);
  assert.equal(called, false);
});

test('two channels of one name are two channels, and one without subscribers is silent', async () => {
  const [one, other] = [channel<[]>('same'), channel<[]>('same')];
  let calls = 0;
  const subscribers = createSubscribers([subscribe(one, async () => void calls++)]);
  await subscribers.publish(other, TX);
  assert.equal(calls, 0);
  await subscribers.publish(one, TX);
  assert.equal(calls, 1);
});
