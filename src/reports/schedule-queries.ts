/** Schedules in the database: found, listed, and presented with what is not in their rows. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { lastRuns, lastSentAt } from './run-queries.ts';
import { presentSchedule } from './schedule-present.ts';
import type { Schedule } from './schedule-schema.ts';

/** Throws `not_found`. */
export async function scheduleOr404(db: Db | Tx, id: string): Promise<ReportScheduleRow> {
  const row = await db
    .selectFrom('report_schedules')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no report schedule with this id.');
  return row;
}

/** One page, newest first. */
export async function listSchedules(db: Db, page: Page) {
  return pageOf(db.selectFrom('report_schedules').selectAll(), page);
}

/** Those that a schedule names and that are still there; null where it names none, which is all. */
export async function domainsOf(
  db: Db | Tx,
  { domains }: Pick<ReportScheduleRow, 'domains'>,
): Promise<string[] | null> {
  if (domains === null) return null;
  const named: string[] = JSON.parse(domains);
  const present = await presentDomains(db, named);
  return named.filter((id) => present.has(id));
}

/** Of these ids, those of domains. */
export async function presentDomains(db: Db | Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('domains').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

export async function presentSchedules(
  db: Db | Tx,
  rows: ReportScheduleRow[],
): Promise<Schedule[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const runs = new Map((await lastRuns(db, ids)).map((run) => [run.schedule_id, run]));
  const gone = Map.groupBy(await readersGone(db, ids), ({ schedule_id }) => schedule_id);
  const presented: Schedule[] = [];
  for (const row of rows)
    presented.push(
      presentSchedule({
        row,
        domains: await domainsOf(db, row),
        lastStatus: runs.get(row.id)?.status ?? null,
        lastSentAt: await lastSentAt(db, row.id),
        unsubscribed: (gone.get(row.id) ?? []).map(({ email, left_at }) => ({ email, left_at })),
      }),
    );
  return presented;
}

function readersGone(db: Db | Tx, ids: string[]) {
  return db
    .selectFrom('report_readers')
    .select(['schedule_id', 'email', 'left_at'])
    .where('schedule_id', 'in', ids)
    .where('left_at', 'is not', null)
    .$narrowType<{ left_at: string }>()
    .orderBy('left_at')
    .orderBy('email')
    .execute();
}
