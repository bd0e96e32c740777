/** Reports that count later, because a person trusts their reporter. */

import type { App } from '../../app.ts';
import { lockName, type Tx, transact } from '../../store/open.ts';
import { BATCH_ROWS } from '../thread/prepare.ts';
import { addSources, lockedReport } from './rows.ts';
import { learnReportedSelectors } from './selectors.ts';
import { countReport } from './tallies.ts';

/** Counts the reports of trusted reporters that wait, then the rows that are stored and not counted. Goes on after a crash. */
export async function countTrusted(app: App): Promise<void> {
  for (;;) {
    const waiting = await app.db
      .selectFrom('feedback_reports')
      .innerJoin('feedback_reporters', 'feedback_reporters.id', 'feedback_reports.reporter_id')
      .select('feedback_reports.id')
      .where('feedback_reports.status', '=', 'unverified')
      .where('feedback_reporters.trusted', '=', 1)
      .orderBy('feedback_reports.id')
      .limit(50)
      .execute();
    if (waiting.length === 0) break;
    for (const { id } of waiting) await transact(app.db, (tx) => countWaiting(tx, app, id));
  }
  await countStoredRows(app);
}

async function countWaiting(tx: Tx, app: App, id: string): Promise<void> {
  const found = await lockedReport(tx, id);
  if (found?.status !== 'unverified') return;
  await lockName(tx, `feedback report ${found.identity}`);
  const original = await tx
    .selectFrom('feedback_reports')
    .select(['id', 'figures'])
    .where('identity', '=', found.identity)
    .where('status', '=', 'counted')
    .executeTakeFirst();
  if (original) {
    const status = original.figures === found.figures ? 'duplicate' : 'conflict';
    await tx
      .updateTable('feedback_reports')
      .set({ status, original_id: original.id })
      .where('id', '=', id)
      .execute();
    return;
  }
  await tx
    .updateTable('feedback_reports')
    .set({ status: 'counted' })
    .where('id', '=', id)
    .execute();
  await countReport(tx, app, { ...found, status: 'counted' });
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
    await learnReportedSelectors(db, report.id);
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
