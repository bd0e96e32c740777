/** What each reporter says about a domain in a period, from its reports. */

import { type RawBuilder, sql } from 'kysely';
import { STOPPED, type StoppedCounts } from '../figures/dmarc.ts';
import { valuesOf } from '../figures/figure.ts';
import { type Db, engineOf } from '../store/open.ts';
import { reporterTitle } from './record/reporters.ts';
import { EMPTY_CONTENT } from './status.ts';
import { countedReports, type Period } from './sums.ts';

const MAX_LISTED = 100;

/** The reports that count and touch the period, by reporter; those with the most messages or sessions first. */
async function sumsByReporter(db: Db, { domain, from, to }: Period, type: 'dmarc' | 'tls') {
  const rows = await countedReports(db, { domains: [domain.id], from, to }, type)
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reporters.id', reporterTitle.as('name')])
    .select(({ fn }) => [
      fn.countAll().as('reports'),
      fn.sum('feedback_reports.messages').as('messages'),
      fn.sum('feedback_reports.passed').as('passed'),
      fn.sum('feedback_reports.failed').as('failed'),
      fn.max('feedback_reports.received_at').as('last'),
    ])
    .groupBy(['feedback_reporters.id', reporterTitle])
    .orderBy(sql`sum(feedback_reports.messages)`, 'desc')
    .orderBy('feedback_reporters.id')
    .limit(MAX_LISTED)
    .execute();
  return rows.map(({ id, name, reports, messages, passed, failed, last }) => ({
    id,
    name,
    reports: Number(reports),
    messages: Number(messages),
    passed: Number(passed),
    failed: Number(failed),
    last_at: last,
  }));
}

/** The sessions that each reporter counts. */
export async function tlsReporters(db: Db, period: Period) {
  const rows = await sumsByReporter(db, period, 'tls');
  return rows.map(({ id, name, reports, passed, failed, last_at }) => ({
    id,
    name,
    reports,
    succeeded: passed,
    failed,
    last_at,
  }));
}

/** With what each receiver did because of the policy: null where the days of a report have expired. */
export async function dmarcReporters(db: Db, period: Period) {
  const { domain, from, to } = period;
  const [rows, applied] = await Promise.all([
    sumsByReporter(db, period, 'dmarc'),
    appliedPolicies(db, period),
  ]);
  return {
    object: 'dmarc_reporters' as const,
    domain_id: domain.id,
    from,
    to,
    reporters: rows.map((row) => {
      const counts = applied.get(row.id);
      return { ...row, ...valuesOf(STOPPED, 'name', ({ name }) => counts?.[name] ?? null) };
    }),
  };
}

async function appliedPolicies(db: Db, { domain, from, to }: Period) {
  const isSqlite = engineOf(db) === 'sqlite';
  const days = isSqlite
    ? sql`json_each(content, '$.dmarc_days')`
    : sql`json_array_elements(cast(content as json) -> 'dmarc_days') as day(value)`;
  const sumOf = (name: string): RawBuilder<string> =>
    isSqlite
      ? sql`sum(json_extract(value, ${sql.lit(`$.${name}`)}))`
      : sql`sum(cast(value ->> ${sql.lit(name)} as bigint))`;
  const rows = await countedReports(db, { domains: [domain.id], from, to }, 'dmarc')
    .select('reporter_id')
    .select([
      ...STOPPED.map(({ name }) =>
        sql<string | null>`sum((select ${sumOf(name)} from ${days}))`.as(name),
      ),
      sql<string>`sum(case when content = ${EMPTY_CONTENT} then 1 else 0 end)`.as('expired'),
    ])
    .groupBy('reporter_id')
    .execute();
  return new Map(
    rows.flatMap(({ reporter_id, expired, ...counts }): [string, StoppedCounts][] =>
      Number(expired) > 0 || STOPPED.some(({ name }) => counts[name] === null)
        ? []
        : [[reporter_id!, valuesOf(STOPPED, 'name', ({ name }) => Number(counts[name]))]],
    ),
  );
}

/** How many reporters count messages of each domain, by ID. */
export async function reporterCounts(
  db: Db,
  { ids, from, to }: { ids: string[]; from: string; to: string },
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await countedReports(db, { domains: ids, from, to }, 'dmarc')
    .select('domain_id')
    .select(({ fn }) => fn.count('reporter_id').distinct().as('count'))
    .groupBy('domain_id')
    .execute();
  return new Map(rows.map(({ domain_id, count }) => [domain_id!, Number(count)]));
}
