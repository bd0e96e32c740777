/** How the score comes about, in figures that add up as they are shown. */

import type { Category } from '../analysis/check.ts';
import type { CategoryScore } from '../analysis/result.ts';
import type { Reported } from './report.ts';

export interface LedgerRow {
  name: Category;
  earned: number;
  points: number;
  weight: number;
  /** 0–1; null where no check of the category ran. */
  share: number | null;
  /** Points of the score, in tenths; null as for `share`. */
  adds: number | null;
}

export interface Ledger {
  rows: LedgerRow[];
  /** Sum of the weights of the categories that ran. */
  weight: number;
  /** Sum of `adds`, before the cap; null where nothing ran. */
  sum: number | null;
}

/**
 * What each category adds, rounded so that the rounded figures have the rounded sum. Everything is
 * rounded down, as the score is: what is shown never claims more than was earned.
 */
export function ledgerOf({ categories }: Pick<Reported, 'categories'>): Ledger {
  const weight = categories.reduce((sum, each) => sum + (each.points > 0 ? each.weight : 0), 0);
  const exact = categories.map((each) => addsExactly(each, weight));
  const total = exact.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const tenths = roundTogether(
    exact.map((value) => value ?? 0),
    total,
  );
  const rows = categories.map((each, index) => ({
    name: each.name,
    earned: each.earned,
    points: each.points,
    weight: each.weight,
    share: each.points > 0 ? each.earned / each.points : null,
    adds: exact[index] === null ? null : tenths[index]! / 10,
  }));
  return { rows, weight, sum: weight === 0 ? null : floorTenths(total) / 10 };
}

function addsExactly({ earned, points, weight }: CategoryScore, all: number): number | null {
  return points > 0 ? (100 * weight * earned) / points / all : null;
}

// As `wholeScore` does: a sum of fractions may fall short of what it is by less than this.
const floorTenths = (value: number): number => Math.floor(value * 10 + 1e-8);

/** Tenths that sum to the total's: those cut the most get back what is left. */
function roundTogether(values: number[], total: number): number[] {
  const tenths = values.map(floorTenths);
  let left = floorTenths(total) - tenths.reduce((sum, value) => sum + value, 0);
  const byLoss = values
    .map((value, index) => ({ index, loss: value * 10 - tenths[index]! }))
    .sort((a, b) => b.loss - a.loss);
  for (const { index } of byLoss) {
    if (left <= 0) break;
    tenths[index]! += 1;
    left -= 1;
  }
  return tenths;
}
