/**
 * Makes reports agree with what people say about their reporters: those of confirmed ones count, and those of others do not. Each
 * report changes in one transaction, its rows in short ones, so that the job goes on after a crash.
 */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { EMPTY_CONTENT, REMOVED, type ReportStatus } from '../status.ts';
import { BATCH_ROWS, type DmarcDay, type TlsDay } from '../thread/prepare.ts';
import { findOriginal, lockCopies, statusBeside } from './copies.ts';
import { implausibleCount } from './plausible.ts';
import { takeOutRows } from './remove.ts';
import { addSources, lockedReport } from './rows.ts';
import { learnReportedSelectors } from './selectors.ts';
import { countReports, uncountReport } from './tallies.ts';

export async function followTrust(app: App): Promise<void> {
  await eachOf(app, withTrust(app, 'unconfirmed', 1), (tx, id) => countWaiting(tx, app, id));
  await eachOf(app, withTrust(app, 'counted', 0), withdraw);
  for (;;) {
    const report = await app.db
      .selectFrom('feedback_reports')
      .select('id')
      // As in the index.
      .where('status', '<>', sql.lit('counted'))
      .where('counted_rows', '>', sql.lit(0))
      .where('status', '<>', REMOVED)
      .executeTakeFirst();
    if (!report) break;
    await takeOutRows(app, report.id);
  }
  await countStoredRows(app);
}

/** Reports whose status does not follow from their reporter. What a person uploaded and bounces count without one. */
const withTrust =
  ({ db }: App, status: 'unconfirmed' | 'counted', trusted: 0 | 1) =>
  () =>
    db
      .selectFrom('feedback_reporters')
      .innerJoin('feedback_reports', 'feedback_reports.reporter_id', 'feedback_reporters.id')
      .select('feedback_reports.id')
      .where('feedback_reporters.trusted', '=', trusted)
      .where('feedback_reports.status', '=', status)
      .where('feedback_reports.source', '<>', 'upload')
      .where('feedback_reports.type', '<>', 'bounce')
      .where('feedback_reports.attributed', '=', 1)
      // Without its rows, a report can no longer be taken out of the sums.
      .where('feedback_reports.content', '<>', EMPTY_CONTENT)
      .orderBy('feedback_reports.id')
      .limit(50);

async function eachOf(
  { db }: App,
  found: () => { execute(): Promise<{ id: string }[]> },
  change: (tx: Tx, id: string) => Promise<void>,
): Promise<void> {
  for (;;) {
    const reports = await found().execute();
    if (reports.length === 0) return;
    for (const { id } of reports) await transact(db, (tx) => change(tx, id));
  }
}

async function countWaiting(tx: Tx, app: App, id: string): Promise<void> {
  const found = await lockedReport(tx, id);
  if (found?.status !== 'unconfirmed') return;
  await lockCopies(tx, found);
  const { dmarc_days = [], tls_days = [] } = JSON.parse(found.content) as {
    dmarc_days?: DmarcDay[];
    tls_days?: TlsDay[];
  };
  const { messages, domain_id } = found;
  const detail = await implausibleCount(tx, {
    messages,
    domain_id: domain_id!,
    dmarcDays: dmarc_days,
    tlsDays: tls_days,
  });
  const original = await findOriginal(tx, found, id);
  const status = statusBeside(original, detail === null ? 'counted' : 'implausible', found.figures);
  await tx
    .updateTable('feedback_reports')
    .set({
      status,
      detail: status === 'implausible' ? detail : null,
      original_id: status === 'duplicate' || status === 'conflict' ? original!.id : null,
    })
    .where('id', '=', id)
    .execute();
  if (status === 'counted') await countReports(tx, app, [{ ...found, status }]);
}

async function withdraw(tx: Tx, id: string): Promise<void> {
  const report = await lockedReport(tx, id);
  if (report?.status !== 'counted') return;
  await stopCounting(tx, report, 'unconfirmed');
}

/** Takes a report out of the sums by day; `followTrust` does it with its rows. */
export async function stopCounting(
  tx: Tx,
  report: FeedbackReportRow,
  status: ReportStatus,
): Promise<void> {
  await tx.updateTable('feedback_reports').set({ status }).where('id', '=', report.id).execute();
  await tx
    .updateTable('feedback_reporters')
    .set(({ eb }) => ({ counted: eb('counted', '-', 1) }))
    .where('id', '=', report.reporter_id)
    .execute();
  await uncountReport(tx, report);
}

/** In short transactions. Rows that are stored later count with their batch. */
async function countStoredRows({ db }: App): Promise<void> {
  for (;;) {
    const report = await db
      .selectFrom('feedback_reports')
      .select('id')
      .where('status', '=', 'counted')
      .whereRef('counted_rows', '<', 'row_count')
      .whereRef('counted_rows', '<', 'stored_rows')
      .orderBy('id')
      .executeTakeFirst();
    if (!report) return;
    await transact(db, (tx) => countBatch(tx, report.id));
    await learnReportedSelectors(db, [report.id]);
  }
}

async function countBatch(tx: Tx, id: string): Promise<void> {
  const report = await lockedReport(tx, id);
  if (report?.status !== 'counted') return;
  const { counted_rows: start, stored_rows } = report;
  const end = Math.min(start + BATCH_ROWS, stored_rows);
  if (end <= start) return;
  if (report.type === 'dmarc') {
    await tx
      .updateTable('dmarc_rows')
      .set({ counted: 1 })
      .where('report_id', '=', id)
      .where('position', '>=', start)
      .where('position', '<', end)
      .execute();
    await addSources(tx, report, start, end);
  }
  await tx
    .updateTable('feedback_reports')
    .set({ counted_rows: end })
    .where('id', '=', id)
    .execute();
}
