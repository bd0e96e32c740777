/**
 * Summarizes the tests of a period from their hourly tallies. Where a period or a slice begins or ends within
 * a UTC hour, the tests themselves are counted for the part of that hour.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { issueTitle } from '../analysis/declarations.ts';
import { daysBetween, feedbackFigures } from '../feedback/summary.ts';
import { INBOX_RATE } from '../figures/placement.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import {
  ALL_TESTS,
  FIGURE_COLUMNS,
  figuresOf as figuresOfTest,
  issuesOf,
  TALLY_COLUMNS,
  type TallyCounts,
} from '../mailtests/tally.ts';
import type { Summary } from '../report/summary.ts';
import { type Db, inSnapshot, isLimited, type Tx } from '../store/open.ts';
import { placementByProvider, type SeedOf, type SlicePlacements } from './placement.ts';
import { receiversOf } from './receivers.ts';

const MAX_TOP_ISSUES = 10;

export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

/** The slices of the trend of each period: their number and their length in hours. */
const SLICES: Record<Period, { slices: number; hours: number }> = {
  day: { slices: 24, hours: 1 },
  week: { slices: 7, hours: 24 },
  month: { slices: 30, hours: 24 },
};

/** Includes `from` and excludes `to`. In milliseconds since the Unix epoch. */
export interface SummarySpan {
  from: number;
  to: number;
  /** The beginning of the previous period, which ends at `from`. */
  previousFrom: number;
  /** The start of each trend slice, beginning with `from`, then `to`. */
  boundaries: number[];
}

/**
 * The period that ends now and lasts exactly 24 hours, 7 days, or 30 days. Its slices begin on whole hours,
 * except the first one, which is up to an hour longer.
 */
export function periodEndingAt(now: number, period: Period): SummarySpan {
  const { slices, hours } = SLICES[period];
  const length = slices * hours * HOUR_MS;
  // Nothing completes in the future, so the rest of the current hour is empty.
  const to = wholeHourAfter(now);
  const from = now - length;
  const [, ...later] = boundariesEvery(hours, to - length, to);
  return { from, to, previousFrom: from - length, boundaries: [from, ...later] };
}

const wholeHourAfter = (at: number): number => (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;

/** A boundary every `hours` hours starting at `from`, then `to`. */
function boundariesEvery(hours: number, from: number, to: number): number[] {
  const boundaries: number[] = [];
  for (let at = from; at < to; at += hours * HOUR_MS) boundaries.push(at);
  return [...boundaries, to];
}

/**
 * Scores are rounded to two decimals, rates to four. Both are 0 if there is nothing to count. All
 * figures of tests come from one snapshot of the database. `seeds` are the configured seed mailboxes, and `accounts`
 * the names of the configured accounts at receivers; null leaves out what receivers report and publish.
 */
export async function summarize(
  db: Db | Tx,
  asked: SummarySpan & Scope,
  seeds: readonly SeedOf[],
  accounts: readonly string[] | null = [],
): Promise<Summary> {
  const query = { ...asked, domains: asked.domains ?? (await limitedDomains(db)) };
  const { from, to, previousFrom, boundaries } = query;
  const [tallies, previous] = await inSnapshot(db, async (tx) => [
    await tallySlices(tx, query, boundaries),
    await tallySpan(tx, query, previousFrom, from),
  ]);
  const total = sumTallies(tallies.map(({ figures }) => figures));
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
    previous: { total_tests: previous.tests, ...meansOf(previous) },
    trend: tallies.map(({ figures }, i) => ({
      from: isoTime(boundaries[i]!),
      tests: figures.tests,
      ...meansOf(figures),
    })),
    placement: {
      seeds: seeds.length,
      by_provider: placementByProvider(
        tallies.map(({ placements }, i) => ({ from: isoTime(boundaries[i]!), placements })),
        seeds,
      ),
    },
    feedback: accounts && (await feedbackOf(db, query)),
    receivers: accounts && (await receiversOf(db, { ...query, accounts })),
  };
}

/** The domains of a caller who is limited to tags, and null for others: only they have sums of all tests. */
async function limitedDomains(db: Db | Tx): Promise<string[] | null> {
  if (!isLimited(db)) return null;
  return (await db.selectFrom('domains').select('id').execute()).map(({ id }) => id);
}

/** What receivers report in the days of the period. Test mode has no feedback. */
async function feedbackOf(
  db: Db | Tx,
  { from, to, livemode, domains }: SummarySpan & Scope,
): Promise<Summary['feedback']> {
  const days = livemode ? daysBetween(from, to) : null;
  return days && feedbackFigures(db, { ...days, domains });
}

/** Averages with the number of values behind them. */
function meansOf({ score_sum, scored, placement_inbox, placement_samples }: TallyCounts) {
  const avg_score = scored === 0 ? 0 : Math.round((score_sum * 100) / scored) / 100;
  return {
    scored,
    avg_score,
    [INBOX_RATE.name]: rate(placement_inbox, placement_samples),
    placement_samples,
  };
}

const rate = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part * 10_000) / whole) / 10_000;

function topIssues(counts: Map<string, number>): Summary['top_issues'] {
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([check, count]) => ({ check, issue: issueTitle(check), count }))
    .sort((a, b) => b.count - a.count || (a.check < b.check ? -1 : 1))
    .slice(0, MAX_TOP_ISSUES);
}

// Reads hourly tallies. The database adds them up, one slice at a time.

/** Which tests to include. */
export interface Scope {
  livemode: boolean;
  /** Domain ids; null for all tests, including those without a domain. */
  domains: string[] | null;
}

interface Tally {
  figures: TallyCounts;
  /** Stored JSON texts with their number of occurrences: many hours have identical texts. */
  issues: Map<string, number>;
  /** Likewise, the numbers of seed mailboxes by provider and placement. */
  placements: SlicePlacements;
}

/** With more domains, the queries yield to other work between slices. */
const MAX_DOMAINS_WITHOUT_YIELD = 5;
/** Parsing this many takes a few milliseconds. */
const JSON_BATCH_SIZE = 4000;

const isSmallScope = ({ domains }: Scope): boolean =>
  (domains?.length ?? 1) <= MAX_DOMAINS_WITHOUT_YIELD;

/** A tally for each slice between two boundaries. */
async function tallySlices(tx: Tx, scope: Scope, boundaries: number[]): Promise<Tally[]> {
  const tallies: Tally[] = [];
  // Issues are only counted for the whole period, so only its own boundaries need those of single tests.
  const outer = boundaries.length - 1;
  let start = await countBeforeHour(tx, scope, boundaries[0]!, { withIssues: true });
  for (const [i, from] of boundaries.slice(0, -1).entries()) {
    if (!isSmallScope(scope)) await nextTurn();
    const to = boundaries[i + 1]!;
    const hours = { from: hourFrom(from), to: hourFrom(to) };
    const row = await querySums(tx, scope, hours, TALLY_COLUMNS)
      // One text on each line: the stored JSON contains no line breaks.
      ?.select(({ fn, ref, val }) => [
        fn.agg<string | null>('string_agg', [ref('issues'), val('\n')]).as('issues'),
        fn
          // Null, and so ignored, for the hours without placement, which may be most.
          .agg<string | null>('string_agg', [
            fn<string>('nullif', [ref('placement_counts'), val('{}')]),
            val('\n'),
          ])
          .as('placements'),
      ])
      .executeTakeFirst();
    const issues = new Map(i === 0 ? start.issues : []);
    for (const text of row?.issues?.split('\n') ?? []) addTo(issues, text, 1);
    const placements = new Map(start.placements);
    for (const text of row?.placements?.split('\n') ?? []) addTo(placements, text, 1);
    const end = await countBeforeHour(tx, scope, to, { withIssues: i + 1 === outer });
    for (const [text, occurrences] of end.issues) addTo(issues, text, -occurrences);
    for (const [text, occurrences] of end.placements) addTo(placements, text, -occurrences);
    tallies.push({
      figures: withoutTally(sumTallies([start.figures, figuresOf(row)]), end),
      issues,
      placements,
    });
    start = end;
  }
  return tallies;
}

const addTo = (counts: Map<string, number>, key: string, count: number) =>
  counts.set(key, (counts.get(key) ?? 0) + count);

/** The columns from which averages are calculated. */
const MEAN_COLUMNS = [
  'tests',
  'scored',
  'score_sum',
  'placement_samples',
  'placement_inbox',
] as const satisfies (keyof TallyCounts)[];

/** Only `MEAN_COLUMNS` are sure to be filled. */
async function tallySpan(tx: Tx, scope: Scope, from: number, to: number): Promise<TallyCounts> {
  const [first, last] = [hourFrom(from), hourFrom(to)];
  const parts = [(await countBeforeHour(tx, scope, from)).figures];
  const step = isSmallScope(scope) ? Math.max(HOUR_MS, last - first) : DAY_MS;
  for (let begin = first; begin < last; begin += step) {
    if (!isSmallScope(scope)) await nextTurn();
    const hours = { from: begin, to: Math.min(begin + step, last) };
    parts.push(figuresOf(await querySums(tx, scope, hours, MEAN_COLUMNS)?.executeTakeFirst()));
  }
  return withoutTally(sumTallies(parts), await countBeforeHour(tx, scope, to));
}

/** The first whole UTC hour that does not begin before `at`. */
const hourFrom = (at: number): number => Math.ceil(at / HOUR_MS) * HOUR_MS;

/**
 * Counts the tests from `at` to before the next whole UTC hour, from the tests themselves. A span from `at` has
 * these in addition to its whole hours; one that ends at `at` does not have them, but its last hour does.
 */
async function countBeforeHour(
  tx: Tx,
  { livemode, domains }: Scope,
  at: number,
  { withIssues = false } = {},
): Promise<Tally> {
  const issues = new Map<string, number>();
  const placements: SlicePlacements = new Map();
  const hour = hourFrom(at);
  if (at === hour || domains?.length === 0) return { figures: sumTallies([]), issues, placements };
  let query = tx
    .selectFrom('tests')
    .select([...FIGURE_COLUMNS, 'placement_counts', 'id', 'status'])
    .where('status', '=', 'completed')
    .where('livemode', '=', livemode ? 1 : 0)
    .where('completed_at', '>=', isoTime(at))
    .where('completed_at', '<', isoTime(hour));
  if (domains) query = query.where('domain_id', 'in', domains);
  const rows = await query.execute();
  for (const { id, status } of withIssues ? rows : []) {
    const { checks } = await tx
      .selectFrom('tests')
      .select('checks')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const found = issuesOf({ status, checks });
    addTo(issues, JSON.stringify(Object.fromEntries(found.map((check) => [check, 1]))), 1);
    // Parsing a large result takes a millisecond.
    await nextTurn();
  }
  for (const { placement_counts } of rows)
    if (placement_counts !== null) addTo(placements, placement_counts, 1);
  return { figures: sumTallies(rows.map(figuresOfTest)), issues, placements };
}

/** The number of tests in which each check found something to fix, by check id. */
async function countIssues(tallies: Tally[]): Promise<Map<string, number>> {
  const texts = new Map<string, number>();
  for (const { issues } of tallies)
    for (const [text, occurrences] of issues) texts.set(text, (texts.get(text) ?? 0) + occurrences);
  const totals = new Map<string, number>();
  let parsedTexts = 0;
  for (const [text, occurrences] of texts) {
    const counts: Record<string, number> = JSON.parse(text);
    for (const check in counts)
      totals.set(check, (totals.get(check) ?? 0) + occurrences * counts[check]!);
    if (++parsedTexts % JSON_BATCH_SIZE === 0) await nextTurn();
  }
  return totals;
}

function sumTallies(parts: TallyCounts[]): TallyCounts {
  const total = figuresOf(undefined);
  for (const part of parts) for (const name of TALLY_COLUMNS) total[name] += part[name];
  return total;
}

function withoutTally(counts: TallyCounts, { figures }: Tally): TallyCounts {
  const rest = { ...counts };
  for (const name of TALLY_COLUMNS) rest[name] -= figures[name];
  return rest;
}

/** Returns null if `domains` is empty, because not every database accepts an empty list. */
function querySums(
  tx: Tx,
  { livemode, domains }: Scope,
  { from, to }: { from: number; to: number },
  columns: readonly (keyof TallyCounts)[],
) {
  if (domains?.length === 0) return null;
  return tx
    .selectFrom('test_tallies')
    .select(({ fn }) => columns.map((name) => fn.sum<number | string | null>(name).as(name)))
    .where('livemode', '=', livemode ? 1 : 0)
    .where('domain_id', 'in', domains ?? [ALL_TESTS])
    .where('hour', '>=', isoTime(from))
    .where('hour', '<', isoTime(to));
}

/** Empty sums are null, and some drivers return large sums as strings. */
const figuresOf = (row: Partial<Record<keyof TallyCounts, unknown>> | undefined): TallyCounts =>
  Object.fromEntries(TALLY_COLUMNS.map((name) => [name, Number(row?.[name] ?? 0)])) as TallyCounts;
