/** The limits of `--fail-below`: for the score, and for the score of a category. */

import { CATEGORIES, type Category } from '../../analysis/check.ts';
import type { AnalysisResult } from '../../analysis/result.ts';
import { categoryName } from '../../report/content.ts';
import { UsageError } from '../command.ts';

export interface Limits {
  score: number | null;
  categories: Map<Category, number>;
}

/** Reads `80` and `content=90`. Throws a UsageError. */
export function readLimits(texts: string[] = []): Limits {
  const limits: Limits = { score: null, categories: new Map() };
  for (const text of texts) {
    const [first, second] = text.split('=', 2) as [string, string?];
    if (second === undefined) limits.score = readNumber(first);
    else limits.categories.set(readCategory(first), readNumber(second));
  }
  return limits;
}

function readNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new UsageError('--fail-below must be a number from 0 to 100, or CATEGORY=NUMBER');
  return Number(text);
}

function readCategory(text: string): Category {
  const category = CATEGORIES.find((name) => name === text.replaceAll('-', '_'));
  if (category) return category;
  throw new UsageError(
    `--fail-below has no category "${text}". The categories are ${CATEGORIES.join(', ')}`,
  );
}

/** A score that is unknown is below every limit, because nobody knows that it is not. */
export function missedLimits(
  { score, categories }: Pick<AnalysisResult, 'score' | 'categories'>,
  limits: Limits,
): string[] {
  const missed: string[] = [];
  if (limits.score !== null && (score === null || score < limits.score))
    missed.push(sentence('The score', score, limits.score));
  for (const [name, limit] of limits.categories) {
    const found = categories.find((category) => category.name === name)?.score ?? null;
    if (found === null || found < limit)
      missed.push(sentence(`The score of ${categoryName(name).toLowerCase()}`, found, limit));
  }
  return missed;
}

const sentence = (what: string, score: number | null, limit: number): string =>
  score === null
    ? `${what} is unknown, so it does not reach the limit of ${limit}.`
    : `${what} is ${score}, below the limit of ${limit}.`;
