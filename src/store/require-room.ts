/** How many of a kind there may be: lists that each result is held against, or that one person could fill. */

import type { SelectQueryBuilder } from 'kysely';
import { AppError } from '../lib/errors.ts';

/**
 * To be called in the transaction that adds one to `rows`, of which there may be `most`; `things` is
 * their plural, `advice` what may be done instead of deleting one. Throws `conflict`.
 */
export async function requireRoom<DB, TB extends keyof DB>(
  rows: SelectQueryBuilder<DB, TB, object>,
  { most, things, advice = '' }: { most: number; things: string; advice?: string },
): Promise<void> {
  const row = await rows
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  // A builder that is generic in its tables does not carry the type of what it selects.
  if (Number((row as { count: number }).count) < most) return;
  throw new AppError(
    'conflict',
    `There are ${most} ${things}, and there can be no more: delete one that is no longer needed${advice}.`,
  );
}
