/** The newest id of any table. */

import type { Db } from './open.ts';

const TABLES_WITH_IDS = [
  'tests',
  'events',
  'messages',
  'members',
  'api_keys',
  'invitations',
  'sessions',
  'audit_log',
  'webhook_endpoints',
  'webhook_deliveries',
  'domains',
  'monitors',
  'monitor_runs',
  'alerts',
  'alert_incidents',
  'shared_reports',
  'report_schedules',
  'report_runs',
] as const;

/** Ids go on from here even where the clock has stepped back since the last run. */
export async function newestId(db: Db): Promise<string | undefined> {
  const newest = await Promise.all(
    TABLES_WITH_IDS.map((table) =>
      db.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    ),
  );
  const parts = newest.flatMap((row) => (row ? [row.id.slice(row.id.indexOf('_'))] : []));
  return parts.sort().at(-1);
}
