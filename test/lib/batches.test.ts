/** Batches: waiting items run together, and no item fails because of another. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatches } from '../../src/lib/batches.ts';

interface Setup {
  fails?: (items: number[]) => Error | null;
  isCommon?: (error: unknown) => boolean;
}

/** Items weigh their number, and a batch at most 10. */
function start({ fails = () => null, isCommon = () => false }: Setup = {}) {
  const runs: number[][] = [];
  const add = createBatches<number, string>({
    async run(items) {
      runs.push(items);
      const error = fails(items);
      if (error) throw error;
      return items.map((item) => `result ${item}`);
    },
    weigh: (item) => item,
    maxWeight: 10,
    isCommon,
  });
  return { runs, add };
}

const CASES: [title: string, items: number[], runs: number[][]][] = [
  ['one', [1], [[1]]],
  ['those that fit', [4, 3, 3], [[4, 3, 3]]],
  [
    'the rest in the next batch, in order',
    [4, 4, 4, 1],
    [
      [4, 4],
      [4, 1],
    ],
  ],
  ['one that is too heavy, alone', [2, 11, 2], [[2], [11], [2]]],
];

for (const [title, items, expected] of CASES)
  test(`A batch has ${title}`, async () => {
    const { runs, add } = start();
    const results = await Promise.all(items.map(add));
    assert.deepEqual(runs, expected);
    assert.deepEqual(
      results,
      items.map((item) => `result ${item}`),
    );
  });

test('Items that are added while a batch runs form the next batch', async () => {
  const { runs, add } = start();
  const later: Promise<string>[] = [];
  await add(1).then(() => later.push(add(2), add(3)));
  assert.deepEqual(await Promise.all(later), ['result 2', 'result 3']);
  assert.deepEqual(runs, [[1], [2, 3]]);
});

test('If a batch fails, each of its items runs alone, and only failing items are rejected', async () => {
  const { runs, add } = start({
    fails: (items) => (items.includes(2) ? new Error('two') : null),
  });
  const results = await Promise.allSettled([1, 2, 3].map(add));
  assert.deepEqual(runs, [[1, 2, 3], [1], [2], [3]]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

test('An error that concerns all items rejects all items of a batch at once', async () => {
  const { runs, add } = start({ fails: () => new Error('away'), isCommon: () => true });
  const results = await Promise.allSettled([1, 2].map(add));
  assert.deepEqual(runs, [[1, 2]]);
  assert.ok(results.every(({ status }) => status === 'rejected'));
});
