/** The period of a page of feedback: the last days, or any two dates. */

import * as v from 'valibot';
import type { App } from '../../app.ts';
import { dayBefore, daysOfPeriod, lastDays, MAX_DAYS } from '../../feedback/sums.ts';
import { isDay } from '../../lib/clock.ts';
import { dayInWords } from '../../lib/format/times.ts';
import { Filters } from '../frame/filters.tsx';
import { Notice, Select, TextField } from '../frame/form.tsx';
import { pathWith } from '../frame/table.tsx';

export const PERIODS: [days: string, text: string][] = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['400', 'Last 400 days'],
];
export const DEFAULT_DAYS = '30';

/** In the query of a page. */
export const PERIOD_QUERY = {
  days: v.optional(v.string()),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
};

type PeriodQuery = { [Name in keyof typeof PERIOD_QUERY]?: string };

export interface ChosenPeriod {
  /** Days, both included. */
  from: string;
  to: string;
  /** As in the URL. Without what is not valid, because links are kept for a long time. */
  query: PeriodQuery;
  /** What is wrong with the dates that someone chose; null if nothing is. */
  problem: string | null;
}

/** Dates win over a number of days. */
export function chosenPeriod(app: Pick<App, 'clock'>, { days, from, to }: PeriodQuery) {
  const today = lastDays(app).to;
  const isLength = PERIODS.some(([value]) => value === days);
  let problem: string | null = null;
  if (isDay(from) || isDay(to)) {
    const last = isDay(to) ? to : today;
    const first = isDay(from) ? from : dayBefore(last, Number(DEFAULT_DAYS) - 1);
    const length = daysOfPeriod({ from: first, to: last });
    const query = { from: first, to: last };
    if (length >= 1 && length <= MAX_DAYS)
      return { ...query, query, problem: null } satisfies ChosenPeriod;
    problem =
      length < 1
        ? 'The first day must not be after the last day.'
        : `A period has at most ${MAX_DAYS} days.`;
  } else if (from || to) problem = 'Enter dates as YYYY-MM-DD, such as 2026-11-21.';
  const query: PeriodQuery = isLength ? { days } : {};
  return {
    from: dayBefore(today, Number(isLength ? days : DEFAULT_DAYS) - 1),
    to: today,
    query,
    problem,
  } satisfies ChosenPeriod;
}

/** Two forms, so that neither choice overrides the other. */
export function PeriodFilters({ path, period }: { path: string; period: ChosenPeriod }) {
  const { from, to, query, problem } = period;
  const hasDates = query.from !== undefined;
  return (
    <div class="period screen-only">
      <Filters path={path} active={false}>
        <Select
          name="days"
          label="Period"
          value={hasDates ? '' : (query.days ?? DEFAULT_DAYS)}
          options={[...(hasDates ? [['', 'Chosen dates'] as [string, string]] : []), ...PERIODS]}
        />
      </Filters>
      {problem && (
        <Notice tone="fail">{`${problem} Showing the last ${DEFAULT_DAYS} days instead.`}</Notice>
      )}
      <details open={hasDates || problem !== null}>
        <summary>Choose dates</summary>
        <form method="get" action={path} class="filters">
          <TextField name="from" label="First day (UTC)" type="date" value={from} />
          <TextField name="to" label="Last day (UTC)" type="date" value={to} />
          <button type="submit" class="button">
            Show
          </button>
        </form>
      </details>
    </div>
  );
}

/** A page in the chosen period. */
export const inPeriod = (path: string, { query }: Pick<ChosenPeriod, 'query'>): string =>
  pathWith(path, { ...query });

/** The days that the period of a report includes: one that ends at midnight does not include the next day. */
export function daysInWords({ from, to }: { from: string; to: string }): string {
  const first = from.slice(0, 10);
  const last = new Date(Math.max(Date.parse(from), Date.parse(to) - 1)).toISOString().slice(0, 10);
  return first === last ? dayInWords(first) : `${dayInWords(first)} to ${dayInWords(last)}`;
}
