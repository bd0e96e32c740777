/** Comparisons of whole mails with each other. */

import assert from 'node:assert/strict';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { type Comparison, compareResults } from '../../src/report/comparison.ts';
import { analyzeMail, loadMail, mailNames } from '../helpers/mail-corpus.ts';

const sumOf = ({ steps }: Comparison): number =>
  // In tenths, which binary fractions cannot add up.
  steps.reduce((sum, { points }) => sum + Math.round(points * 10), 0) / 10;

/** Compares each mail with one in `part` of the others, and asserts that the points of the steps add up. */
export async function assertExplained(part: number): Promise<void> {
  const results: [string, AnalysisResult][] = [];
  for (const name of mailNames('json')) results.push([name, await analyzeMail(loadMail(name))]);
  const scored = results.filter(([, { score }]) => score !== null);
  let capped = 0;
  for (const [i, [first, before]] of scored.entries())
    for (const [j, [second, after]] of scored.entries()) {
      if ((i + j) % part !== 0) continue;
      const comparison = compareResults(before, after);
      const pair = `${first} → ${second}`;
      assert.equal(comparison.difference, after.score! - before.score!, pair);
      assert.equal(sumOf(comparison), comparison.difference, pair);
      const texts = comparison.steps.map(({ text }) => text);
      assert.ok(!texts.includes('Older results were calculated differently'), pair);
      if (texts.some((text) => text.includes('cap of') || text.includes('Cap of'))) capped += 1;
      const { improved, worse, other, same } = comparison;
      const ids = [...improved, ...worse, ...other, ...same].map(({ id }) => id);
      const all = new Set([...before.checks, ...after.checks].map(({ id }) => id));
      assert.deepEqual(ids.toSorted(), [...all].toSorted(), `${pair}: each check once`);
    }
  assert.ok(
    scored.length > 60 && capped > 100 / part,
    `${scored.length} mails, ${capped} with caps`,
  );
}
