/** For every check that can fail, one planted defect: it is found by that check, and by no other. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHECKS } from '../../src/analysis/checks/index.ts';
import type { AnalysisResult, CheckResult } from '../../src/analysis/result.ts';
import { COMPLIANCE, CONTENT } from './planted/message.ts';
import { AUTHENTICATION, INFRASTRUCTURE, REPUTATION } from './planted/sender.ts';
import { cleanWorld, judge } from './planted/world.ts';

const DEFECTS = [...AUTHENTICATION, ...REPUTATION, ...INFRASTRUCTURE, ...COMPLIANCE, ...CONTENT];
/** Their pair is in test/long/engines.test.ts: it takes the engines themselves. */
const ELSEWHERE = ['spamassassin', 'rspamd'];

const CLEAN = await judge(cleanWorld());
const statuses = ({ checks }: AnalysisResult) => new Map(checks.map((c) => [c.id, c.status]));

it('Planted defects: the clean message has no finding and scores 100', () => {
  const bad = CLEAN.checks.filter(({ status }) => ['warn', 'fail', 'error'].includes(status));
  assert.deepEqual(bad, []);
  assert.deepEqual([CLEAN.score, CLEAN.grade, CLEAN.coverage, CLEAN.cap], [100, 'A', 1, null]);
  const unasked = CLEAN.checks.filter(
    ({ id, status, points }) => status === 'skipped' && points > 0 && !ELSEWHERE.includes(id),
  );
  assert.deepEqual(unasked, []);
});

it('Planted defects cover every check that can fail', () => {
  const planted = new Set([...DEFECTS.map(({ check }) => check), ...ELSEWHERE]);
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
      const result = await judge(world);
      const found = result.checks.find(({ id }) => id === check)!;
      assert.equal(found.status, status, `${found.title} ${found.detail}`);
      assert.ok(found.fix !== null && found.gain > 0, `${check} gains ${found.gain}`);
      const changed = result.checks.filter((one) => one.status !== statuses(CLEAN).get(one.id));
      const others = changed.filter(
        (one) => one.id !== check && !isCure(one.id, check) && !follows(one, check),
      );
      assert.deepEqual(
        others.map(({ id, status: now, title }) => `${id} ${now}: ${title}`),
        [],
      );
      assert.ok(result.score! < 100);
    });
});

/** Whether its finding says that it follows from the planted defect, or from what would cure that. */
function follows({ status, detail }: CheckResult, check: string): boolean {
  const roots = /^follows from (.*)$/.exec(detail)?.[1]?.split(', ') ?? [];
  const known = (root: string) => root === check || isCure(root, check);
  return status === 'skipped' && roots.length > 0 && roots.every(known);
}

/** Whether the one declares that it goes away with the other. */
function isCure(one: string, other: string): boolean {
  const cures = (id: string) => CHECKS.find((check) => check.id === id)?.curedBy?.flat() ?? [];
  return cures(one).includes(other) || cures(other).includes(one);
}
