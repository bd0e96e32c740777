/** Stores and counts tests beside those who ask for a summary, and proves what they are told. */

import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { issueTitle } from '../../src/analysis/declarations.ts';
import { createIds } from '../../src/lib/ids.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { openStore } from '../../src/store/open.ts';
import { PERIODS, periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { randomTest } from '../../test/mailtests/counted-tests.ts';
import { recountedSummary } from '../../test/summary/recounted-summary.ts';

const DAY_MS = 24 * 3_600_000;
const AT_ONCE = 10;

/** Ten in a transaction, one after the other, over a connection of its own. */
export function startWriting(path: string, domains: string[]) {
  const { db, close } = openStore(path);
  const random = seededRandom(9);
  const clock = { now: () => Date.now() };
  const app = { clock, newId: createIds(clock) } as unknown as Parameters<typeof randomTest>[0];
  let on = true;
  const write = async () => {
    for (; on; await nextTurn())
      await db.transaction().execute(async (tx) => {
        for (let i = 0; i < AT_ONCE; i++) {
          const at = Date.now() - random.below(30 * DAY_MS);
          const row = randomTest(app, random, { at, domains });
          await tx.insertInto('tests').values(row).execute();
          await countTest(tx, row, 1);
        }
      });
    await close();
  };
  const writing = write();
  return {
    stop() {
      on = false;
      return writing;
    },
  };
}

/** Throws where a summary differs from what the tests themselves tell in the same moment. */
export async function proveSummaries(path: string, domains: string[]): Promise<number> {
  const { db, close } = openStore(path);
  let compared = 0;
  for (const period of PERIODS)
    for (const named of [null, domains.slice(0, 1), domains]) {
      const span = periodEndingAt(Date.now(), period);
      const asked = { ...span, domains: named, livemode: true };
      const [told, expected] = await db
        .transaction()
        .execute(async (tx) => [
          await summarize(tx, asked),
          await recountedSummary(tx, asked, issueTitle),
        ]);
      assert.deepEqual(told, expected);
      compared++;
    }
  await close();
  return compared;
}
