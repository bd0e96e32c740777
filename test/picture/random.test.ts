/** Random combinations of what the sources know: no picture contradicts itself, and what is unknown is never fine. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../helpers/random.ts';
import { assertConsistent } from './consistent.ts';
import { emptyWorld, fillRandomly } from './random-world.ts';
import { startWorld } from './world.ts';

test('No combination of what sources know makes a picture that contradicts itself', async (t) => {
  const world = await startWorld(t);
  const seen = new Set<string>();
  for (let seed = 1; seed <= 100; seed++) {
    await emptyWorld(world);
    await fillRandomly(world, seededRandom(seed));
    const picture = await world.picture();
    try {
      assertConsistent(picture);
      for (const { state, statements } of picture.problems)
        assert.ok(statements.every(({ text }) => text.length > 1) && state);
      // A source that knows nothing recent says so.
      for (const { state, at } of picture.sources) if (state === 'pass') assert.ok(at !== null);
    } catch (error) {
      throw new Error(`With seed ${seed}: ${JSON.stringify(picture, null, 1)}`, { cause: error });
    }
    for (const { source, state } of picture.sources) seen.add(`${source} ${state}`);
  }
  // The combinations reach all states, so that the test shows something.
  for (const source of ['dns', 'tests', 'placement', 'feedback', 'receivers'])
    for (const state of ['fail', 'warn', 'pass', 'unknown'])
      assert.ok(seen.has(`${source} ${state}`), `${source} ${state}`);
});
