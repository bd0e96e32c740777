/** The reporters of a domain that nobody has confirmed: what they say, which counts nowhere, and whether it agrees with others. */

import { sql } from 'kysely';
import { DAY_MS } from '../../lib/durations.ts';
import type { Db } from '../../store/open.ts';
import { presentReporter } from '../present.ts';
import { senderOf } from '../sources/tenants.ts';

const MAX_LISTED = 100;
/** Comparing reads every row of their reports. */
const MAX_COMPARED = 10;

const MIN_DAYS = 10;
const MIN_SPAN_DAYS = 14;
/** The share of messages from addresses that others report, and how far the share that passes may differ. */
const MIN_SHARED = 0.8;
const MAX_DIFFERENCE = 0.1;

/** Those whose reports arrived on the most days first: a sender can make up many reports in one day, but not days. */
export async function unconfirmedReporters(db: Db, domainId: string) {
  const ofType = (type: string, column: 'messages' | 'passed' | 'failed') =>
    sql<string>`sum(case when type = ${type} then ${sql.ref(`feedback_reports.${column}`)} else 0 end)`;
  const reports = db
    .selectFrom('feedback_reports')
    .where('domain_id', '=', domainId)
    .where('status', '=', 'unconfirmed')
    .where('reporter_id', 'is not', null);
  const { count } = await reports
    .select(({ fn }) => fn.count('reporter_id').distinct().as('count'))
    .executeTakeFirstOrThrow();
  const listed = await reports
    .select('reporter_id')
    .select([
      sql<string>`count(*)`.as('reports'),
      ofType('dmarc', 'messages').as('messages'),
      ofType('dmarc', 'passed').as('passed'),
      ofType('dmarc', 'failed').as('failed'),
      ofType('tls', 'messages').as('sessions'),
      ofType('complaint', 'messages').as('complaints'),
      sql<string>`max(received_at)`.as('last_at'),
      sql<string>`count(distinct substr(period_from, 1, 10))`.as('days'),
      // The sender writes the periods.
      sql<string>`count(distinct substr(received_at, 1, 10))`.as('arrival_days'),
      sql<string>`min(received_at)`.as('first_at'),
      sql<string | null>`min(period_from)`.as('first_day'),
      sql<string | null>`max(period_to)`.as('last_day'),
    ])
    .groupBy('reporter_id')
    .orderBy('arrival_days', 'desc')
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('reporter_id')
    .limit(MAX_LISTED)
    .execute();
  const stored = await db
    .selectFrom('feedback_reporters')
    .selectAll()
    .where('id', 'in', ['', ...listed.map(({ reporter_id }) => reporter_id!)])
    .execute();
  const byId = new Map(stored.map((row) => [row.id, row]));
  const candidates = listed.filter(isLong).slice(0, MAX_COMPARED);
  const agreeing = new Set<string>();
  for (const { reporter_id } of candidates)
    if (await agrees(db, domainId, reporter_id!)) agreeing.add(reporter_id!);
  return {
    object: 'unconfirmed_reporters' as const,
    domain_id: domainId,
    reporter_count: Number(count),
    reporters: listed.flatMap(({ reporter_id, ...sums }) => {
      const row = byId.get(reporter_id!);
      if (!row) return [];
      const { id, name, label, kind } = presentReporter(row);
      return [
        {
          id,
          name,
          label,
          kind,
          last_at: sums.last_at,
          agrees: agreeing.has(id),
          reports: Number(sums.reports),
          days: Number(sums.days),
          messages: Number(sums.messages),
          passed: Number(sums.passed),
          failed: Number(sums.failed),
          sessions: Number(sums.sessions),
          complaints: Number(sums.complaints),
        },
      ];
    }),
  };
}

const isLong = (sums: Record<string, string | null>): boolean =>
  Math.min(Number(sums.days), Number(sums.arrival_days)) >= MIN_DAYS &&
  [
    [sums.first_day, sums.last_day],
    [sums.first_at, sums.last_at],
  ].every(([first, last]) => Date.parse(last!) - Date.parse(first!) > (MIN_SPAN_DAYS - 1) * DAY_MS);

/** Most of its messages come from addresses that reports which count name, and pass as often as those of these addresses. */
async function agrees(db: Db, domainId: string, reporterId: string): Promise<boolean> {
  const row = await db
    .selectFrom('feedback_reports as report')
    .innerJoin('dmarc_rows as line', 'line.report_id', 'report.id')
    .leftJoin('feedback_addresses as known', (join) =>
      join
        .on('known.id', '=', sql`line.domain_id || ' ' || ${senderOf('line')}`)
        .on('known.messages', '>', 0),
    )
    .where('report.reporter_id', '=', reporterId)
    .where('report.status', '=', 'unconfirmed')
    .where('report.domain_id', '=', domainId)
    .select([
      sql<string | null>`sum(line.count)`.as('all'),
      sql<string | null>`sum(case when known.id is null then 0 else line.count end)`.as('shared'),
      sql<string | null>`sum(case when known.id is null or line.outcome <> 'pass' then 0
        else line.count end)`.as('passed'),
      sql<string | null>`sum(line.count * 1.0 * known.passed / known.messages)`.as('expected'),
    ])
    .executeTakeFirstOrThrow();
  const shared = Number(row.shared ?? 0);
  return (
    shared > 0 &&
    shared >= Number(row.all) * MIN_SHARED &&
    Math.abs(Number(row.passed) - Number(row.expected)) <= shared * MAX_DIFFERENCE
  );
}
