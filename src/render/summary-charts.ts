/** The charts of a summary: how scores and numbers of tests went, slice by slice. */

import { wholeScore } from '../analysis/score.ts';
import { isoTime } from '../lib/clock.ts';
import type { Bucket, Chart } from './chart.ts';
import type { ScheduledReport, Summary } from './summary.ts';
import { countOf } from './summary-words.ts';
import { fullHourFrom, zoned } from './zoned-time.ts';

export interface TrendChart extends Chart {
  id: 'score' | 'tests';
  /** What a bar stands for. */
  by: 'hour' | 'day';
}

type Slice = Summary['trend'][number];

/** With the same buckets each; none where there are no slices, and none of scores where there is no score. */
export function trendCharts({ summary, timezone }: ScheduledReport): TrendChart[] {
  const { trend } = summary;
  if (trend.length === 0) return [];
  const by = sliceName(trend);
  const buckets = (read: (slice: Slice) => number | null): Bucket[] =>
    trend.map((slice) => ({
      ...namesOf(slice.from, timezone, by),
      value: read(slice),
      none: slice.tests === 0 ? 'no tests' : 'no score',
    }));
  const tests: TrendChart = {
    id: 'tests',
    by,
    title: `Tests by ${by}`,
    buckets: buckets((slice) => slice.tests),
    top: Math.max(1, ...trend.map((slice) => slice.tests)),
    format: (value) => countOf(Math.round(value)),
  };
  if (summary.scored === 0) return [tests];
  const score: TrendChart = {
    id: 'score',
    by,
    title: `Average score by ${by}`,
    buckets: buckets(({ scored, avg_score }) => (scored === 0 ? null : wholeScore(avg_score))),
    top: 100,
    format: String,
  };
  return [score, tests];
}

const HOURS_MS = 3 * 3_600_000;

function sliceName(trend: { from: string }[]): 'hour' | 'day' {
  const [first, second] = trend;
  const isHour = second && Date.parse(second.from) - Date.parse(first!.from) < HOURS_MS;
  return isHour ? 'hour' : 'day';
}

function namesOf(from: string, timezone: string, by: 'hour' | 'day') {
  if (by === 'hour') {
    const { weekday, clock } = zoned(from, timezone);
    return { label: clock, name: `${weekday} ${clock}` };
  }
  const { weekday, day, month } = dayOf(from, timezone);
  return { label: `${day} ${month}`, name: `${weekday} ${day} ${month}` };
}

const HALF_A_DAY_MS = 12 * 3_600_000;

/**
 * The day of the calendar that a slice mostly covers. It follows from the full hour at which it begins,
 * so that no change of the clocks names two slices alike.
 */
function dayOf(from: string, timezone: string) {
  const begin = fullHourFrom(from, timezone);
  const isLate = Number(begin.hour) > 12;
  return isLate ? fullHourFrom(isoTime(Date.parse(from) + HALF_A_DAY_MS), timezone) : begin;
}

/** Where the days of the chart are not those of the calendar, when they begin; null too where they do not all begin alike. */
export function daysBeginAt({ summary: { trend }, timezone }: ScheduledReport): string | null {
  if (trend.length === 0 || sliceName(trend) === 'hour') return null;
  const begins = new Set(
    trend.map(({ from }) => {
      const { clock, day } = zoned(from, timezone);
      return day === dayOf(from, timezone).day ? clock : `${clock} the day before`;
    }),
  );
  const [begin] = begins;
  return begins.size > 1 || begin === '00:00' ? null : `Each day begins at ${begin}.`;
}
