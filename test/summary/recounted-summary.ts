/** Calculates a summary with plain SQL from the tests themselves. */

import { type RawBuilder, sql } from 'kysely';
import { isoTime } from '../../src/lib/clock.ts';
import type { Summary } from '../../src/report/summary.ts';
import { type Db, engineOf, type Tx } from '../../src/store/open.ts';
import type { Scope, SummarySpan } from '../../src/summary/summary.ts';

interface Totals {
  tests: number;
  avg: number;
  scored: number;
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

/** Without placement samples. */
const meansOf = ({ scored, avg }: Totals) => ({
  ...{ scored, avg_score: avg, inbox_rate: 0, placement_samples: 0 },
});

/** `titleOf` returns the issue title of a check. */
export async function recountedSummary(
  db: Db | Tx,
  query: SummarySpan & Scope,
  titleOf: (check: string) => string,
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
    ...{ from: isoTime(from), to: isoTime(to), total_tests: all.tests, ...meansOf(all) },
    grades: { A, B, C, D, F },
    auth_rates: { spf, dkim, dmarc },
    auth_samples: { spf: spf_known, dkim: dkim_known, dmarc: dmarc_known },
    top_issues: (await issuesIn(db, query, from, to)).map(({ check, count }) => ({
      ...{ check, issue: titleOf(check), count },
    })),
    previous: { total_tests: previous.tests, ...meansOf(previous) },
    trend,
  } as Summary;
}
