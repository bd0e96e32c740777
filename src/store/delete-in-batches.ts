/** Deletes many rows a few at a time, so that a large backlog never stops the process. */

import type { SelectQueryBuilder } from 'kysely';
import type { Db } from './open.ts';

const BATCH = 1000;

/** `old` selects the ids of all that is to go. */
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
      .where('id', 'in', old.limit(BATCH))
      .executeTakeFirstOrThrow();
    if (numDeletedRows < BATCH) return;
  }
}
