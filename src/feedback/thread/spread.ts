/** Spreads a count over the days of a period. */

import { DAY_MS } from '../../lib/durations.ts';

/**
 * The days in UTC that the period touches, with whole counts by length; the last day gets the remainder. `begin` and `end` in
 * milliseconds; most reports end a second before midnight, and some at midnight.
 */
export function spread(count: number, begin: number, end: number): [day: string, count: number][] {
  const first = Math.floor(begin / DAY_MS);
  const last = Math.max(first, Math.ceil(end / DAY_MS) - 1);
  const length = Math.max(end - begin, 1);
  const parts: [string, number][] = [];
  let left = count;
  for (let day = first; day <= last; day++) {
    const covered = Math.min(end, (day + 1) * DAY_MS) - Math.max(begin, day * DAY_MS);
    const part = day === last ? left : Math.floor((count * covered) / length);
    left -= part;
    parts.push([new Date(day * DAY_MS).toISOString().slice(0, 10), part]);
  }
  return parts;
}
