import assert from 'node:assert/strict';
import { it } from 'node:test';
import { batched } from '../../src/lib/batch.ts';

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
