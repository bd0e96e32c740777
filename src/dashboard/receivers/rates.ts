/** Rates that receivers publish, as text. */

import { formatCount } from '../../report/summary.ts';

/** With two decimals, because Google's limits are 0.1% and 0.3%. Rounded down, so that no limit seems reached early. */
export function formatSpamRate(rate: number): string {
  if (rate <= 0) return '0%';
  if (rate < 0.0001) return '<0.01%';
  return `${roundDown(rate * 100, 100)}%`;
}

/** With one decimal. Rounded down: 100% always means all. */
export const formatShare = (rate: number): string =>
  rate > 0 && rate < 0.001 ? '<0.1%' : `${roundDown(rate * 100, 10)}%`;

/** The small addition undoes the errors of floating-point numbers. */
const roundDown = (value: number, steps: number): number => Math.floor(value * steps + 1e-6) / steps;

/** The limits of Google for bulk senders: stay below the first, never reach the second. */
export const SPAM_RATE_GOAL = 0.001;
export const SPAM_RATE_LIMIT = 0.003;

export function spamRateState(rate: number): 'pass' | 'warn' | 'fail' {
  if (rate >= SPAM_RATE_LIMIT) return 'fail';
  return rate >= SPAM_RATE_GOAL ? 'warn' : 'pass';
}

/** How many days of a period have data. */
export const daysWithData = (days: number, of: number): string =>
  `${formatCount(days)} of ${formatCount(of, 'day')}`;
