/** Where the days of a period are in a chart, in percent of its width. */

import { daysOfPeriod } from '../../feedback/sums.ts';

const BAR_SHARE = 0.7;

export interface DayAxis {
  /** The number of days. */
  length: number;
  /** The left edge and the width of the bar of a day. */
  barOf(day: string): { x: string; width: string };
}

/** `from` and `to` are days, both included. */
export function dayAxis({ from, to }: { from: string; to: string }): DayAxis {
  const length = daysOfPeriod({ from, to });
  const step = 100 / length;
  return {
    length,
    barOf(day) {
      const left = (daysOfPeriod({ from, to: day }) - 1 + (1 - BAR_SHARE) / 2) * step;
      return { x: `${left.toFixed(3)}%`, width: `${(step * BAR_SHARE).toFixed(3)}%` };
    },
  };
}
