/** How many complaints and bounces have each value of a column: sums by day and by month, as reports count. */

import { sql } from 'kysely';
import type { Db, Tx } from '../../store/open.ts';
import { inSteps } from '../../store/steps.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { trustedReporters } from '../record/reporters.ts';
import { type Days, monthAfter, type Period, partsOf } from '../sums.ts';

const text = (column: string) => sql`coalesce(${sql.ref(column)}, '')`;

/** What is counted in each table. Of complaints, most is about those that report abuse. */
const SUBJECTS = {
  bounces: {
    'bounce class': { value: text('class'), where: sql`1 = 1` },
    'bounce provider': { value: text('provider'), where: sql`1 = 1` },
    'bounce server': { value: text('reporting_server'), where: sql`1 = 1` },
    'bounce status': { value: text('status_code'), where: sql`1 = 1` },
  },
  complaints: {
    'complaint kind': { value: text('kind'), where: sql`1 = 1` },
    'complaint provider': { value: text('provider'), where: sql`kind = 'abuse'` },
    // The sending address and the domain of the signature, which a space separates.
    'complaint sender': {
      value: sql`${text('address')} || ' ' || ${text('dkim_domain')}`,
      where: sql`kind = 'abuse'`,
    },
  },
};
type Subject = keyof (typeof SUBJECTS)['bounces'] | keyof (typeof SUBJECTS)['complaints'];

/**
 * Adds the stored complaints or bounces of a report, or takes them out again. Call it once, in the transaction that makes it
 * count, or that begins to remove it.
 */
export async function countMessages(
  tx: Tx,
  { id, type, domain_id }: Pick<FeedbackReportRow, 'id' | 'type' | 'domain_id'>,
  sign: 1 | -1 = 1,
): Promise<void> {
  if (type !== 'bounce' && type !== 'complaint') return;
  const table = type === 'bounce' ? 'bounces' : 'complaints';
  const values = Object.entries(SUBJECTS[table]).map(
    ([subject, { value, where }]) => sql`
      select domain_id, ${sql.lit(subject)} as subject, day, ${value} as value
      from ${sql.table(table)} where report_id = ${id} and ${where}`,
  );
  await sql`
    insert into feedback_message_sums (domain_id, subject, period, value, count)
    select domain_id, subject, substr(day, 1, size) as period, value, ${sql.lit(sign)} * count(*)
    from (${sql.join(values, sql` union all `)}) as counted
    cross join (select 10 as size union all select 7) as sizes
    where domain_id is not null
    group by domain_id, subject, substr(day, 1, size), value
    order by domain_id, subject, period, value
    on conflict (domain_id, subject, period, value)
      do update set count = feedback_message_sums.count + excluded.count`.execute(tx);
  if (sign < 0)
    await tx
      .deleteFrom('feedback_message_sums')
      .where('domain_id', '=', domain_id)
      .where('count', '<=', 0)
      .execute();
}

/**
 * Deletes the sums of days before `cutoff`, and of months that end before it. Sums of bounces have text that anyone can
 * send.
 */
export async function expireCounts(db: Db, cutoff: string): Promise<void> {
  const domains = await db.selectFrom('feedback_domains').select('id').execute();
  for (const { id } of domains)
    for (const subject of Object.values(SUBJECTS).flatMap((subjects) => Object.keys(subjects)))
      await inSteps(async (limit) => {
        const found = await sql<{ period: string; value: string }>`
          select period, value from feedback_message_sums
          where ${isOld(id, subject, cutoff)} order by period, value limit ${limit}`.execute(db);
        const last = found.rows.at(-1);
        if (last)
          await sql`delete from feedback_message_sums where ${isOld(id, subject, cutoff)}
            and (period, value) <= (${last.period}, ${last.value})`.execute(db);
        return found.rows.length;
      });
}

/** `2026-11` sorts before `2026-11-22`, but the month is not over. */
const isOld = (domain: string, subject: string, cutoff: string) => sql`domain_id = ${domain}
  and subject = ${subject} and period < ${cutoff} and period <> ${cutoff.slice(0, 7)}`;

/** How many have each value in a period. */
export async function messageCounts(
  db: Db | Tx,
  { domains, from, to }: Days & { domains: string[] },
  subject: Subject,
): Promise<{ value: string; count: number }[]> {
  const { months, days } = partsOf({ from, to });
  const periods = [
    ...days.map(daysIn),
    ...(months === null ? [] : [sql`period in (${sql.join(monthsOf(months))})`]),
  ];
  const parts = periods.map(
    (period) => sql`select value, count from feedback_message_sums
      where domain_id in (${sql.join(domains)}) and subject = ${subject} and ${period}`,
  );
  const { rows } = await sql<{ value: string; count: unknown }>`
    select value, sum(count) as count from (${sql.join(parts, sql` union all `)}) as counts
    group by value`.execute(db);
  return rows.map(({ value, count }) => ({ value, count: Number(count) }));
}

/** Messages rejected by policy, of bounces whose senders are known or confirmed: anyone can send others. */
export async function trustedRejections(db: Db, { domain, from, to }: Period): Promise<number> {
  const { count } = await db
    .selectFrom('feedback_reports as report')
    .innerJoin('bounces', 'bounces.report_id', 'report.id')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('report.reporter_id', 'in', trustedReporters(db))
    .where('report.status', '=', 'counted')
    .where('bounces.domain_id', '=', domain.id)
    .where('bounces.class', '=', 'policy')
    .where('bounces.day', '>=', from)
    .where('bounces.day', '<=', to)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** How many have each value on each day. */
export async function messageDays(
  db: Db,
  { domain, ...days }: Period,
  subject: Subject,
): Promise<{ day: string; value: string; count: number }[]> {
  const { rows } = await sql<{ day: string; value: string; count: unknown }>`
    select period as day, value, count from feedback_message_sums
    where domain_id = ${domain.id} and subject = ${subject} and ${daysIn(days)}
    order by period, value`.execute(db);
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** The length excludes months: `2026-11` sorts between `2026-10-31` and `2026-11-01`. */
const daysIn = ({ from, to }: Days) =>
  sql`period >= ${from} and period <= ${to} and length(period) = 10`;

function monthsOf({ from, to }: Days): string[] {
  const months: string[] = [];
  for (let month = from; month <= to; month = monthAfter(month)) months.push(month);
  return months;
}
