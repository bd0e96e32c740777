/** Schedules in the database: found, listed, and presented with what is not in their rows. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import { lastRuns, lastSentTimes } from './run-queries.ts';
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

type Named = Pick<ReportScheduleRow, 'domains'>;

const namedBy = ({ domains }: Named): string[] | null => domains && JSON.parse(domains);

/** Those that a schedule names and that are still there; null where it names none, which is all. */
export async function domainsOf(db: Db | Tx, row: Named): Promise<string[] | null> {
  const named = namedBy(row);
  const present = await presentDomains(db, named ?? []);
  return named?.filter((id) => present.has(id)) ?? null;
}

/** Of these ids, those of domains. */
export async function presentDomains(db: Db | Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('domains').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** By a fixed number of questions, however many they are. */
export async function presentSchedules(
  db: Db | Tx,
  rows: ReportScheduleRow[],
): Promise<Schedule[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const runs = new Map((await lastRuns(db, ids)).map((run) => [run.schedule_id, run]));
  const gone = Map.groupBy(await readersGone(db, ids), ({ schedule_id }) => schedule_id);
  const sent = await lastSentTimes(db, ids);
  const domains = await presentDomains(db, [...new Set(rows.flatMap((row) => namedBy(row) ?? []))]);
  return rows.map((row) =>
    presentSchedule({
      row,
      domains: namedBy(row)?.filter((id) => domains.has(id)) ?? null,
      lastStatus: runs.get(row.id)?.status ?? null,
      lastSentAt: sent.get(row.id) ?? null,
      unsubscribed: (gone.get(row.id) ?? []).map(({ email, left_at }) => ({ email, left_at })),
    }),
  );
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
