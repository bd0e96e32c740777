/** Sums up the tests of a period, out of the hours by which they are counted. */

import { issueTitle } from '../analysis/issue-titles.ts';
import { isoTime } from '../lib/clock.ts';
import { ALL_TESTS, TALLIED, type Tallied } from '../mailtests/tally.ts';
import type { Summary } from '../render/summary.ts';
import type { Db, Tx } from '../store/open.ts';

const HOUR_MS = 3_600_000;
const TOP_ISSUES = 10;

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

/** How many hours a period has, and into how many slices its trend is cut. */
const LENGTHS: Record<Period, { hours: number; slices: number }> = {
  day: { hours: 24, slices: 24 },
  week: { hours: 7 * 24, slices: 7 },
  month: { hours: 30 * 24, slices: 30 },
};

/** From … to before …, in milliseconds since 1970, both at the beginning of an hour of UTC. */
export interface Span {
  from: number;
  to: number;
  /** Into how many parts the trend is cut; where the hours do not divide, some have one more. */
  slices: number;
}

interface Summarized extends Span {
  livemode: boolean;
  /** Ids; null for all tests, those of no domain too. */
  domains: string[] | null;
}

/** The period that ends with the present hour; it is whole hours that are counted. */
export function periodEndingAt(now: number, period: Period): Span {
  const { hours, slices } = LENGTHS[period];
  const to = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  return { from: to - hours * HOUR_MS, to, slices };
}

/**
 * Scores are rounded to two digits after the point, rates to four; both are 0 where there is nothing
 * to count. One query reads it all, so that it is the state of one moment.
 */
export async function summarize(db: Db | Tx, asked: Summarized): Promise<Summary> {
  const { from, to } = asked;
  const begin = isoTime(from);
  const hours = await readHours(db, asked);
  const first = hours.findIndex(({ hour }) => hour >= begin);
  const present = first < 0 ? [] : hours.slice(first);
  const before = sum(first < 0 ? hours : hours.slice(0, first));
  const slices = sliced(present, asked).map((slice) => ({ ...slice, total: sum(slice.hours) }));
  const total = sum(slices.map((slice) => slice.total));
  return {
    from: begin,
    to: isoTime(to),
    total_tests: total.tests,
    ...meansOf(total),
    placement_samples: total.placement_samples,
    grades: {
      A: total.grade_a,
      B: total.grade_b,
      C: total.grade_c,
      D: total.grade_d,
      F: total.grade_f,
    },
    auth_rates: {
      spf: rate(total.spf_pass, total.spf_known),
      dkim: rate(total.dkim_pass, total.dkim_known),
      dmarc: rate(total.dmarc_pass, total.dmarc_known),
    },
    top_issues: topIssues(present.map(({ issues }) => issues)),
    previous: { total_tests: before.tests, ...meansOf(before) },
    trend: slices.map((slice) => ({
      from: slice.from,
      tests: slice.total.tests,
      ...meansOf(slice.total),
    })),
  };
}

type Hour = Tallied & { hour: string; issues: string };

/** The hours of the span and of the same time before, in order; of the latter without the issues. */
async function readHours(
  db: Db | Tx,
  { livemode, domains, from, to }: Summarized,
): Promise<Hour[]> {
  // None: some databases have no empty lists.
  if (domains?.length === 0) return [];
  return db
    .selectFrom('test_tallies')
    .select([...TALLIED, 'hour'])
    .select((eb) =>
      eb
        .case()
        .when('hour', '>=', isoTime(from))
        .then(eb.ref('issues'))
        .else('{}')
        .end()
        .as('issues'),
    )
    .where('livemode', '=', livemode ? 1 : 0)
    .where('domain_id', 'in', domains ?? [ALL_TESTS])
    .where('hour', '>=', isoTime(from - (to - from)))
    .where('hour', '<', isoTime(to))
    .orderBy('hour')
    .execute();
}

function sum(parts: Tallied[]): Tallied {
  const total = Object.fromEntries(TALLIED.map((name) => [name, 0])) as Tallied;
  for (const part of parts) for (const name of TALLIED) total[name] += part[name];
  return total;
}

/** The hours of each slice of the span, oldest first; a slice may have none. */
function sliced(hours: Hour[], { from, to, slices }: Span): { from: string; hours: Hour[] }[] {
  const length = (to - from) / HOUR_MS;
  const begins = Array.from({ length: slices + 1 }, (_, i) =>
    isoTime(from + Math.floor((length * i) / slices) * HOUR_MS),
  );
  let read = 0;
  return begins.slice(0, slices).map((begin, i) => {
    const first = read;
    while (read < hours.length && hours[read]!.hour < begins[i + 1]!) read++;
    return { from: begin, hours: hours.slice(first, read) };
  });
}

function meansOf({ score_sum, scored, placement_inbox, placement_samples }: Tallied) {
  const avg_score = scored === 0 ? 0 : Math.round((score_sum * 100) / scored) / 100;
  return { avg_score, inbox_rate: rate(placement_inbox, placement_samples) };
}

const rate = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 10_000;

function topIssues(counted: string[]): Summary['top_issues'] {
  const found = new Map<string, Summary['top_issues'][number]>();
  for (const issues of counted) {
    const ofHour: Record<string, number> = JSON.parse(issues);
    // Neither `Object.entries` nor two look-ups: a month may have tens of thousands.
    for (const check in ofHour) {
      const issue = found.get(check);
      if (issue) issue.count += ofHour[check]!;
      else found.set(check, { check, issue: issueTitle(check), count: ofHour[check]! });
    }
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || (a.check < b.check ? -1 : 1))
    .slice(0, TOP_ISSUES);
}
