/** The letter for a score. */

import type { Grade } from './result.ts';

export function gradeOf(score: number): Grade {
  if (score >= 90) return 'A';
  if (score >= 80) return 'B';
  if (score >= 70) return 'C';
  return score >= 55 ? 'D' : 'F';
}
