/**
 * Removes one report: its share of the sums first, in one transaction, then its rows in short ones. Each leaves a mark, so that the
 * job goes on after a crash and nothing is subtracted twice.
 */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { AppError } from '../../lib/errors.ts';
import type { Job } from '../../scheduler/scheduler.ts';
import { deleteLaterChunks } from '../../store/chunks.ts';
import { type Tx, transact } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';
import { deleteMailRows, deleteReportRows } from '../expire.ts';
import { deleteIfEmpty } from '../sources/assign.ts';
import { senderOf } from '../sources/tenants.ts';
import { EMPTY_CONTENT, REMOVED } from '../status.ts';
import { BATCH_ROWS } from '../thread/prepare.ts';
import { lockCopies } from './copies.ts';
import { addSources, lockedReport } from './rows.ts';
import { leaveReporter, uncountReport } from './tallies.ts';

/** From here on, no page shows the report and no sum by day includes it. Throws `conflict` if it cannot be removed. */
export async function startRemoval(tx: Tx, id: string): Promise<FeedbackReportRow | undefined> {
  const report = await lockedReport(tx, id);
  if (report === undefined || report.status === REMOVED) return undefined;
  const mail = await tx
    .selectFrom('feedback_mails')
    .select('due_at')
    .where('id', '=', report.mail_id)
    .executeTakeFirst();
  // Otherwise, the next attempt to read it would record it again.
  if (mail && mail.due_at !== null)
    throw new AppError('conflict', 'The report is still being read. Try again in a minute.');
  if (report.status === 'counted' && report.content === EMPTY_CONTENT)
    throw new AppError(
      'conflict',
      'The rows of this report have expired. Its messages can no longer be taken out of the sums.',
    );
  // A copy that arrives now is compared with it, or counts.
  if (report.identity !== null) await lockCopies(tx, report);
  await tx.updateTable('feedback_reports').set({ status: REMOVED }).where('id', '=', id).execute();
  await tx
    .updateTable('feedback_reports')
    .set({ original_id: null })
    .where(({ or, eb }) =>
      or([eb('identity', '=', report.identity), eb('file_identity', '=', report.file_identity)]),
    )
    .where('original_id', '=', id)
    .execute();
  await leaveReporter(tx, report);
  if (report.status === 'counted' && report.domain_id !== null) await uncountReport(tx, report);
  return report;
}

/** The rows of a report whose removal has started, then the report itself, and its message if it carried no other report. */
export async function finishRemoval(app: Pick<App, 'db'>, id: string): Promise<void> {
  await takeOutRows(app, id);
  const large = await transact(app.db, async (tx) => {
    const report = await lockedReport(tx, id);
    if (report?.status !== REMOVED) return [];
    await deleteReportRows(tx, [id]);
    const mails = await tx
      .selectFrom('feedback_mails')
      .select(['id', 'size'])
      .where('id', '=', report.mail_id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('feedback_reports')
              .select('id')
              .whereRef('mail_id', '=', 'feedback_mails.id'),
          ),
        ),
      )
      .execute();
    return deleteMailRows(tx, mails);
  });
  await deleteLaterChunks(app.db, large);
}

/** Takes the rows of a report that no longer counts out of its sources, in short transactions. Rows of a removed one are deleted. */
export async function takeOutRows({ db }: Pick<App, 'db'>, id: string): Promise<void> {
  while (await transact(db, (tx) => takeOutBatch(tx, id)));
}

/** The last rows that its sources include. Returns whether there were any. */
async function takeOutBatch(tx: Tx, id: string): Promise<boolean> {
  const report = await lockedReport(tx, id);
  if (!report || report.status === 'counted' || report.counted_rows === 0) return false;
  const end = report.counted_rows;
  const start = Math.max(0, end - BATCH_ROWS);
  if (report.type === 'dmarc') await takeOutRange(tx, report, start, end);
  await tx
    .updateTable('feedback_reports')
    .set({ counted_rows: start })
    .where('id', '=', id)
    .execute();
  return true;
}

async function takeOutRange(
  tx: Tx,
  report: FeedbackReportRow,
  start: number,
  end: number,
): Promise<void> {
  const rows = await tx
    .selectFrom('dmarc_rows')
    .select(['day', senderOf('dmarc_rows').as('sender')])
    .where('report_id', '=', report.id)
    .where('position', '>=', start)
    .where('position', '<', end)
    .where('address', 'is not', null)
    .distinct()
    .execute();
  await addSources(tx, report, start, end, -1);
  const { id } = report;
  if (report.status === REMOVED)
    await tx
      .deleteFrom('dmarc_rows')
      .where('report_id', '=', id)
      .where('position', '>=', start)
      .where('position', '<', end)
      .execute();
  else
    await tx
      .updateTable('dmarc_rows')
      .set({ counted: 0 })
      .where('report_id', '=', id)
      .where('position', '>=', start)
      .where('position', '<', end)
      .execute();
  const day = rows[0]?.day;
  if (day !== undefined)
    await deleteEmptySums(
      tx,
      { domain: report.domain_id!, day },
      rows.map(({ sender }) => `${report.domain_id} ${sender}`),
    );
}

/** All rows of a report have the same day. `ids`: of their addresses. */
async function deleteEmptySums(
  tx: Tx,
  { domain, day }: { domain: string; day: string },
  ids: string[],
): Promise<void> {
  await tx
    .deleteFrom('feedback_source_days')
    .where('domain_id', '=', domain)
    .where('day', '=', day)
    .where('messages', '<=', 0)
    .execute();
  await tx
    .deleteFrom('feedback_source_months')
    .where('domain_id', '=', domain)
    .where('month', '=', day.slice(0, 7))
    .where('messages', '<=', 0)
    .execute();
  const gone = await tx
    .deleteFrom('feedback_addresses')
    .where('id', 'in', ids)
    .where('messages', '<=', 0)
    .returning('source_id')
    .execute();
  for (const source of new Set(gone.map(({ source_id }) => source_id)))
    if (source !== null) await deleteIfEmpty(tx, source);
  const seen = (
    limit: 'min' | 'max',
  ) => sql<string>`(select ${sql.raw(limit)}(day) from dmarc_rows r
    where r.domain_id = feedback_addresses.domain_id and r.address = feedback_addresses.address
      and ${senderOf('r')} = r.address and r.counted = 1)`;
  // Without other rows that are kept, the days stay as they are known.
  for (const [column, limit] of [
    ['first_day', 'min'],
    ['last_day', 'max'],
  ] as const)
    await tx
      .updateTable('feedback_addresses')
      .set({ [column]: sql`coalesce(${seen(limit)}, ${sql.ref(column)})` })
      .where('id', 'in', ids)
      .where(column, '=', day)
      .execute();
}

/** Resumes removals that a crash interrupted. */
export const removeJob = (app: App): Job => ({
  name: 'feedback.remove',
  tick: '35 * * * * *',
  async run() {
    const removed = await app.db
      .selectFrom('feedback_reports')
      .select('id')
      .where('status', '=', REMOVED)
      .limit(100)
      .execute();
    for (const { id } of removed) await finishRemoval(app, id);
  },
});
