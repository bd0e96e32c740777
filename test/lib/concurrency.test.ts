import assert from 'node:assert/strict';
import { it } from 'node:test';
import { batched, createSignals } from '../../src/lib/concurrency.ts';

const LONG = 60_000;

it('everyone who waits for a name is woken, and nobody else', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const [one, two, other] = ['a', 'a', 'b'].map((name) => signals.wait(name, LONG));
  signals.raise('a');
  assert.deepEqual(await Promise.all([one, two]), [true, true]);
  t.mock.timers.tick(LONG);
  assert.equal(await other, false);
});

it('what was raised before is not waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  signals.raise('a');
  const waiting = signals.wait('a', LONG);
  t.mock.timers.tick(LONG);
  assert.equal(await waiting, false);
});

it('a wait ends with its time, not before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  let ended: boolean | undefined;
  const waiting = signals.wait('a', LONG).then((raised) => {
    ended = raised;
  });
  t.mock.timers.tick(LONG - 1);
  await new Promise(setImmediate);
  assert.equal(ended, undefined);
  t.mock.timers.tick(1);
  await waiting;
  assert.equal(ended, false);
});

it('a client that goes away ends its own wait alone', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const gone = new AbortController();
  const [leaving, staying] = [signals.wait('a', LONG, gone.signal), signals.wait('a', LONG)];
  gone.abort();
  assert.equal(await leaving, false);
  assert.equal(await signals.wait('a', LONG, gone.signal), false, 'gone already');
  signals.raise('a');
  assert.equal(await staying, true);
});

it('who is woken may wait again for the same name', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const woken: number[] = [];
  const waitTwice = async () => {
    for (const time of [1, 2]) if (await signals.wait('a', LONG)) woken.push(time);
  };
  const both = waitTwice();
  signals.raise('a');
  await new Promise(setImmediate);
  assert.deepEqual(woken, [1]);
  signals.raise('a');
  await both;
  assert.deepEqual(woken, [1, 2]);
});

it('closing ends every wait, and those to come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const signals = createSignals();
  const waiting = ['a', 'a', 'b'].map((name) => signals.wait(name, LONG));
  signals.close();
  assert.deepEqual(await Promise.all(waiting), [false, false, false]);
  assert.equal(await signals.wait('a', LONG), false);
});

it('what is said in one turn goes out together and in order, the next turn apart', async () => {
  const posted: number[][] = [];
  const send = batched<number>((items) => posted.push(items));
  for (const item of [1, 2, 3]) send(item);
  assert.deepEqual(posted, []);
  await new Promise(setImmediate);
  send(4);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual(posted, [[1, 2, 3], [4]]);
});

it('what is said while a batch goes out is in the next', async () => {
  const posted: string[][] = [];
  const send = batched<string>((items) => {
    posted.push(items);
    if (posted.length === 1) send('late');
  });
  send('early');
  while (posted.length < 2) await new Promise(setImmediate);
  assert.deepEqual(posted, [['early'], ['late']]);
});
