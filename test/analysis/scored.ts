/** Checks as the score sees them, for its tests. */

import type { Category, CheckStatus } from '../../src/analysis/check.ts';
import { type Scored, scoreOf } from '../../src/analysis/score.ts';

export const scored = (
  id: string,
  status: CheckStatus,
  points = 10,
  category: Category = 'authentication',
  more: Partial<Scored> = {},
): Scored => ({
  id,
  status,
  points,
  category,
  followsFrom: [],
  freed: 'pass',
  curedBy: [],
  ...more,
});

export const exactOf = (checks: Scored[]): number => scoreOf(checks).exact!;
