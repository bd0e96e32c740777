/** Plants one defect for every check that can fail: that check finds it, and no other does. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import { type AnalysisResult, factsOf } from '../../src/analysis/result.ts';
import { COMPLIANCE, CONTENT } from './planted/message.ts';
import { AUTHENTICATION, INFRASTRUCTURE, REPUTATION } from './planted/sender.ts';
import { analyzeWorld, cleanWorld } from './planted/world.ts';

const DEFECTS = [...AUTHENTICATION, ...REPUTATION, ...INFRASTRUCTURE, ...COMPLIANCE, ...CONTENT];
/** Tested in test/long/engines.test.ts, because they need the spam filters themselves. */
const NEED_SPAM_FILTER = ['spamassassin', 'rspamd'];

/** It only informs if DKIM is aligned, and several checks fail if DKIM is not aligned either. */
const NEVER_ALONE = ['spf_alignment'];

const CLEAN = await analyzeWorld(cleanWorld());
const statuses = ({ checks }: AnalysisResult) => new Map(checks.map((c) => [c.id, c.status]));

it('Planted defects: the clean message has no finding and scores 100', () => {
  const bad = CLEAN.checks.filter(({ status }) => ['warn', 'fail', 'error'].includes(status));
  assert.deepEqual(bad, []);
  assert.deepEqual([CLEAN.score, CLEAN.grade, CLEAN.coverage, CLEAN.cap], [100, 'A', 1, null]);
  const skipped = CLEAN.checks.filter(
    ({ id, status, points }) =>
      status === 'skipped' && points > 0 && !NEED_SPAM_FILTER.includes(id),
  );
  assert.deepEqual(skipped, []);
});

it('Planted defects cover every check that can fail', () => {
  const planted = new Set([
    ...DEFECTS.map(({ check }) => check),
    ...NEED_SPAM_FILTER,
    ...NEVER_ALONE,
  ]);
  const without = CHECKS.filter(({ id, points }) => points > 0 && !planted.has(id));
  assert.deepEqual(
    without.map(({ id }) => id),
    [],
  );
});

describe('Planted defect is found by its check only', () => {
  for (const { check, name, status = 'fail', plant } of DEFECTS)
    it(`${check}: ${name}`, async () => {
      const world = cleanWorld();
      plant(world);
      const result = await analyzeWorld(world);
      const found = result.checks.find(({ id }) => id === check)!;
      assert.equal(found.status, status, `${found.title} ${found.detail}`);
      assert.ok(found.fix !== null && found.gain > 0, `${check} gains ${found.gain}`);
      const changed = result.checks.filter((one) => one.status !== statuses(CLEAN).get(one.id));
      const others = changed.filter(
        (one) =>
          one.id !== check && !isFixedWith(one.id, check) && !dependsOn(result, one.id, check),
      );
      assert.deepEqual(
        others.map(({ id, status: now, title }) => `${id} ${now}: ${title}`),
        [],
      );
      assert.ok(result.score! < 100);
    });
});

/** Whether a check was skipped because of the planted defect, or of a check that is fixed with it. */
function dependsOn({ checks }: AnalysisResult, id: string, check: string): boolean {
  const causes = factsOf(checks).get(id)!.failedCauses;
  return causes.length > 0 && causes.every((cause) => cause === check || isFixedWith(cause, check));
}

/** Whether one check declares that fixing the other fixes it too. */
function isFixedWith(one: string, other: string): boolean {
  const fixes = (id: string) => CHECKS.find((check) => check.id === id)?.fixedBy?.flat() ?? [];
  return fixes(one).includes(other) || fixes(other).includes(one);
}
