/** Feedback: queries of reports, rows, reporters, complaints and bounces. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { fetchPage, type Page, requireCursors, selectPage } from '../http/schemas.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type {
  BounceRow,
  ComplaintRow,
  DmarcRowRow,
  FeedbackMailRow,
  FeedbackReporterRow,
  TlsFailureRow,
} from '../store/tables.generated.ts';
import type { NamedReport } from './present.ts';
import { reporterTitle } from './record/reporters.ts';
import type { ReportListQuery, RowListQuery } from './schemas/report.ts';
import { REMOVED } from './status.ts';

const reportsOf = (db: Db | Tx) =>
  db
    .selectFrom('feedback_reports')
    .selectAll('feedback_reports')
    .select((eb) =>
      eb
        .selectFrom('feedback_reporters')
        .select(reporterTitle.as('title'))
        .whereRef('feedback_reporters.id', '=', 'feedback_reports.reporter_id')
        .as('reporter'),
    )
    .where('status', '<>', REMOVED);

/** One page of the matching reports, newest first. */
export async function listReports(
  db: Db,
  { type, status, domain_id, reporter, day, from, to, ...page }: ReportListQuery,
): Promise<{ rows: NamedReport[]; hasMore: boolean }> {
  const all = reportsOf(db);
  let query = all;
  if (type) query = query.where('type', '=', type);
  if (status) query = query.where('status', '=', status);
  if (domain_id) query = query.where('domain_id', '=', domain_id);
  if (from) query = query.where('received_at', '>=', from);
  if (to) query = query.where('received_at', '<', nextDay(to));
  if (day)
    query = query
      .where('period_from', '<', nextDay(day))
      // A period that ends at midnight does not include the next day.
      .where(({ eb, or }) =>
        or([eb('period_to', '>', `${day}T00:00:00.000Z`), eb('period_from', '>=', day)]),
      );
  if (reporter)
    query = query.where('reporter_id', 'in', (eb) =>
      eb
        .selectFrom('feedback_reporters')
        .select('id')
        .where(({ or, eb: is }) =>
          or([is('id', '=', reporter), is(reporterTitle, '=', reporter.toLowerCase())]),
        ),
    );
  return fetchPage(query, page, all) as Promise<{ rows: NamedReport[]; hasMore: boolean }>;
}

/** The day after a day such as `2026-11-21`. */
export const nextDay = (day: string): string =>
  new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);

/** Throws `not_found`. */
export async function reportOr404(db: Db | Tx, id: string): Promise<NamedReport> {
  const row = await reportsOf(db).where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such report.');
  return row as NamedReport;
}

/** All reports of these mails, ordered by mail and by position in it. */
export async function reportsOfMails(db: Db | Tx, mailIds: string[]): Promise<NamedReport[]> {
  const rows = await reportsOf(db)
    .where('mail_id', 'in', mailIds)
    .orderBy('mail_id')
    .orderBy('position')
    .execute();
  return rows as NamedReport[];
}

const MAX_PARTS = 100;

export const firstRows = (db: Db, reportId: string): Promise<DmarcRowRow[]> =>
  db
    .selectFrom('dmarc_rows')
    .selectAll()
    .where('report_id', '=', reportId)
    .orderBy('position')
    .limit(MAX_PARTS)
    .execute();

export const firstFailures = (db: Db, reportId: string): Promise<TlsFailureRow[]> =>
  db
    .selectFrom('tls_failures')
    .selectAll()
    .where('report_id', '=', reportId)
    .orderBy('position')
    .limit(MAX_PARTS)
    .execute();

/** One page of the rows of a report, those with the most messages first. Their IDs end with their position. */
export async function listRows(
  db: Db,
  reportId: string,
  { outcome, limit, ...cursors }: RowListQuery,
): Promise<{ rows: DmarcRowRow[]; hasMore: boolean }> {
  let query = db.selectFrom('dmarc_rows').selectAll().where('report_id', '=', reportId);
  await requireCursors(cursors, async (cursor) => {
    const position = positionOf(cursor, reportId);
    if (position === null) return false;
    return (await query.where('position', '=', position).executeTakeFirst()) !== undefined;
  });
  if (outcome) query = query.where('outcome', '=', outcome);
  const { starting_after, ending_before } = cursors;
  if (starting_after !== undefined)
    query = query.where('position', '>', positionOf(starting_after, reportId)!);
  if (ending_before !== undefined)
    query = query.where('position', '<', positionOf(ending_before, reportId)!);
  const isBackwards = ending_before !== undefined;
  const found = await query
    .orderBy('position', isBackwards ? 'desc' : 'asc')
    .limit(limit + 1)
    .execute();
  const rows = found.slice(0, limit);
  if (isBackwards) rows.reverse();
  return { rows, hasMore: found.length > limit };
}

const EXPORT_BATCH = 500;

/** All rows of a report, read a few hundred at a time as the client takes them. */
export async function* eachRow(
  db: Db,
  reportId: string,
  { outcome }: Pick<RowListQuery, 'outcome'>,
): AsyncGenerator<DmarcRowRow> {
  let query = db.selectFrom('dmarc_rows').selectAll().where('report_id', '=', reportId);
  if (outcome) query = query.where('outcome', '=', outcome);
  for (let position = -1; ; ) {
    const rows = await query
      .where('position', '>', position)
      .orderBy('position')
      .limit(EXPORT_BATCH)
      .execute();
    yield* rows;
    if (rows.length < EXPORT_BATCH) return;
    position = rows.at(-1)!.position;
  }
}

function positionOf(id: string, reportId: string): number | null {
  const [, position] = /^(\d{1,6})$/.exec(id.slice(reportId.length + 1)) ?? [];
  return id.startsWith(`${reportId}.`) && position !== undefined ? Number(position) : null;
}

/** The message or file of a report while its bytes are kept; null afterwards. */
export async function keptMail(db: Db, mailId: string): Promise<FeedbackMailRow | null> {
  const row = await db
    .selectFrom('feedback_mails')
    .selectAll()
    .where('id', '=', mailId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('message_chunks')
          .select('position')
          .whereRef('message_id', '=', 'feedback_mails.id')
          .where('position', '=', 0),
      ),
    )
    .executeTakeFirst();
  return row ?? null;
}

// Reporters.

export const listReporters = (db: Db, page: Page) =>
  fetchPage(db.selectFrom('feedback_reporters').selectAll(), page);

/** Throws `not_found`. */
export async function reporterOr404(db: Db | Tx, id: string): Promise<FeedbackReporterRow> {
  const query = db.selectFrom('feedback_reporters').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such reporter.');
  return row;
}

/** Whether DMARC or TLS reports about a domain count that tell of this day or a later one, however they came. */
export const isReportedSince = (day: string): RawBuilder<SqlBool> => sql<SqlBool>`
  (exists (select 1 from dmarc_days where domain_id = feedback_domains.id and day >= ${day})
  or exists (select 1 from tls_days where domain_id = feedback_domains.id and day >= ${day}))`;

/** Whether any DMARC or TLS report about a domain counts, also one that was uploaded. */
export async function hasReports(db: Db | Tx, domainId: string): Promise<boolean> {
  const query = db.selectFrom('feedback_domains').select('id').where('id', '=', domainId);
  return (await query.where(isReportedSince('')).executeTakeFirst()) !== undefined;
}

// Complaints and bounces that count.

interface MessageFilters {
  domain_id?: string;
  /** Days on which the report arrived. */
  from?: string;
  to?: string;
}

interface BounceFilters extends MessageFilters {
  class?: string;
}

const allComplaints = (db: Db) => db.selectFrom('complaints').selectAll().where(isOfCountedReport);

function matchingComplaints(db: Db, { domain_id, from, to }: MessageFilters) {
  let query = allComplaints(db);
  if (domain_id) query = query.where('domain_id', '=', domain_id);
  if (from) query = query.where('day', '>=', from);
  if (to) query = query.where('day', '<=', to);
  return query;
}

/** One page, newest first. */
export const listComplaints = (
  db: Db,
  query: MessageFilters & Page,
): Promise<{ rows: ComplaintRow[]; hasMore: boolean }> =>
  fetchPage(matchingComplaints(db, query), query, allComplaints(db));

const allBounces = (db: Db) => db.selectFrom('bounces').selectAll().where(isOfCountedReport);

function matchingBounces(db: Db, { domain_id, class: bounceClass, from, to }: BounceFilters) {
  let query = allBounces(db);
  if (domain_id) query = query.where('domain_id', '=', domain_id);
  if (bounceClass) query = query.where('class', '=', bounceClass);
  if (from) query = query.where('day', '>=', from);
  if (to) query = query.where('day', '<=', to);
  return query;
}

export const listBounces = (
  db: Db,
  query: BounceFilters & Page,
): Promise<{ rows: BounceRow[]; hasMore: boolean }> =>
  fetchPage(matchingBounces(db, query), query, allBounces(db));

/** All matching complaints, newest first, a few hundred at a time as the client takes them. */
export const eachComplaints = (db: Db, filters: MessageFilters) =>
  eachPage((page) => selectPage(matchingComplaints(db, filters), page));

export const eachBounces = (db: Db, filters: BounceFilters) =>
  eachPage((page) => selectPage(matchingBounces(db, filters), page));

async function* eachPage<Row extends { id: string }>(
  read: (page: Page) => Promise<{ rows: Row[]; hasMore: boolean }>,
): AsyncGenerator<Row[]> {
  for (let after: string | undefined; ; ) {
    const { rows, hasMore } = await read({ limit: EXPORT_BATCH, starting_after: after });
    yield rows;
    after = rows.at(-1)?.id;
    if (!hasMore) return;
  }
}

/** Whether the report of a complaint or bounce counts: one step into an index for each row, however many reports there are. */
export const isOfCountedReport = sql<boolean>`exists
  (select 1 from feedback_reports as counted where counted.id = report_id and counted.status = 'counted')`;
