/** Queries on any table: text in a column, deleting in steps, limits on the number of rows, the newest id. */

import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { AppError } from '../lib/errors.ts';
import { type Db, lockName, type Tx } from './open.ts';
import { inSteps } from './steps.ts';
import { TABLES_WITH_IDS } from './tables.generated.ts';

/** Whether a column in lower case contains this text, which is in lower case too. */
export const contains = (column: string, text: string) =>
  sql<SqlBool>`${sql.ref(column)} like ${`%${text.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

/** Deletes rows in steps, so that a large backlog does not block the process. `expired` selects the ids of all rows to delete. */
export async function deleteInSteps<DB, TB extends keyof DB>(
  db: Db,
  table:
    | 'events'
    | 'outbox'
    | 'monitor_runs'
    | 'alert_notifications'
    | 'report_runs'
    | 'shared_reports',
  expired: SelectQueryBuilder<DB, TB, { id: string }>,
): Promise<void> {
  await inSteps(async (limit) => {
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where('id', 'in', expired.limit(limit))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}

// Limits on the number of rows that a team may create.

/**
 * Throws `conflict` if `rows` has `max` rows or more. Call it in the transaction that adds a row: others
 * that add one wait until it ends. `noun` is the plural noun for the rows; `advice` is an alternative to
 * deleting one.
 */
export async function requireBelowLimit<DB, TB extends keyof DB>(
  tx: Tx,
  rows: SelectQueryBuilder<DB, TB, object>,
  { max, noun, advice = '' }: { max: number; noun: string; advice?: string },
): Promise<void> {
  await lockName(tx, `limit of ${noun}`);
  const row = await rows
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  // A builder with generic tables loses the type of its selection.
  if (Number((row as { count: number }).count) < max) return;
  throw new AppError(
    'conflict',
    `You have reached the limit of ${max} ${noun}. Delete one that you no longer need${advice}.`,
  );
}

// The newest id of any table.

/** The newest id of all tables, without its prefix. New ids continue from it even if the clock was set back. */
export async function newestId(db: Db): Promise<string | undefined> {
  const newest = await Promise.all(
    TABLES_WITH_IDS.map((table) =>
      db.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    ),
  );
  const suffixes = newest.flatMap((row) => (row ? [row.id.slice(row.id.indexOf('_'))] : []));
  return suffixes.sort().at(-1);
}
