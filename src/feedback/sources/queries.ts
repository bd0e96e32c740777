/** Queries of sources: their sums over a period, and what one of them consists of. */

import { sql } from 'kysely';
import type { StoppedCounts } from '../../figures/dmarc.ts';
import { AppError } from '../../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import { explainOverride, type OverrideReason } from '../override-reasons.ts';
import { reporterTitle } from '../record/reporters.ts';
import { REMOVED } from '../status.ts';
import { type Days, dayBefore, type Period } from '../sums.ts';
import type { MessageCounts } from './advice.ts';
import { SUM_COLUMNS, type SumColumn, sumsIn } from './days.ts';
import { basisOf, kindOf, type SourceKind, type SourceTotals, subjectOf } from './kind.ts';
import type { SourceOverride } from './schema.ts';
import { isSentBy, senderOf } from './tenants.ts';

/** The sums of a source over a period. */
export interface SourceSums extends SourceTotals, StoppedCounts {
  row: FeedbackSourceRow;
  kind: SourceKind;
}

/** With how many addresses it has. Days are of all time. */
export interface SummedSource extends SourceSums {
  addresses: number;
  firstDay: string;
  lastDay: string;
}

type DaysOfDomain = Days & { domain: Pick<DomainRow, 'id'> };

/** More IDs than this are not named one by one in a query. */
const MAX_NAMED = 500;

interface SourceChoice {
  ids?: string[];
  /** Only those with messages that did not pass. */
  withFailures?: boolean;
}

/** All sources with messages in the period, or those of them that are chosen; those with the most messages first. */
export async function sourcesOf(
  db: Db,
  period: DaysOfDomain,
  { ids, withFailures = false }: SourceChoice = {},
): Promise<SourceSums[]> {
  if (ids?.length === 0) return [];
  const totals = sql.join(
    SUM_COLUMNS.map((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`),
  );
  const { rows: sums } = await sql<Record<SumColumn, unknown> & { source_id: string }>`
    select source_id, ${totals}
    from (${sumsIn(period, { ids: ids && ids.length > MAX_NAMED ? undefined : ids })}) as sums
    group by source_id
    having sum(messages) > 0 ${withFailures ? sql`and sum(passed) < sum(messages)` : sql``}
    order by sum(messages) desc, source_id`.execute(db);
  const chosen = ids && ids.length > MAX_NAMED ? new Set(ids) : null;
  const found = chosen === null ? sums : sums.filter(({ source_id }) => chosen.has(source_id));
  if (found.length === 0) return [];
  const all = db.selectFrom('feedback_sources').selectAll();
  const rows = await (found.length > MAX_NAMED
    ? all.where('domain_id', '=', period.domain.id)
    : all.where(
        'id',
        'in',
        found.map(({ source_id }) => source_id),
      )
  ).execute();
  const known = new Map(rows.map((row) => [row.id, row]));
  return found.flatMap((counts) => {
    const row = known.get(counts.source_id);
    return row ? [summed(row, counts)] : [];
  });
}

/** The IDs of all sources with messages in the period, or of the first ones; those with the most messages first. */
export async function sourceIdsOf(db: Db, period: DaysOfDomain, limit?: number): Promise<string[]> {
  const { rows } = await sql<{ source_id: string }>`
    select source_id
    from (${sumsIn(period, { columns: ['messages'] })}) as sums
    group by source_id
    having sum(messages) > 0
    order by sum(messages) desc, source_id
    ${limit === undefined ? sql`` : sql`limit ${limit}`}`.execute(db);
  return rows.map(({ source_id }) => source_id);
}

/** What sources of a domain sent, by ID. Those without messages are missing. */
export async function messagesOf(
  db: Db,
  period: DaysOfDomain,
  ids?: string[],
): Promise<Map<string, MessageCounts>> {
  if (ids?.length === 0) return new Map();
  const { rows } = await sql<Record<'source_id' | 'messages' | 'passed', string>>`
    select source_id, sum(messages) as messages, sum(passed) as passed
    from (${sumsIn(period, { ids, columns: ['messages', 'passed'] })}) as sums
    group by source_id`.execute(db);
  return new Map(
    rows.map(({ source_id, messages, passed }) => [
      source_id,
      { messages: Number(messages), passed: Number(passed) },
    ]),
  );
}

type SourceDayCounts = Record<SumColumn, number>;

export const sumsOfDays = (days: SourceDayCounts[]): SourceDayCounts =>
  Object.fromEntries(
    SUM_COLUMNS.map((name) => [name, days.reduce((sum, day) => sum + day[name], 0)]),
  ) as SourceDayCounts;

const NOTHING = sumsOfDays([]);

/** `counts` are numbers, or text in PostgreSQL. */
export function summed(row: FeedbackSourceRow, counts: Record<SumColumn, unknown>): SourceSums {
  // Without an array for each number, because a domain can have thousands of sources.
  const totals = { ...NOTHING };
  for (const name of SUM_COLUMNS) totals[name] = Number(counts[name]);
  return { row, kind: kindOf(row, totals), ...totals };
}

/** How far back from its last message a silent source is looked at. */
const KIND_DAYS = 30;

/**
 * The kind of a source in a period. Without messages in it, it stays what it was in the 30 days up to its last message
 * before.
 */
export async function kindIn(
  db: Db,
  row: FeedbackSourceRow,
  totals: SourceTotals,
  to: string,
): Promise<SourceKind> {
  if (totals.messages > 0) return kindOf(row, totals);
  const latest = await db
    .selectFrom('feedback_source_days')
    .select('day')
    .where('source_id', '=', row.id)
    .where('day', '<=', to)
    .where('messages', '>', 0)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!latest) return kindOf(row, totals);
  const from = dayBefore(latest.day, KIND_DAYS - 1);
  return summed(row, sumsOfDays(await daysOf(db, row.id, { from, to: latest.day }))).kind;
}

const NO_ADDRESSES = { addresses: 0, first: '', last: '' };

/** Adds the number of addresses, and the days of all time. */
export async function withAddresses(db: Db, sources: SourceSums[]): Promise<SummedSource[]> {
  if (sources.length === 0) return [];
  const all = db
    .selectFrom('feedback_addresses')
    .select('source_id')
    .select(({ fn }) => [
      fn.countAll().as('addresses'),
      fn.min('first_day').as('first'),
      fn.max('last_day').as('last'),
    ])
    .where('source_id', 'is not', null)
    .groupBy('source_id');
  const ids = sources.map(({ row }) => row.id);
  const rows = await (sources.length > MAX_NAMED
    ? all.where('domain_id', '=', sources[0]!.row.domain_id)
    : all.where('source_id', 'in', ids)
  ).execute();
  const spans = new Map(rows.map((row) => [row.source_id, row]));
  return sources.map((source) => {
    // Its last address may have moved to another source after some of its rows expired.
    const { addresses, first, last } = spans.get(source.row.id) ?? NO_ADDRESSES;
    return { ...source, addresses: Number(addresses), firstDay: first, lastDay: last };
  });
}

/** The sources of addresses of a domain, by address. Those that are not looked up yet are missing. */
export async function sourcesOfAddresses(
  db: Db,
  domainId: string,
  addresses: string[],
): Promise<Map<string, { id: string; name: string }>> {
  if (addresses.length === 0) return new Map();
  const rows = await db
    .selectFrom('feedback_addresses')
    .innerJoin('feedback_sources', 'feedback_sources.id', 'feedback_addresses.source_id')
    .select(['feedback_addresses.address', 'feedback_sources.id'])
    .select(({ fn, ref }) => [
      fn.coalesce(ref('feedback_sources.label'), ref('feedback_sources.name')).as('name'),
    ])
    .where(
      'feedback_addresses.id',
      'in',
      addresses.map((address) => `${domainId} ${address}`),
    )
    .execute();
  return new Map(rows.map(({ address, id, name }) => [address, { id, name: name! }]));
}

/** Failing messages of addresses that were seen in the period and have no source yet. */
export async function unnamedFailures(
  db: Db,
  { domain, from }: Pick<Period, 'domain' | 'from'>,
): Promise<number> {
  const row = await db
    .selectFrom('feedback_addresses')
    .select(sql<string | null>`sum(messages - passed)`.as('failed'))
    .where('domain_id', '=', domain.id)
    .where('source_id', 'is', null)
    .where('last_day', '>=', from)
    .executeTakeFirstOrThrow();
  return Number(row.failed ?? 0);
}

/** Throws `not_found`. */
export async function sourceOr404(db: Db | Tx, id: string): Promise<FeedbackSourceRow> {
  const query = db.selectFrom('feedback_sources').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such source.');
  return row;
}

const MAX_LISTED = 100;

/** The addresses of a source, those with the most messages first. */
export const addressesOf = (db: Db, source: string) =>
  db
    .selectFrom('feedback_addresses')
    .select(['address', 'host', 'messages', 'passed', 'first_day', 'last_day'])
    .where('source_id', '=', source)
    .orderBy('messages', 'desc')
    .orderBy('address')
    .limit(MAX_LISTED)
    .execute();

/** The days of a source in a period, oldest first. */
export const daysOf = (db: Db, source: string, { from, to }: Pick<Period, 'from' | 'to'>) =>
  db
    .selectFrom('feedback_source_days')
    .select(['day', ...SUM_COLUMNS])
    .where('source_id', '=', source)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .execute();

interface SourcePeriod extends Pick<Period, 'from' | 'to'> {
  source: FeedbackSourceRow;
}

/**
 * The rows of a source in a period: those of its addresses, or of its tenant. The few rows of an own tenant that count with the
 * addresses of its service are left out, because no index leads to both.
 */
const rowsOf = (db: Db, { source, from, to }: SourcePeriod) => {
  const rows = db
    .selectFrom('dmarc_rows')
    .where('dmarc_rows.domain_id', '=', source.domain_id)
    .where('dmarc_rows.day', '>=', from)
    .where('dmarc_rows.day', '<=', to);
  return basisOf(source.key) === 'tenant'
    ? rows.where(isSentBy('dmarc_rows', subjectOf(source.key)))
    : rows
        .where(
          'dmarc_rows.address',
          'in',
          db.selectFrom('feedback_addresses').select('address').where('source_id', '=', source.id),
        )
        .where('dmarc_rows.counted', '=', sql.lit(1))
        .where(sql<boolean>`${senderOf('dmarc_rows')} = dmarc_rows.address`);
};

const MAX_REPORTS = 10;

/** The latest reports that name an address of the source. */
export async function reportsOfAddress(
  db: Db,
  { source, from, to }: SourcePeriod,
  address: string,
) {
  const rows = await rowsOf(db, { source, from, to })
    .innerJoin('feedback_reports', 'feedback_reports.id', 'dmarc_rows.report_id')
    .where('feedback_reports.status', '<>', REMOVED)
    .leftJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reports.id', reporterTitle.as('reporter')])
    .select(({ fn }) => [
      fn.max('dmarc_rows.day').as('date'),
      fn.sum('dmarc_rows.count').as('messages'),
    ])
    .where('dmarc_rows.domain_id', '=', source.domain_id)
    .where(isSentBy('dmarc_rows', address))
    .groupBy(['feedback_reports.id', reporterTitle])
    .orderBy('date', 'desc')
    .orderBy('feedback_reports.id', 'desc')
    .limit(MAX_REPORTS)
    .execute();
  return rows.map(({ messages, ...row }) => ({ ...row, messages: Number(messages) }));
}

/** With which signatures it sends, and whether they are valid; the most frequent first. */
export async function signaturesOf(db: Db, period: SourcePeriod) {
  const rows = await rowsOf(db, period)
    .select(['dkim_domain', 'dkim_selector', 'dkim_result'])
    .select(({ fn }) => fn.sum('count').as('messages'))
    .groupBy(['dkim_domain', 'dkim_selector', 'dkim_result'])
    .orderBy(sql`sum(count)`, 'desc')
    .limit(20)
    .execute();
  return rows.map(({ dkim_domain, dkim_selector, dkim_result, messages }) => ({
    domain: dkim_domain,
    selector: dkim_selector,
    result: dkim_result,
    messages: Number(messages),
  }));
}

/** Why receivers did not apply the policy to its messages, the most frequent first. */
export async function overridesOf(db: Db, period: SourcePeriod) {
  const rows = await rowsOf(db, period)
    .select('reasons')
    .select(({ fn }) => fn.sum('count').as('messages'))
    .where('reasons', 'is not', null)
    .groupBy('reasons')
    .orderBy(sql`sum(count)`, 'desc')
    .limit(MAX_LISTED)
    .execute();
  const sums = new Map<string, SourceOverride>();
  for (const { reasons, messages } of rows) {
    const explained = (JSON.parse(reasons!) as OverrideReason[]).map(explainOverride);
    // A row can have several reasons of one kind.
    for (const [type, { name, meaning, fix }] of new Map(explained.map((one) => [one.key, one]))) {
      const sum = sums.get(type) ?? { type, name, meaning, fix, messages: 0 };
      sum.messages += Number(messages);
      sums.set(type, sum);
    }
  }
  return [...sums.values()].sort((a, b) => b.messages - a.messages);
}

/** Who reports about it, those with the most messages first. */
export async function reportersOfSource(db: Db, period: SourcePeriod) {
  const rows = await rowsOf(db, period)
    .innerJoin('feedback_reports', 'feedback_reports.id', 'dmarc_rows.report_id')
    .where('feedback_reports.status', '<>', REMOVED)
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reporters.id', reporterTitle.as('name')])
    .select(({ fn }) => fn.sum('dmarc_rows.count').as('messages'))
    .groupBy(['feedback_reporters.id', reporterTitle])
    .orderBy(sql`sum(dmarc_rows.count)`, 'desc')
    .limit(20)
    .execute();
  return rows.map(({ messages, ...reporter }) => ({ ...reporter, messages: Number(messages) }));
}

/** How many reporters count its messages on a day. */
export async function reportersOnDay(
  db: Db,
  source: FeedbackSourceRow,
  day: string,
): Promise<number> {
  const { count } = await rowsOf(db, { source, from: day, to: day })
    .innerJoin('feedback_reports', 'feedback_reports.id', 'dmarc_rows.report_id')
    .select(({ fn }) => fn.count('feedback_reports.reporter_id').distinct().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
