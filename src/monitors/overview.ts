/** The monitors that need attention. */

import type { Db } from '../store/open.ts';
import type { MonitorRow } from '../store/tables.generated.ts';

/** Monitors whose last run found a problem, by name. */
export async function listAlertingMonitors(
  db: Db,
  limit: number,
): Promise<Pick<MonitorRow, 'id' | 'name' | 'last_run_at'>[]> {
  return db
    .selectFrom('monitors')
    .select(['id', 'name', 'last_run_at'])
    .where('status', '=', 'alerting')
    .orderBy('name')
    .orderBy('id')
    .limit(limit)
    .execute();
}
