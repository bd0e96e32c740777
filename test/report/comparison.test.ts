/** Comparisons of two results: the lists, and points that add up. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { compareResults } from '../../src/report/comparison.ts';
import { assertExplained } from './explained-pairs.ts';
import { badReport, goodReport, newsletterReport, unscoredReport } from './reports.ts';

describe('Comparison of two results', () => {
  // All pairs: test/long/comparison.test.ts.
  it('explains differences in score between whole mails with points that add up', () =>
    assertExplained(5));

  it('is the same in reverse, with opposite signs', async () => {
    const [bad, good] = [await badReport(), await goodReport()];
    const there = compareResults(bad, good);
    const back = compareResults(good, bad);
    const ids = (checks: { id: string }[]) => checks.map(({ id }) => id).toSorted();
    assert.deepEqual(ids(there.improved), ids(back.worse));
    assert.deepEqual(ids(there.worse), ids(back.improved));
    assert.equal(there.difference, -back.difference!);
    assert.ok(there.improved.length > 3);
  });

  it('finds no difference between a result and itself', async () => {
    const good = await goodReport();
    const { difference, steps, improved, worse, other, same, caveats, authentication, providers } =
      compareResults(good, good);
    assert.deepEqual([difference, steps, improved, worse, other, caveats], [0, [], [], [], [], []]);
    assert.equal(same.length, good.checks.length);
    assert.deepEqual(
      new Set([...authentication, ...providers].map(({ change }) => change)),
      new Set(['same']),
    );
  });

  it('attributes the points of one fixed check to it, and names the cap that it lifts', async () => {
    const bad = await badReport();
    const comparison = compareResults(bad, await goodReport());
    assert.match(comparison.steps.map(({ text }) => text).join('\n'), /^Cap of \d+ lifted: /m);
    for (const { id } of comparison.improved) {
      const step = comparison.steps.find(({ check }) => check === id);
      // Informational checks have no points.
      if (step) assert.ok(step.points > 0, id);
    }
    const after = structuredClone(bad);
    const failing = after.checks.find(({ status, points }) => status === 'fail' && points > 0)!;
    const category = after.categories.find(({ name }) => name === failing.category)!;
    Object.assign(failing, { status: 'pass', earned: failing.points });
    category.earned += failing.points;
    const { improved, worse, steps } = compareResults(
      { ...bad, cap: null, score: wholeScoreOf(bad) },
      { ...after, cap: null, score: wholeScoreOf(after) },
    );
    assert.deepEqual([improved.map(({ id }) => id), worse], [[failing.id], []]);
    assert.equal(steps[0]!.check, failing.id);
  });

  it('names what makes results hard to compare', async () => {
    const [good, newsletter] = [await goodReport(), await newsletterReport()];
    const { caveats } = compareResults({ ...good, ruleset: '1' }, newsletter);
    assert.match(caveats[0]!, /scored as transactional mail, the second as marketing mail/);
    assert.match(caveats[1]!, /different versions of the rules \(1 and /);
    const other = { ...good, from_address: 'a@other.example' };
    assert.match(
      compareResults(good, other).caveats.join(),
      /different domains: .* and other\.example/,
    );
  });

  it('compares checks without a score, and says nothing about the points', async () => {
    const [good, unscored] = [await goodReport(), await unscoredReport()];
    const comparison = compareResults(good, unscored);
    assert.deepEqual([comparison.difference, comparison.steps], [null, []]);
    assert.ok(comparison.other.length > 0);
  });

  it('explains results of a ruleset that calculated differently without pretending', async () => {
    const good = await goodReport();
    const comparison = compareResults({ ...good, score: good.score! - 30 }, good);
    assert.deepEqual(comparison.steps, [
      { check: null, text: 'Older results were calculated differently', points: 30 },
    ]);
  });
});

/** The score without its cap, as the ledger of a report calculates it. */
function wholeScoreOf({ categories }: Pick<AnalysisResult, 'categories'>): number {
  const counted = categories.filter(({ points }) => points > 0);
  const weight = counted.reduce((sum, category) => sum + category.weight, 0);
  const sum = counted.reduce(
    (total, { earned, points, weight: w }) => total + (w * earned) / points,
    0,
  );
  return Math.floor((100 * sum) / weight + 1e-9);
}
