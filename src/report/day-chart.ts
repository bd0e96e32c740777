/** A chart of the days of a period in UTC: a bar for each, a gap for each without data, and dates that people know. */

import { DAY_MS } from '../lib/durations.ts';
import { dayFormat } from '../lib/format/times.ts';
import { type Bucket, type Chart, type Mark, pinsOf, roundUp } from './charts.ts';

/** What happened on a day, for the marks of a chart. */
export interface DayEvent {
  at: string;
  text: string;
  isProblem: boolean;
  href: string | null;
}

type DayValue = Pick<Bucket, 'parts' | 'state' | 'text'> & { value: number };

interface DayChartInput<Day> extends Pick<Chart, 'format' | 'formatScale' | 'series' | 'limits'> {
  title: string;
  days: Day[];
  from: string;
  to: string;
  read(day: Day): DayValue;
  /** What a day without data says: `no reports`. */
  emptyText: string;
  /** The end of the scale; by default, a round number above the highest value. */
  max?: number;
  min?: number;
  isShare?: boolean;
  /** The current day in UTC, which is not over. */
  today: string;
  locale: string;
  /** Whether the browser may know a better one. */
  isLocal?: boolean;
  events?: DayEvent[];
}

export function dayChart<Day extends { date: string }>(input: DayChartInput<Day>): Chart {
  const { title, days, from, to, read, emptyText, today, locale, events = [], ...scale } = input;
  const first = Date.parse(from);
  const indexOf = (at: string) => Math.floor((Date.parse(at) - first) / DAY_MS);
  const count = indexOf(to) + 1;
  const known = new Map(days.map((day) => [day.date, day]));
  const [short, long] = [dayFormat(locale, false), dayFormat(locale, true)];
  const spansYears = from.slice(0, 4) !== to.slice(0, 4);
  const dates = Array.from({ length: count }, (_, index) => new Date(first + index * DAY_MS));
  const buckets = dates.map((date, index): Bucket => {
    const iso = date.toISOString().slice(0, 10);
    const day = known.get(iso);
    const isEnd = index === 0 || index === count - 1;
    return {
      label: (isEnd && spansYears ? long : short).format(date),
      name: long.format(date),
      day: iso,
      emptyText,
      ...(day ? read(day) : { value: null }),
      isPartial: iso === today,
    };
  });
  const marks = events
    .map(({ at, ...event }): Mark => {
      const day = at.slice(0, 10);
      return { ...event, index: indexOf(at), day, when: long.format(new Date(day)) };
    })
    .filter(({ index }) => index >= 0 && index < count)
    .sort((a, b) => a.index - b.index);
  const peak = Math.max(0, ...buckets.map(({ value }) => value ?? 0));
  return {
    ...scale,
    title,
    buckets,
    max: input.max ?? (peak === 0 ? 1 : roundUp(peak)),
    ticks: ticksOf(dates),
    pins: pinsOf(marks, count),
  };
}

/** Longer periods have the first days of months, shorter ones Mondays. */
const MAX_WEEKS_DAYS = 62;

function ticksOf(dates: Date[]): number[] {
  const isTick =
    dates.length > MAX_WEEKS_DAYS
      ? (date: Date) => date.getUTCDate() === 1
      : (date: Date) => date.getUTCDay() === 1;
  return dates.flatMap((date, index) => (isTick(date) ? [index] : []));
}
