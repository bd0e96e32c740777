/** Stores and counts tests while summaries are read, and verifies the summaries. */

import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { issueTitle } from '../../src/analysis/declarations.ts';
import { createIdGenerator } from '../../src/lib/ids.ts';
import { countTest } from '../../src/mailtests/tally.ts';
import { openStore } from '../../src/store/open.ts';
import { PERIODS, periodEndingAt, summarize } from '../../src/summary/summary.ts';
import { seededRandom } from '../../test/helpers/random.ts';
import { randomTest } from '../../test/mailtests/counted-tests.ts';
import { recountedSummary, SEEDS } from '../../test/summary/recounted-summary.ts';

const DAY_MS = 24 * 3_600_000;
const TESTS_PER_TRANSACTION = 10;

/** Writes ten tests per transaction, one transaction after the other, over its own connection. */
export async function startWriting(path: string, domains: string[]) {
  const { db, close } = await openStore(path);
  const random = seededRandom(9);
  const clock = { now: () => Date.now() };
  const app = { clock, newId: createIdGenerator(clock) } as unknown as Parameters<
    typeof randomTest
  >[0];
  let isRunning = true;
  const write = async () => {
    for (; isRunning; await nextTurn())
      await db.transaction().execute(async (tx) => {
        for (let i = 0; i < TESTS_PER_TRANSACTION; i++) {
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
      isRunning = false;
      return writing;
    },
  };
}

/** Throws if a summary differs from a recount of the tests in the same transaction; returns the number of comparisons. */
export async function verifySummaries(path: string, domains: string[]): Promise<number> {
  const { db, close } = await openStore(path);
  let compared = 0;
  for (const period of PERIODS)
    for (const selected of [null, domains.slice(0, 1), domains]) {
      const span = periodEndingAt(Date.now(), period);
      const query = { ...span, domains: selected, livemode: true };
      const [summary, expected] = await db
        .transaction()
        .execute(async (tx) => [
          await summarize(tx, query, SEEDS),
          await recountedSummary(tx, query, issueTitle),
        ]);
      assert.deepEqual(summary, expected);
      compared++;
    }
  await close();
  return compared;
}
