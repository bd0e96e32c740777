/** Queries on any table: deleting in batches, limits on the number of rows, the newest id. */

import type { SelectQueryBuilder } from 'kysely';
import { AppError } from '../lib/errors.ts';
import type { Db } from './open.ts';

const DELETE_BATCH = 1000;

/** A few at a time, so that a large backlog never stops the process. `old` selects the ids of all that is to go. */
export async function deleteInBatches<DB, TB extends keyof DB>(
  db: Db,
  table:
    | 'events'
    | 'outbox'
    | 'monitor_runs'
    | 'alert_notifications'
    | 'report_runs'
    | 'shared_reports',
  old: SelectQueryBuilder<DB, TB, { id: string }>,
): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where('id', 'in', old.limit(DELETE_BATCH))
      .executeTakeFirstOrThrow();
    if (numDeletedRows < DELETE_BATCH) return;
  }
}

// How many of a kind there may be: lists that each result is held against, or that one person could fill.

/**
 * To be called in the transaction that adds one to `rows`, of which there may be `max`; `things` is
 * their plural, `advice` what may be done instead of deleting one. Throws `conflict`.
 */
export async function requireBelowLimit<DB, TB extends keyof DB>(
  rows: SelectQueryBuilder<DB, TB, object>,
  { max, things, advice = '' }: { max: number; things: string; advice?: string },
): Promise<void> {
  const row = await rows
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  // A builder that is generic in its tables does not carry the type of what it selects.
  if (Number((row as { count: number }).count) < max) return;
  throw new AppError(
    'conflict',
    `There are ${max} ${things}, and there can be no more: delete one that is no longer needed${advice}.`,
  );
}

// The newest id of any table.

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
