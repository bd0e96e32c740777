/** Queries of sources: their sums over a period, and what one of them consists of. */

import { sql } from 'kysely';
import { AppError } from '../../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import { explainOverride, type OverrideReason } from '../override-reasons.ts';
import type { Period } from '../sums.ts';
import type { MessageCounts } from './advice.ts';
import { SUM_COLUMNS } from './days.ts';
import { kindOf, type SourceKind, type SourceMark, type SourceTotals } from './kind.ts';
import type { SourceOverride } from './schema.ts';

/** The sums of a source over a period. */
export interface SourceSums extends SourceTotals {
  row: FeedbackSourceRow;
  kind: SourceKind;
  quarantined: number;
  rejected: number;
  /** Of the period. */
  lastDay: string;
}

/** With how many addresses it has. Days are of all time. */
export interface SummedSource extends SourceSums {
  addresses: number;
  firstDay: string;
}

type DaysOfDomain = Pick<Period, 'from' | 'to'> & { domain: Pick<DomainRow, 'id'> };

/** All sources with messages in the period, or those with these IDs; those with the most messages first. */
export async function sourcesOf(
  db: Db,
  period: DaysOfDomain,
  ids?: string[],
): Promise<SourceSums[]> {
  if (ids?.length === 0) return [];
  const sums = await sumsInOrder(db, period, ids)
    .select(({ fn }) => fn.max('day').as('last_day'))
    .select(({ fn }) => SUM_COLUMNS.map((name) => fn.sum(name).as(name)))
    .execute();
  const all = db.selectFrom('feedback_sources').selectAll();
  const rows = await (ids
    ? all.where('id', 'in', ids)
    : all.where('domain_id', '=', period.domain.id)
  ).execute();
  const known = new Map(rows.map((row) => [row.id, row]));
  const sources: SourceSums[] = [];
  for (const counts of sums) {
    const row = known.get(counts.source_id);
    if (row) sources.push({ ...summed(row, counts), lastDay: counts.last_day });
  }
  return sources;
}

/** The IDs of all sources with messages in the period, those with the most messages first. Costs half of their sums. */
export async function sourceIdsOf(db: Db, period: DaysOfDomain): Promise<string[]> {
  const rows = await sumsInOrder(db, period).execute();
  return rows.map(({ source_id }) => source_id);
}

function sumsInOrder(db: Db, { domain, from, to }: DaysOfDomain, ids?: string[]) {
  const all = db.selectFrom('feedback_source_days').select('source_id');
  // IDs lead to the index by source; with the domain too, the database could read all days of the domain.
  const named = ids ? all.where('source_id', 'in', ids) : all.where('domain_id', '=', domain.id);
  return named
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('source_id')
    .having(sql<boolean>`sum(messages) > 0`)
    .orderBy(sql`sum(messages)`, 'desc')
    .orderBy('source_id');
}

/** What each source sent from a day on, by ID. */
export async function messagesSince(
  db: Db,
  domainId: string,
  day: string,
): Promise<Map<string, MessageCounts>> {
  const rows = await db
    .selectFrom('feedback_source_days')
    .select('source_id')
    .select(({ fn }) => [fn.sum('messages').as('messages'), fn.sum('passed').as('passed')])
    .where('domain_id', '=', domainId)
    .where('day', '>=', day)
    .groupBy('source_id')
    .execute();
  return new Map(
    rows.map(({ source_id, messages, passed }) => [
      source_id,
      { messages: Number(messages), passed: Number(passed) },
    ]),
  );
}

/** `counts` are numbers, or text in PostgreSQL. */
export function summed(
  row: FeedbackSourceRow,
  counts: Record<(typeof SUM_COLUMNS)[number], unknown>,
): Omit<SourceSums, 'lastDay'> {
  // Written out, because a domain can have thousands of sources.
  const totals = {
    messages: Number(counts.messages),
    passed: Number(counts.passed),
    dkim: Number(counts.dkim),
    spf: Number(counts.spf),
    quarantined: Number(counts.quarantined),
    rejected: Number(counts.rejected),
    forwarded: Number(counts.forwarded),
  };
  return { row, kind: kindOf(row.key, row.mark as SourceMark | null, totals), ...totals };
}

/** More sources than this are not named one by one in a query. */
const MAX_NAMED = 500;

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
  return sources.flatMap((source) => {
    const span = spans.get(source.row.id);
    if (!span) return [];
    const { addresses, first, last } = span;
    return [{ ...source, addresses: Number(addresses), firstDay: first, lastDay: last }];
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

/** Messages of addresses that were seen in the period and have no source yet. */
export async function unnamedMessages(
  db: Db,
  { domain, from }: Pick<Period, 'domain' | 'from'>,
): Promise<number> {
  const row = await db
    .selectFrom('feedback_addresses')
    .select(({ fn }) => fn.sum('messages').as('messages'))
    .where('domain_id', '=', domain.id)
    .where('source_id', 'is', null)
    .where('last_day', '>=', from)
    .executeTakeFirstOrThrow();
  return Number(row.messages ?? 0);
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

/** The rows of a source in a period. */
const rowsOf = (db: Db, { source, from, to }: SourcePeriod) =>
  db
    .selectFrom('dmarc_rows')
    .innerJoin('feedback_addresses', (join) =>
      join
        .onRef('feedback_addresses.domain_id', '=', 'dmarc_rows.domain_id')
        .onRef('feedback_addresses.address', '=', 'dmarc_rows.address'),
    )
    .where('feedback_addresses.source_id', '=', source.id)
    .where('dmarc_rows.counted', '=', 1)
    .where('dmarc_rows.day', '>=', from)
    .where('dmarc_rows.day', '<=', to);

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
    ...{ domain: dkim_domain, selector: dkim_selector, result: dkim_result },
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
    .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
    .select(['feedback_reporters.id', 'feedback_reporters.name'])
    .select(({ fn }) => fn.sum('dmarc_rows.count').as('messages'))
    .groupBy(['feedback_reporters.id', 'feedback_reporters.name'])
    .orderBy(sql`sum(dmarc_rows.count)`, 'desc')
    .limit(20)
    .execute();
  return rows.map(({ messages, ...reporter }) => ({ ...reporter, messages: Number(messages) }));
}
