/** The charts of a summary: how scores and numbers of tests went, slice by slice. */

import { wholeScore } from '../analysis/score.ts';
import type { Bucket, Chart } from './chart.ts';
import type { ScheduledReport } from './summary.ts';
import { countOf } from './summary-words.ts';
import { zoned } from './zoned-time.ts';

export interface TrendChart extends Chart {
  id: 'score' | 'tests';
}

/** With the same buckets each; none where there are no slices. */
export function trendCharts({ summary: { trend }, timezone }: ScheduledReport): TrendChart[] {
  if (trend.length === 0) return [];
  const by = sliceName(trend);
  const buckets = (read: (slice: (typeof trend)[number]) => number | null): Bucket[] =>
    trend.map((slice) => ({ ...namesOf(slice.from, timezone, by), value: read(slice) }));
  const most = Math.max(1, ...trend.map(({ tests }) => tests));
  return [
    {
      id: 'score',
      title: `Average score by ${by}`,
      buckets: buckets(({ tests, avg_score }) => (tests === 0 ? null : wholeScore(avg_score))),
      top: 100,
      format: String,
    },
    {
      id: 'tests',
      title: `Tests by ${by}`,
      buckets: buckets(({ tests }) => tests),
      top: most,
      format: (value) => countOf(Math.round(value)),
    },
  ];
}

const HOURS_MS = 3 * 3_600_000;

function sliceName(trend: { from: string }[]): 'hour' | 'day' {
  const [first, second] = trend;
  const isHour = second && Date.parse(second.from) - Date.parse(first!.from) < HOURS_MS;
  return isHour ? 'hour' : 'day';
}

function namesOf(from: string, timezone: string, by: 'hour' | 'day'): Omit<Bucket, 'value'> {
  const { weekday, day, month, clock } = zoned(from, timezone);
  if (by === 'hour') return { label: clock, name: `${weekday} ${clock}` };
  return { label: `${day} ${month}`, name: `${weekday} ${day} ${month}` };
}

/** Where a day of the chart is not a day of the calendar, when it begins; null otherwise. */
export function daysBeginAt({ summary: { trend }, timezone }: ScheduledReport): string | null {
  const last = trend.at(-1);
  if (!last || sliceName(trend) === 'hour') return null;
  const { clock } = zoned(last.from, timezone);
  return clock === '00:00' ? null : `Each day begins at ${clock}.`;
}
