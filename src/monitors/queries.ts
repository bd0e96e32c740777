/** Monitors and their runs in the database: found and listed. */

import { type Page, pageOf } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import type { Db, Tx } from '../store/open.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';

/** Throws `not_found`. */
export async function monitorOr404(db: Db | Tx, id: string): Promise<MonitorRow> {
  const row = await db.selectFrom('monitors').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no monitor with this id.');
  return row;
}

/** One page, newest first. */
export async function listMonitors(db: Db, page: Page) {
  return pageOf(db.selectFrom('monitors').selectAll(), page);
}

const runsOf = (db: Db | Tx, monitorId: string) =>
  db.selectFrom('monitor_runs').selectAll().where('monitor_id', '=', monitorId);

/** One page, newest first. */
export async function listRuns(db: Db, monitorId: string, page: Page) {
  return pageOf(runsOf(db, monitorId), page);
}

/** Undefined before the first. */
export async function lastRun(db: Db | Tx, monitorId: string): Promise<MonitorRunRow | undefined> {
  return runsOf(db, monitorId).orderBy('id', 'desc').limit(1).executeTakeFirst();
}
