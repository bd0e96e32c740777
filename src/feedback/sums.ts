/** Sums of feedback over a period: by day from the tallies, the rest from the reports. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import { feedbackOf } from '../domains/feedback/state.ts';
import { findDomain } from '../domains/queries.ts';
import { DMARC_COUNTS } from '../figures/dmarc.ts';
import { valuesOf } from '../figures/figure.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError, invalidParams } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { nextDay } from './queries.ts';
import { LIMITS } from './reading/limits.ts';
import { reporterTitle } from './record/reporters.ts';
import { refusedReports } from './refused.ts';
import type { SummaryQuery } from './schemas/period.ts';

const DEFAULT_DAYS = 30;
export const MAX_DAYS = 400;
const MAX_LISTED = 100;

export interface Period {
  domain: DomainRow;
  /** Days such as `2026-11-21`, both included. */
  from: string;
  to: string;
}

/** Throws `not_found` for an unknown domain, and `validation_failed` for a period of more than 400 days. */
export async function periodOf(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  query: SummaryQuery,
): Promise<Period> {
  const domain = await findDomain(db, query.domain_id);
  if (!domain) throw new AppError('not_found', 'No such domain.');
  return { domain, ...daysOf({ clock }, query, MAX_DAYS) };
}

/** The days of a query; by default, the last 30. Throws `validation_failed` for a period of more than `max` days. */
export function daysOf(
  { clock }: Pick<App, 'clock'>,
  query: { from?: string; to?: string },
  max: number,
): Days {
  const to = query.to ?? isoTime(clock.now()).slice(0, 10);
  const from = query.from ?? dayBefore(to, DEFAULT_DAYS - 1);
  const days = daysOfPeriod({ from, to });
  if (days < 1 || days > max)
    throw invalidParams([
      {
        param: 'from',
        code: 'invalid',
        message: days < 1 ? 'must not be after to' : `must be at most ${max} days before to`,
      },
    ]);
  return { from, to };
}

/** The number of days, with the first and the last. */
export const daysOfPeriod = ({ from, to }: Pick<Period, 'from' | 'to'>): number =>
  (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

/** The name of a file with figures of a period. Domain names have no characters that a file name must not have. */
export const exportName = (what: string, { domain, from, to }: Period): string =>
  `${what}-${domain.name}-${from}-${to}`;

/** The last 30 days, in UTC. */
export function lastDays({ clock }: Pick<App, 'clock'>): Pick<Period, 'from' | 'to'> {
  const to = isoTime(clock.now()).slice(0, 10);
  return { from: dayBefore(to, DEFAULT_DAYS - 1), to };
}

/** The day so many days earlier. */
export const dayBefore = (day: string, days: number): string =>
  isoTime(Date.parse(day) - days * DAY_MS).slice(0, 10);

/** Both included. */
export type Days = Pick<Period, 'from' | 'to'>;

/** The whole months of a period, such as `2026-11`, and the days before and after them. */
export interface PeriodParts {
  months: Days | null;
  days: Days[];
}

/** Sums by month stand for all days of a month, so those of a period are exact with these parts. */
export function partsOf({ from, to }: Days): PeriodParts {
  const first = from.endsWith('-01') ? from.slice(0, 7) : monthAfter(from);
  // The first day after the last whole month.
  const end = `${nextDay(to).slice(0, 7)}-01`;
  const last = dayBefore(end, 1).slice(0, 7);
  if (first > last) return { months: null, days: [{ from, to }] };
  return {
    months: { from: first, to: last },
    days: [
      ...(from < `${first}-01` ? [{ from, to: dayBefore(`${first}-01`, 1) }] : []),
      ...(end <= to ? [{ from: end, to }] : []),
    ],
  };
}

/** The month after a day or month: 31 days after its first day, a month is over. */
export const monthAfter = (period: string): string =>
  dayBefore(`${period.slice(0, 7)}-01`, -31).slice(0, 7);

/** What is counted for each day. */
export const TOTALS = DMARC_COUNTS.map(({ name }) => name);

/** The days with reports, oldest first. */
export const dmarcDays = (db: Db, { domain, from, to }: Period) =>
  db
    .selectFrom('dmarc_days')
    .selectAll()
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .execute();

export async function dmarcFeedback(app: App, { domain, from, to }: Period) {
  const { db } = app;
  const days = await dmarcDays(db, { domain, from, to });
  const totals = valuesOf(DMARC_COUNTS, 'name', ({ name }) =>
    days.reduce((sum, day) => sum + day[name], 0),
  );
  return {
    object: 'dmarc_feedback' as const,
    domain_id: domain.id,
    from,
    to,
    state: (await feedbackOf(app, db, domain)).state,
    totals,
    days: days.map(({ domain_id: _domain, day, ...sums }) => ({ date: day, ...sums })),
    reporter_count: await reporterCount(db, { domain, from, to }),
    reporters: await reportersOf(db, { domain, from, to }),
    policies_seen: await policiesSeen(db, { domain, from, to }),
    folded: await foldedOf(db, { domain, from, to }),
    refused: await refusedReports(app, domain.id),
  };
}

/** The reports about some domains in a period that count. */
export const countedReports = (
  db: Db | Tx,
  { domains, from, to }: Pick<Period, 'from' | 'to'> & { domains: string[] },
  type: string,
) =>
  db
    .selectFrom('feedback_reports')
    .where('domain_id', 'in', domains)
    .where('type', '=', type)
    // A period that ends at midnight does not include the next day.
    .where('period_to', '>', `${from}T00:00:00.000Z`)
    // For the index: no report that is accepted covers more.
    .where('period_to', '<', dayBefore(to, -LIMITS.days - 1))
    .where('period_from', '<', nextDay(to))
    .where('status', '=', 'counted');

const dmarcReports = (db: Db, { domain, from, to }: Period) =>
  countedReports(db, { domains: [domain.id], from, to }, 'dmarc');

async function reportersOf(db: Db, period: Period) {
  const rows = await dmarcReports(db, period)
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reporters.id', reporterTitle.as('name')])
    .select(({ fn }) => fn.countAll().as('reports'))
    .select(({ fn }) => fn.sum('feedback_reports.messages').as('messages'))
    .groupBy(['feedback_reporters.id', reporterTitle])
    .orderBy('messages', 'desc')
    .orderBy('feedback_reporters.id')
    .limit(MAX_LISTED)
    .execute();
  return rows.map((row) => ({
    ...row,
    reports: Number(row.reports),
    messages: Number(row.messages),
  }));
}

/** How many reporters sent reports that count. */
export async function reporterCount(
  db: Db,
  { domain, from, to }: Period,
  type: 'dmarc' | 'tls' = 'dmarc',
): Promise<number> {
  const { count } = await countedReports(db, { domains: [domain.id], from, to }, type)
    .select(({ fn }) => fn.count('reporter_id').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** More reports are not read for the policies: they rarely change. */
const MAX_POLICY_REPORTS = 500;

async function policiesSeen(db: Db, period: Period) {
  const rows = await dmarcReports(db, period)
    .select(['policy_domain', 'content', 'received_at'])
    .orderBy('period_to', 'desc')
    .limit(MAX_POLICY_REPORTS)
    .execute();
  const seen = new Map<string, PolicySeen>();
  for (const { policy_domain, content, received_at } of rows) {
    const { policy } = JSON.parse(content) as { policy?: PolicySeen };
    // Past its retention period, only the sums of a report are kept.
    if (!policy) continue;
    const { p, sp, np } = policy;
    const key = JSON.stringify([policy_domain, p, sp, np]);
    const known = seen.get(key);
    if (known) {
      known.reports += 1;
      if (received_at > known.last_at) known.last_at = received_at;
    } else seen.set(key, { policy_domain, p, sp, np, reports: 1, last_at: received_at });
  }
  return [...seen.values()].sort((a, b) => (a.last_at < b.last_at ? 1 : -1)).slice(0, MAX_LISTED);
}

/** How many rows and messages the reports of the period sum up. */
async function foldedOf(db: Db, period: Period) {
  const rows = await dmarcReports(db, period)
    .select('content')
    // In the words of a partial index.
    .where(
      sql<boolean>`content like '%"folded_messages":%' and content not like '%"folded_messages":0%'`,
    )
    .execute();
  const folded = { reports: 0, rows: 0, messages: 0 };
  for (const { content } of rows) {
    const { folded_rows, folded_messages } = JSON.parse(content) as Record<string, number>;
    folded.reports += 1;
    folded.rows += folded_rows!;
    folded.messages += folded_messages!;
  }
  return folded;
}

interface PolicySeen {
  policy_domain: string | null;
  p: string | null;
  sp: string | null;
  np: string | null;
  reports: number;
  last_at: string;
}
