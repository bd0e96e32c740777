/** Queries of sources: their sums over a period, and what one of them consists of. */

import { sql } from 'kysely';
import { AppError } from '../../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../../store/open.ts';
import type { DomainRow, FeedbackSourceRow } from '../../store/tables.generated.ts';
import type { Period } from '../sums.ts';
import type { MessageCounts } from './advice.ts';
import { SUM_COLUMNS } from './days.ts';
import { kindOf, type SourceKind, type SourceMark, type SourceTotals } from './kind.ts';

/** A source with its sums over a period. */
export interface SummedSource extends SourceTotals {
  row: FeedbackSourceRow;
  kind: SourceKind;
  quarantined: number;
  rejected: number;
  addresses: number;
  /** Days, of all time. */
  firstDay: string;
  lastDay: string;
}

/** All sources with messages in the period, those with the most first. */
export async function sourcesOf(
  db: Db,
  { domain, from, to }: Pick<Period, 'from' | 'to'> & { domain: Pick<DomainRow, 'id'> },
): Promise<SummedSource[]> {
  const sums = await db
    .selectFrom('feedback_source_days')
    .select('source_id')
    .select(({ fn }) => SUM_COLUMNS.map((name) => fn.sum(name).as(name)))
    .where('domain_id', '=', domain.id)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('source_id')
    .having(sql<boolean>`sum(messages) > 0`)
    .orderBy(sql`sum(messages)`, 'desc')
    .orderBy('source_id')
    .execute();
  const rows = await db
    .selectFrom('feedback_sources')
    .selectAll()
    .where('domain_id', '=', domain.id)
    .execute();
  const known = new Map(rows.map((row) => [row.id, row]));
  const spans = await spansOf(db, domain.id);
  return sums.flatMap(({ source_id, ...counts }) => {
    const row = known.get(source_id);
    const span = spans.get(source_id);
    if (!row || !span) return [];
    const totals = Object.fromEntries(
      SUM_COLUMNS.map((name) => [name, Number(counts[name])]),
    ) as Record<(typeof SUM_COLUMNS)[number], number>;
    const kind = kindOf(row.key, row.mark as SourceMark | null, totals);
    return [{ row, kind, ...totals, ...span }];
  });
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

type Span = Pick<SummedSource, 'addresses' | 'firstDay' | 'lastDay'>;

async function spansOf(db: Db, domainId: string): Promise<Map<string, Span>> {
  const rows = await db
    .selectFrom('feedback_addresses')
    .select('source_id')
    .select(({ fn }) => [
      fn.countAll().as('addresses'),
      fn.min('first_day').as('first'),
      fn.max('last_day').as('last'),
    ])
    .where('domain_id', '=', domainId)
    .where('source_id', 'is not', null)
    .groupBy('source_id')
    .execute();
  return new Map(
    rows.map(({ source_id, addresses, first, last }) => [
      source_id!,
      { addresses: Number(addresses), firstDay: first, lastDay: last },
    ]),
  );
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
