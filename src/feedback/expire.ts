/** Deletes feedback past its retention period, that of deleted domains, and messages that need not be kept. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteFirstChunks, deleteLaterChunks, insertFirstChunk } from '../store/chunks.ts';
import { engineOf, LOCK_PREFIX, type Tx, transact } from '../store/open.ts';
import { inSteps } from '../store/steps.ts';
import type { FeedbackMailRow } from '../store/tables.generated.ts';
import { expireCounts } from './messages/counts.ts';
import { lockSources } from './sources/days.ts';
import { EMPTY_CONTENT, REPORT_STATUSES, type ReportStatus } from './status.ts';

/** For messages and files as they came, and for what was refused. */
const SOURCE_DAYS = 30;
/** For reports that do not count: long enough to compare weeks of them with those of others. */
const UNCOUNTED_DAYS = 90;

/** Deletes the bytes of a message, once its reports are recorded. Its row shows where they came from. */
export const dropContent = (
  app: Pick<App, 'db'>,
  mail: Pick<FeedbackMailRow, 'id' | 'size'>,
): Promise<void> => replaceContent(app, mail, null);

/**
 * Replaces the bytes with others, which must fit into one chunk; null deletes them. `changes` updates the row in the same
 * transaction.
 */
export async function replaceContent(
  { db }: Pick<App, 'db'>,
  { id, size }: Pick<FeedbackMailRow, 'id' | 'size'>,
  raw: Uint8Array | null,
  changes: Partial<FeedbackMailRow> = {},
): Promise<void> {
  const large = await transact(db, async (tx) => {
    const kept = { id, size: raw?.byteLength ?? 0 };
    const { numUpdatedRows } = await tx
      .updateTable('feedback_mails')
      .set({ ...changes, size: kept.size })
      .where('id', '=', id)
      .executeTakeFirst();
    const chunks = await deleteFirstChunks(tx, [{ id, size }]);
    if (raw && numUpdatedRows > 0n) await insertFirstChunk(tx, kept, raw);
    return chunks;
  });
  await deleteLaterChunks(db, large);
}

export const expireJob = (app: App): Job => ({
  name: 'feedback.expire',
  tick: '0 41 * * * *',
  run: () => expire(app),
});

export async function expire(app: App): Promise<void> {
  const { clock, config } = app;
  await deleteLocks(app);
  await deleteMails(app, isoTime(clock.now() - SOURCE_DAYS * DAY_MS));
  await deleteReports(app, isoTime(clock.now() - SOURCE_DAYS * DAY_MS), ['refused']);
  const retention = config.FEEDBACK_RETENTION || Number.POSITIVE_INFINITY;
  const uncounted = REPORT_STATUSES.filter((status) => status !== 'counted');
  const keptMs = Math.min(UNCOUNTED_DAYS * DAY_MS, retention);
  await deleteReports(app, isoTime(clock.now() - keptMs), uncounted);
  await deleteReporters(app, isoTime(clock.now() - SOURCE_DAYS * DAY_MS));
  if (config.FEEDBACK_RETENTION === 0) return;
  const cutoff = isoTime(clock.now() - config.FEEDBACK_RETENTION);
  await deleteBounces(app, cutoff);
  await emptyReports(app, cutoff);
  await expireCounts(app.db, cutoff.slice(0, 10));
}

/** Deletes the lock rows that earlier versions left, two for each report. */
async function deleteLocks({ db }: App): Promise<void> {
  if (engineOf(db) === 'sqlite') return;
  await inSteps(async (limit) => {
    const free = db
      .selectFrom('service_facts')
      .select('name')
      .where('name', 'like', `${LOCK_PREFIX}feedback %`)
      .limit(limit)
      .forUpdate()
      .skipLocked();
    const { numDeletedRows } = await db
      .deleteFrom('service_facts')
      .where('name', 'in', free)
      .executeTakeFirst();
    return Number(numDeletedRows);
  });
}

const deleteMails = ({ db }: App, cutoff: string): Promise<void> =>
  inSteps(async (limit) => {
    const { deleted, large } = await transact(db, async (tx) => {
      const old = await tx
        .selectFrom('feedback_mails')
        .select(['id', 'size'])
        .where('received_at', '<', cutoff)
        // What waits for DNS or for this process is read first.
        .where('due_at', 'is', null)
        .limit(limit)
        .execute();
      return { deleted: old.length, large: await deleteMailRows(tx, old) };
    });
    await deleteLaterChunks(db, large);
    return deleted;
  });

/** Returns what has more chunks to delete. */
export async function deleteMailRows(tx: Tx, mails: { id: string; size: number }[]) {
  if (mails.length === 0) return [];
  await tx
    .deleteFrom('feedback_mails')
    .where(
      'id',
      'in',
      mails.map(({ id }) => id),
    )
    .execute();
  return deleteFirstChunks(tx, mails);
}

/** A report has up to thousands of rows, which go first. */
const REPORT_STEPS = { first: 5, min: 1, max: 200 };

const deleteReports = ({ db }: App, cutoff: string, statuses: ReportStatus[]): Promise<void> =>
  inSteps(async (limit) => {
    const old = await db
      .selectFrom('feedback_reports')
      .select('id')
      .where('received_at', '<', cutoff)
      .where('status', 'in', statuses)
      .limit(limit)
      .execute();
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) await transact(db, (tx) => deleteReportRows(tx, ids));
    return ids.length;
  }, REPORT_STEPS);

/** Those without a report whom nobody has confirmed: anyone can become one. */
const deleteReporters = ({ db }: App, cutoff: string): Promise<void> =>
  inSteps(async (limit) => {
    const left = db
      .selectFrom('feedback_reporters')
      .select('id')
      .where('trusted', '=', 0)
      .where('last_at', '<', cutoff)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('feedback_reports')
              .select('feedback_reports.id')
              .whereRef('feedback_reports.reporter_id', '=', 'feedback_reporters.id'),
          ),
        ),
      )
      .limit(limit);
    const { numDeletedRows } = await db
      .deleteFrom('feedback_reporters')
      .where('id', 'in', left)
      // Not one whose next report is being stored.
      .where('last_at', '<', cutoff)
      .executeTakeFirst();
    return Number(numDeletedRows);
  });

/** Anyone can send bounces, so nothing of one is kept, not even its identity. */
const deleteBounces = ({ db }: App, cutoff: string): Promise<void> =>
  inSteps(async (limit) => {
    const old = await db
      .selectFrom('feedback_reports')
      .select(['id', 'file_identity'])
      .where('received_at', '<', cutoff)
      .where('status', '=', 'counted')
      .where('type', '=', 'bounce')
      .limit(limit)
      .execute();
    const ids = old.map(({ id }) => id);
    const files = old.map(({ file_identity }) => file_identity);
    if (ids.length > 0)
      await transact(db, async (tx) => {
        await tx
          .updateTable('feedback_reports')
          .set({ original_id: null })
          .where('file_identity', 'in', files)
          .where('original_id', 'in', ids)
          .execute();
        await deleteReportRows(tx, ids);
      });
    return ids.length;
  }, REPORT_STEPS);

/** What counted keeps its identity, so that another import of the same report is a duplicate: its sums stay. */
const emptyReports = ({ db }: App, cutoff: string): Promise<void> =>
  inSteps(async (limit) => {
    const old = await db
      .selectFrom('feedback_reports')
      .select('id')
      .where('received_at', '<', cutoff)
      .where('status', '=', 'counted')
      .where('content', '<>', EMPTY_CONTENT)
      .limit(limit)
      .execute();
    const ids = old.map(({ id }) => id);
    if (ids.length > 0)
      await transact(db, async (tx) => {
        const emptied = await tx
          .updateTable('feedback_reports')
          .set({ content: EMPTY_CONTENT, row_count: 0, stored_rows: 0, counted_rows: 0 })
          .where('id', 'in', ids)
          // Someone may have begun to delete one of them: its rows are still needed for that.
          .where('status', '=', 'counted')
          .returning('id')
          .execute();
        const own = emptied.map(({ id }) => id);
        if (own.length > 0) await deletePartsOf(tx, own);
      });
    return ids.length;
  }, REPORT_STEPS);

async function deletePartsOf(tx: Tx, ids: string[]): Promise<void> {
  for (const table of ['dmarc_rows', 'tls_failures', 'complaints', 'bounces'] as const)
    await tx.deleteFrom(table).where('report_id', 'in', ids).execute();
}

export async function deleteReportRows(tx: Tx, ids: string[]): Promise<void> {
  // The report first: that waits for rows that are being stored, so that the next statements see them.
  await tx.deleteFrom('feedback_reports').where('id', 'in', ids).execute();
  await deletePartsOf(tx, ids);
}

// Deleted domains. Their row in `feedback_domains` remains until everything else is deleted.

export const deleteRemovedJob = (app: App): Job => ({
  name: DELETE_JOB,
  tick: '50 * * * * *',
  run: () => deleteRemoved(app),
});

export const DELETE_JOB = 'feedback.delete-removed';

export async function deleteRemoved(app: App): Promise<void> {
  const removed = await app.db
    .selectFrom('feedback_domains')
    .leftJoin('domains', 'domains.id', 'feedback_domains.id')
    .select('feedback_domains.id')
    .where('domains.id', 'is', null)
    .execute();
  for (const { id } of removed) await deleteDomainFeedback(app, id);
}

const SUM_TABLES = [
  'feedback_source_days',
  'feedback_source_months',
  'feedback_sources',
  'feedback_message_sums',
  'dmarc_days',
  'tls_days',
] as const;

async function deleteDomainFeedback({ db }: App, domain: string): Promise<void> {
  await inSteps(async (limit) => {
    const reports = await db
      .selectFrom('feedback_reports')
      .select('id')
      .where('domain_id', '=', domain)
      .limit(limit)
      .execute();
    const ids = reports.map(({ id }) => id);
    if (ids.length > 0) await transact(db, (tx) => deleteReportRows(tx, ids));
    return ids.length;
  }, REPORT_STEPS);
  await inSteps(async (limit) => {
    const { deleted, large } = await transact(db, async (tx) => {
      const mails = await tx
        .selectFrom('feedback_mails')
        .select(['id', 'size'])
        .where('domain_id', '=', domain)
        .limit(limit)
        .execute();
      return { deleted: mails.length, large: await deleteMailRows(tx, mails) };
    });
    await deleteLaterChunks(db, large);
    return deleted;
  });
  await inSteps(async (limit) => {
    const found = await db
      .selectFrom('feedback_addresses')
      .select('id')
      .where('domain_id', '=', domain)
      .limit(limit)
      .execute();
    const ids = found.map(({ id }) => id);
    if (ids.length > 0) await db.deleteFrom('feedback_addresses').where('id', 'in', ids).execute();
    return ids.length;
  });
  await transact(db, async (tx) => {
    await lockSources(tx, domain);
    for (const table of SUM_TABLES)
      await tx.deleteFrom(table).where('domain_id', '=', domain).execute();
    await tx.deleteFrom('feedback_domains').where('id', '=', domain).execute();
  });
}
