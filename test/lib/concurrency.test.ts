import assert from 'node:assert/strict';
import { it } from 'node:test';
import { batchPerTurn, createSignals } from '../../src/lib/concurrency.ts';

const LONG_MS = 60_000;

it('signals.raise wakes every waiter of that name and no others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const [one, two, other] = ['a', 'a', 'b'].map((name) => signals.wait(name, LONG_MS));
  signals.raise('a');
  assert.deepEqual(await Promise.all([one, two]), [true, true]);
  t.mock.timers.tick(LONG_MS);
  assert.equal(await other, false);
});

it('signals.wait ignores signals raised earlier', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  signals.raise('a');
  const waiting = signals.wait('a', LONG_MS);
  t.mock.timers.tick(LONG_MS);
  assert.equal(await waiting, false);
});

it('signals.wait times out exactly after its timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  let ended: boolean | undefined;
  const waiting = signals.wait('a', LONG_MS).then((raised) => {
    ended = raised;
  });
  t.mock.timers.tick(LONG_MS - 1);
  await new Promise(setImmediate);
  assert.equal(ended, undefined);
  t.mock.timers.tick(1);
  await waiting;
  assert.equal(ended, false);
});

it('Aborting one signals.wait leaves other waiters waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const controller = new AbortController();
  const { signal } = controller;
  const [aborted, other] = [signals.wait('a', LONG_MS, signal), signals.wait('a', LONG_MS)];
  controller.abort();
  assert.equal(await aborted, false);
  assert.equal(await signals.wait('a', LONG_MS, signal), false, 'already aborted');
  signals.raise('a');
  assert.equal(await other, true);
});

it('A woken waiter can wait again for the same signal', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const woken: number[] = [];
  const waitTwice = async () => {
    for (const time of [1, 2]) if (await signals.wait('a', LONG_MS)) woken.push(time);
  };
  const both = waitTwice();
  signals.raise('a');
  await new Promise(setImmediate);
  assert.deepEqual(woken, [1]);
  signals.raise('a');
  await both;
  assert.deepEqual(woken, [1, 2]);
});

it('signals.close ends all current and future waits', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const waiting = ['a', 'a', 'b'].map((name) => signals.wait(name, LONG_MS));
  signals.close();
  assert.deepEqual(await Promise.all(waiting), [false, false, false]);
  assert.equal(await signals.wait('a', LONG_MS), false);
});

it('batchPerTurn sends items of one turn together and in order', async () => {
  const posted: number[][] = [];
  const send = batchPerTurn<number>((items) => posted.push(items));
  for (const item of [1, 2, 3]) send(item);
  assert.deepEqual(posted, []);
  await new Promise(setImmediate);
  send(4);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual(posted, [[1, 2, 3], [4]]);
});

it('batchPerTurn puts items added while sending into the next batch', async () => {
  const posted: string[][] = [];
  const send = batchPerTurn<string>((items) => {
    posted.push(items);
    if (posted.length === 1) send('late');
  });
  send('early');
  while (posted.length < 2) await new Promise(setImmediate);
  assert.deepEqual(posted, [['early'], ['late']]);
});
