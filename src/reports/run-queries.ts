/** Runs of schedules and their copies in the database: listed, with what the outbox knows. */

import { type Page, pageOf } from '../http/schemas.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportRunRow } from '../store/report-tables.ts';
import { type CopyState, presentRun } from './run-present.ts';
import type { ReportRun } from './schedule-schema.ts';

/** One page, newest first. */
export async function listRuns(db: Db, scheduleId: string, page: Page) {
  return pageOf(
    db.selectFrom('report_runs').selectAll().where('schedule_id', '=', scheduleId),
    page,
  );
}

/** Runs with what became of each copy. */
export async function presentRuns(db: Db | Tx, rows: ReportRunRow[]): Promise<ReportRun[]> {
  if (rows.length === 0) return [];
  const copies = await db
    .selectFrom('report_copies as own')
    .leftJoin('outbox', 'outbox.id', 'own.mail_id')
    .selectAll('own')
    .select('outbox.error as mail_error')
    .where(
      'own.run_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('own.recipient')
    .execute();
  const of = Map.groupBy(copies as CopyState[], ({ run_id }) => run_id);
  return rows.map((row) => presentRun(row, of.get(row.id) ?? []));
}

/** The last run of each schedule that has one. */
export async function lastRuns(db: Db | Tx, scheduleIds: string[]): Promise<ReportRun[]> {
  if (scheduleIds.length === 0) return [];
  const rows = await db
    .selectFrom('report_runs')
    .selectAll()
    .where('id', 'in', (from) =>
      from
        .selectFrom('report_runs as run')
        .select(({ fn }) => fn.max('run.id').as('id'))
        .where('run.schedule_id', 'in', scheduleIds)
        .groupBy('run.schedule_id'),
    )
    .execute();
  return presentRuns(db, rows);
}

/** When the newest run was made of which a copy has gone out; null where there is none. */
export async function lastSentAt(db: Db | Tx, scheduleId: string): Promise<string | null> {
  const row = await db
    .selectFrom('report_runs as run')
    .select('run.created_at')
    .where('run.schedule_id', '=', scheduleId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('report_copies as copy')
          .select('copy.run_id')
          .whereRef('copy.run_id', '=', 'run.id')
          .where('copy.sent_at', 'is not', null),
      ),
    )
    .orderBy('run.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}
