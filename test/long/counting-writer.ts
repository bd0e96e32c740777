/** A thread with its own database connection that stores and counts tests until it receives a message. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { openStore } from '../../src/store/open.ts';
import { seededRandom } from '../helpers/random.ts';
import { randomTest } from '../mailtests/counted-tests.ts';

export interface Writing {
  location: string;
  domains: (string | null)[];
  /** Tests complete at random times from `from` until before `to`. */
  from: number;
  to: number;
}

const { location, domains, from, to } = workerData as Writing;
const random = seededRandom(77);
// In the past, so that IDs do not collide with those of other threads.
const clock = { now: () => from - 1_000_000_000 };
const newId = createIdGenerator(clock);
const { db, close } = await openStore(location);
let stopped = false;
let written = 0;
parentPort!.once('message', () => {
  stopped = true;
});
while (!stopped) {
  await db.transaction().execute(async (tx) => {
    for (let i = 0; i < 10; i++) {
      const at = from + random.below(to - from);
      const row = randomTest({ newId, clock: clock as never }, random, { at, domains });
      await tx.insertInto('tests').values(row).execute();
      await countTest(tx, row, 1);
    }
  });
  written += 10;
  parentPort!.postMessage(written);
  await nextTurn();
}
await close();
