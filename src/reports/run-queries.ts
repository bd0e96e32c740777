/** Runs of schedules and their copies in the database: listed, with what the outbox knows. */

import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { GIVE_UP_MS } from '../outbox/expire.ts';
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

/** A copy is not sent later than this after its run: the outbox has given it up by then. */
const LATEST_COPY_MS = GIVE_UP_MS + 86_400_000;

/** When the server last took a copy, by schedule; none where it has taken none. */
export async function lastSentTimes(
  db: Db | Tx,
  scheduleIds: string[],
): Promise<Map<string, string>> {
  const newest = await newestSent(db, scheduleIds);
  if (newest.length === 0) return new Map();
  // A copy that was tried again may have gone out after those of the next run.
  const rows = await db
    .selectFrom('report_runs as run')
    .innerJoin('report_copies as copy', 'copy.run_id', 'run.id')
    .select(({ fn }) => ['run.schedule_id', fn.max('copy.sent_at').as('sent_at')])
    .where(({ eb, and, or }) =>
      or(
        newest.map(({ schedule_id, created_at }) =>
          and([
            eb('run.schedule_id', '=', schedule_id),
            eb('run.created_at', '>=', isoTime(Date.parse(created_at) - LATEST_COPY_MS)),
          ]),
        ),
      ),
    )
    .groupBy('run.schedule_id')
    .execute();
  return new Map(rows.map(({ schedule_id, sent_at }) => [schedule_id, sent_at!]));
}

/** Of each schedule, when the newest run was made of which a copy has gone out: read from the newest on. */
async function newestSent(db: Db | Tx, scheduleIds: string[]) {
  const rows = await db
    .selectFrom('report_schedules as schedule')
    .select('schedule.id as schedule_id')
    .select(({ selectFrom }) =>
      selectFrom('report_runs as run')
        .select('run.created_at')
        .whereRef('run.schedule_id', '=', 'schedule.id')
        .where((inner) =>
          inner.exists(
            inner
              .selectFrom('report_copies as copy')
              .select('copy.run_id')
              .whereRef('copy.run_id', '=', 'run.id')
              .where('copy.sent_at', 'is not', null),
          ),
        )
        .orderBy('run.id', 'desc')
        .limit(1)
        .as('created_at'),
    )
    .where('schedule.id', 'in', scheduleIds)
    .execute();
  return rows.flatMap(({ schedule_id, created_at }) =>
    created_at === null ? [] : [{ schedule_id, created_at }],
  );
}
