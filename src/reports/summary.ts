/** Sums up the tests of a period, out of the hours by which they are counted. */

import { issueTitle } from '../analysis/issue-titles.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tallied } from '../mailtests/tally.ts';
import type { Summary } from '../render/summary.ts';
import type { Db, Tx } from '../store/open.ts';
import {
  addUp,
  countIssues,
  inSnapshot,
  type Scope,
  tallySlices,
  tallySpan,
} from './summary-tallies.ts';

const HOUR_MS = 3_600_000;
const TOP_ISSUES = 10;

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

/** Into how many slices of how many hours the trend of a period is cut. */
const SLICES: Record<Period, { slices: number; hours: number }> = {
  day: { slices: 24, hours: 1 },
  week: { slices: 7, hours: 24 },
  month: { slices: 30, hours: 24 },
};

/** From … to before …, in milliseconds since 1970; all are the beginning of an hour of UTC. */
export interface Span {
  from: number;
  to: number;
  /** Where the period before begins, which ends where this one begins. */
  before: number;
  /** Where the slices of the trend begin, the first at `from`; then `to`. */
  borders: number[];
}

/** The period that ends with the present hour; it is whole hours that are counted. */
export function periodEndingAt(now: number, period: Period): Span {
  const { slices, hours } = SLICES[period];
  const to = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  const from = to - slices * hours * HOUR_MS;
  return { from, to, before: from - (to - from), borders: bordersEvery(hours, from, to) };
}

/** A border each so many hours. */
export function bordersEvery(hours: number, from: number, to: number): number[] {
  const borders: number[] = [];
  for (let at = from; at < to; at += hours * HOUR_MS) borders.push(at);
  return [...borders, to];
}

/**
 * Scores are rounded to two digits after the point, rates to four; both are 0 where there is nothing
 * to count. It is the state of one moment, of both periods.
 */
export async function summarize(db: Db | Tx, asked: Span & Scope): Promise<Summary> {
  const { from, to, before, borders } = asked;
  const [tallies, former] = await inSnapshot(db, async (tx) => [
    await tallySlices(tx, asked, borders),
    await tallySpan(tx, asked, before, from),
  ]);
  const total = addUp(tallies.map(({ figures }) => figures));
  const { spf_known, dkim_known, dmarc_known } = total;
  return {
    from: isoTime(from),
    to: isoTime(to),
    total_tests: total.tests,
    ...meansOf(total),
    grades: {
      A: total.grade_a,
      B: total.grade_b,
      C: total.grade_c,
      D: total.grade_d,
      F: total.grade_f,
    },
    auth_rates: {
      spf: rate(total.spf_pass, spf_known),
      dkim: rate(total.dkim_pass, dkim_known),
      dmarc: rate(total.dmarc_pass, dmarc_known),
    },
    auth_samples: { spf: spf_known, dkim: dkim_known, dmarc: dmarc_known },
    top_issues: topIssues(await countIssues(tallies)),
    previous: { total_tests: former.tests, ...meansOf(former) },
    trend: tallies.map(({ figures }, i) => ({
      from: isoTime(borders[i]!),
      tests: figures.tests,
      ...meansOf(figures),
    })),
  };
}

/** With what they rest on. */
function meansOf({ score_sum, scored, placement_inbox, placement_samples }: Tallied) {
  const avg_score = scored === 0 ? 0 : Math.round((score_sum * 100) / scored) / 100;
  const inbox_rate = rate(placement_inbox, placement_samples);
  return { scored, avg_score, inbox_rate, placement_samples };
}

const rate = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 10_000;

function topIssues(counted: Map<string, number>): Summary['top_issues'] {
  return [...counted]
    .map(([check, count]) => ({ check, issue: issueTitle(check), count }))
    .sort((a, b) => b.count - a.count || (a.check < b.check ? -1 : 1))
    .slice(0, TOP_ISSUES);
}
