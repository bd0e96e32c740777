/** Calculates a summary with plain SQL from the tests themselves. */

import { type RawBuilder, sql } from 'kysely';
import { isoTime } from '../../src/lib/clock.ts';
import type { Summary } from '../../src/report/summary.ts';
import { type Db, engineOf, type Tx } from '../../src/store/open.ts';
import type { SeedOf } from '../../src/summary/placement.ts';
import type { Scope, SummarySpan } from '../../src/summary/summary.ts';

interface Totals {
  tests: number;
  avg: number;
  scored: number;
  inbox_rate: number;
  [column: string]: number;
}

/** The quotient of two sums, rounded half up to a multiple of 1 / scale in integer arithmetic. */
const rounded = (part: RawBuilder<unknown>, whole: RawBuilder<unknown>, scale: number) =>
  sql`coalesce(floor((2 * ${sql.raw(String(scale))} * (${part}) + (${whole})) / nullif(2 * (${whole}), 0)) / ${sql.raw(`${scale}.0`)}, 0)`;

/** Tests completed from `from` to before `to`. */
const completed = ({ livemode, domains }: Scope, from: number, to: number) => sql`
  t.status = 'completed' AND t.livemode = ${livemode ? 1 : 0}
  AND ${domains === null ? sql`1 = 1` : sql`t.domain_id IN (${sql.join(domains)})`}
  AND t.completed_at >= ${isoTime(from)} AND t.completed_at < ${isoTime(to)}`;

async function totals(db: Db | Tx, scope: Scope, from: number, to: number): Promise<Totals> {
  const count = (condition: string) => sql.raw(`count(*) FILTER (WHERE ${condition})`);
  const known = (name: string) => count(`${name} <> 'temperror'`);
  const share = (name: string) => rounded(count(`${name} = 'pass'`), known(name), 10_000);
  const grade = (name: string) => sql`count(*) FILTER (WHERE grade = ${name})`;
  const { rows } = await sql<Totals>`
    SELECT count(*) AS tests, ${rounded(sql`sum(score)`, sql`count(score)`, 100)} AS avg,
      count(score) AS scored,
      ${share('spf')} AS spf, ${share('dkim')} AS dkim, ${share('dmarc')} AS dmarc,
      coalesce(sum(placement_samples), 0) AS samples,
      ${rounded(sql`sum(placement_inbox)`, sql`sum(placement_samples)`, 10_000)} AS inbox_rate,
      ${known('spf')} AS spf_known, ${known('dkim')} AS dkim_known, ${known('dmarc')} AS dmarc_known,
      ${grade('A')} AS "A", ${grade('B')} AS "B", ${grade('C')} AS "C", ${grade('D')} AS "D",
      ${grade('F')} AS "F"
    FROM tests t WHERE ${completed(scope, from, to)}`.execute(db);
  return rows[0]!;
}

async function issuesIn(db: Db | Tx, scope: Scope, from: number, to: number) {
  const isSqlite = engineOf(db) === 'sqlite';
  const each = isSqlite ? sql`json_each(t.checks)` : sql`json_array_elements(t.checks::json)`;
  const { rows } = await sql<{ check: string; count: number }>`
    SELECT c.value ->> 'id' AS "check", count(*) AS count FROM tests t, ${each} c
    WHERE ${completed(scope, from, to)} AND c.value ->> 'status' IN ('fail', 'warn')
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`.execute(db);
  return rows;
}

const meansOf = ({ scored, avg, inbox_rate, samples }: Totals) => ({
  scored,
  avg_score: avg,
  inbox_rate,
  placement_samples: Number(samples),
});

type ByProvider = Summary['placement']['by_provider'];

/** Counts seed mailboxes from the tests themselves, once for the period and once for each slice. */
async function placementIn(
  db: Db | Tx,
  scope: SummarySpan & Scope,
  configured: readonly SeedOf[],
): Promise<{ seeds: number; by_provider: ByProvider }> {
  const { boundaries } = scope;
  const slices: Awaited<ReturnType<typeof seedsIn>>[] = [];
  for (const [i, from] of boundaries.slice(0, -1).entries())
    slices.push(await seedsIn(db, scope, from, boundaries[i + 1]!));
  const all = slices.flat();
  const rateOf = (provider: string, inbox: number, samples: number) =>
    samples < 3 || configured.filter((seed) => seed.provider === provider).length < 3
      ? null
      : Math.round((inbox / samples) * 10_000) / 10_000;
  const figuresOf = (seeds: typeof all, provider: string) => {
    const sum = (isCounted: (place: string) => boolean) =>
      seeds
        .filter((seed) => seed.provider === provider && isCounted(seed.place))
        .reduce((total, { count }) => total + count, 0);
    const samples = sum(() => true);
    const tabs = sum((place) => place === 'promotions');
    const inbox = sum((place) => place === 'inbox') + tabs;
    const [spam, missing] = [sum((place) => place === 'spam'), sum((place) => place === 'missing')];
    return { samples, inbox, tabs, spam, missing, inbox_rate: rateOf(provider, inbox, samples) };
  };
  const providers = [...new Set(all.map(({ provider }) => provider))].toSorted();
  const by_provider = providers.map((provider) => ({
    provider,
    ...figuresOf(all, provider),
    trend: slices.map((seeds, i) => {
      const { tabs: _, ...figures } = figuresOf(seeds, provider);
      return { from: isoTime(boundaries[i]!), ...figures };
    }),
  }));
  return { seeds: configured.length, by_provider };
}

async function seedsIn(db: Db | Tx, scope: Scope, from: number, to: number) {
  const { rows } = await sql<{ counts: string | null }>`
    SELECT placement_counts AS counts FROM tests t WHERE ${completed(scope, from, to)}`.execute(db);
  return rows.flatMap(({ counts }) =>
    Object.entries(JSON.parse(counts ?? '{}') as Record<string, number>).map(([key, count]) => {
      const [provider = '', place = ''] = key.split(' ');
      return { provider, place, count };
    }),
  );
}

/** Three seed mailboxes at Gmail and two at GMX. */
export const SEEDS: readonly SeedOf[] = ['gmail', 'gmail', 'gmail', 'gmx', 'gmx'].map(
  (provider) => ({ provider }),
);

/** `titleOf` returns the issue title of a check. */
export async function recountedSummary(
  db: Db | Tx,
  query: SummarySpan & Scope,
  titleOf: (check: string) => string,
  seeds = SEEDS,
): Promise<Summary> {
  const { from, to, previousFrom, boundaries } = query;
  const all = await totals(db, query, from, to);
  const previous = await totals(db, query, previousFrom, from);
  const trend: Summary['trend'] = [];
  for (const [i, begin] of boundaries.slice(0, -1).entries()) {
    const slice = await totals(db, query, begin, boundaries[i + 1]!);
    trend.push({ from: isoTime(begin), tests: slice.tests, ...meansOf(slice) });
  }
  const { spf, dkim, dmarc, spf_known, dkim_known, dmarc_known, A, B, C, D, F } = all;
  return {
    from: isoTime(from),
    to: isoTime(to),
    total_tests: all.tests,
    ...meansOf(all),
    grades: { A, B, C, D, F },
    auth_rates: { spf, dkim, dmarc },
    auth_samples: { spf: spf_known, dkim: dkim_known, dmarc: dmarc_known },
    top_issues: (await issuesIn(db, query, from, to)).map(({ check, count }) => ({
      check,
      issue: titleOf(check),
      count,
    })),
    previous: { total_tests: previous.tests, ...meansOf(previous) },
    trend,
    placement: await placementIn(db, query, seeds),
    feedback: null,
    receivers: null,
  } as Summary;
}
