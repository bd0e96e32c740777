/** Subscribers run in the publisher's transaction, in order, each on its own channel. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/store/open.ts';
import { channel, createSubscribers, subscribe } from '../../src/store/subscribers.ts';

const TX = {} as Tx;

test('publish() calls the subscribers of a channel in order with the transaction', async () => {
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

test('publish() rejects with the first failing subscriber and calls no later one', async () => {
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

test('Channels of the same name are distinct', async () => {
  const [one, other] = [channel<[]>('same'), channel<[]>('same')];
  let calls = 0;
  const subscribers = createSubscribers([subscribe(one, async () => void calls++)]);
  await subscribers.publish(other, TX);
  assert.equal(calls, 0);
  await subscribers.publish(one, TX);
  assert.equal(calls, 1);
});
