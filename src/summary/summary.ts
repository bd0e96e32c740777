/** Sums up the tests of a period, out of the hours by which they are counted. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { issueTitle } from '../analysis/declarations.ts';
import { isoTime } from '../lib/clock.ts';
import { ALL_TESTS, TALLIED, type Tallied } from '../mailtests/tally.ts';
import type { Summary } from '../report/summary.ts';
import type { Db, Tx } from '../store/open.ts';

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

// Reads what was counted in some hours: the database sums it, a slice at a time.

const DAY_MS = 24 * 3_600_000;

/** Which tests count. */
export interface Scope {
  livemode: boolean;
  /** Ids; null for all tests, those of no domain too. */
  domains: string[] | null;
}

interface Tally {
  figures: Tallied;
  /** Each as it is stored, and how often: those of a domain are much alike from hour to hour. */
  issues: Map<string, number>;
}

/** With more domains than this others have their turn between two slices. */
const FEW_DOMAINS = 5;
/** Some milliseconds for the parser of JSON. */
const TEXTS_AT_A_STRETCH = 4000;

const isFew = ({ domains }: Scope): boolean => (domains?.length ?? 1) <= FEW_DOMAINS;

/**
 * What `read` reads is the state of one moment: in a transaction of its own, unless it is given one.
 * SQLite has no other isolation; elsewhere it has to be asked for.
 */
async function inSnapshot<T>(db: Db | Tx, read: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db as Tx);
  return db.transaction().setIsolationLevel('repeatable read').execute(read);
}

/** A tally for each slice between two borders; hours of one day lie side by side in the database. */
async function tallySlices(tx: Tx, scope: Scope, borders: number[]): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (const [i, from] of borders.slice(0, -1).entries()) {
    if (!isFew(scope)) await nextTurn();
    const row = await querySums(tx, scope, { from, to: borders[i + 1]! }, TALLIED)
      // A line each: JSON has none inside.
      ?.select(({ fn, ref, val }) =>
        fn.agg<string | null>('string_agg', [ref('issues'), val('\n')]).as('issues'),
      )
      .executeTakeFirst();
    const issues = new Map<string, number>();
    for (const text of row?.issues?.split('\n') ?? [])
      issues.set(text, (issues.get(text) ?? 0) + 1);
    tallies.push({ figures: figuresOf(row), issues });
  }
  return tallies;
}

/** What the means of a span are made of. */
const COMPARED = [
  'tests',
  'scored',
  'score_sum',
  'placement_samples',
  'placement_inbox',
] as const satisfies (keyof Tallied)[];

/** Those alone that are compared; the others are 0. */
async function tallySpan(tx: Tx, scope: Scope, from: number, to: number): Promise<Tallied> {
  const parts: Tallied[] = [];
  const step = isFew(scope) ? to - from : DAY_MS;
  for (let begin = from; begin < to; begin += step) {
    if (!isFew(scope)) await nextTurn();
    const span = { from: begin, to: Math.min(begin + step, to) };
    parts.push(figuresOf(await querySums(tx, scope, span, COMPARED)?.executeTakeFirst()));
  }
  return addUp(parts);
}

/** How many tests each check found something to fix in, by its id. */
async function countIssues(tallies: Tally[]): Promise<Map<string, number>> {
  const texts = new Map<string, number>();
  for (const { issues } of tallies)
    for (const [text, times] of issues) texts.set(text, (texts.get(text) ?? 0) + times);
  const found = new Map<string, number>();
  let read = 0;
  for (const [text, times] of texts) {
    const counts: Record<string, number> = JSON.parse(text);
    for (const check in counts) found.set(check, (found.get(check) ?? 0) + times * counts[check]!);
    if (++read % TEXTS_AT_A_STRETCH === 0) await nextTurn();
  }
  return found;
}

function addUp(parts: Tallied[]): Tallied {
  const total = figuresOf(undefined);
  for (const part of parts) for (const name of TALLIED) total[name] += part[name];
  return total;
}

/** Nothing to ask where no domain is named: some databases have no empty lists. */
function querySums(
  tx: Tx,
  { livemode, domains }: Scope,
  { from, to }: { from: number; to: number },
  names: readonly (keyof Tallied)[],
) {
  if (domains?.length === 0) return null;
  return tx
    .selectFrom('test_tallies')
    .select(({ fn }) => names.map((name) => fn.sum<number | string | null>(name).as(name)))
    .where('livemode', '=', livemode ? 1 : 0)
    .where('domain_id', 'in', domains ?? [ALL_TESTS])
    .where('hour', '>=', isoTime(from))
    .where('hour', '<', isoTime(to));
}

/** Sums of nothing are null, and some drivers tell large ones as text. */
const figuresOf = (row: Partial<Record<keyof Tallied, unknown>> | undefined): Tallied =>
  Object.fromEntries(TALLIED.map((name) => [name, Number(row?.[name] ?? 0)])) as Tallied;
