/** When a source is new: one rule for pages, filters, summaries and alerts. */

import type { Db, Tx } from '../../store/open.ts';
import { dayBefore } from '../sums.ts';

/** So many days without messages make a source new when it sends again. */
export const UNSEEN_DAYS = 60;
/** When reports begin, they show every source for the first time. So many of the unseen days must have reports. */
const REPORTED_DAYS = 14;

/** The days of a source, which count by what the reports are about, and not by when they arrived. */
export interface Appearance {
  /** Its first day with messages in the period; null if there is none. */
  first: string | null;
  /** Its last day with messages before that; null if there is none. */
  previous: string | null;
}

/**
 * Whether the source is new on its first day in the period. `reportDays`: the days with reports about its domain, from
 * `UNSEEN_DAYS` before the period on.
 */
export function isNew({ first, previous }: Appearance, reportDays: string[]): boolean {
  if (first === null) return false;
  const unseenFrom = dayBefore(first, UNSEEN_DAYS);
  if (previous !== null && previous >= unseenFrom) return false;
  const reported = reportDays.filter((day) => day >= unseenFrom && day < first);
  return reported.length >= REPORTED_DAYS;
}

/** The days with reports about domains, by ID, as `isNew` needs them for a period from this day on. */
export async function reportDaysOf(
  db: Db | Tx,
  domains: string[],
  { from, to }: { from: string; to: string },
): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('dmarc_days')
    .select(['domain_id', 'day'])
    .where('domain_id', 'in', domains)
    .where('day', '>=', dayBefore(from, UNSEEN_DAYS))
    .where('day', '<=', to)
    .where('messages', '>', 0)
    .execute();
  return new Map(
    [...Map.groupBy(rows, ({ domain_id }) => domain_id)].map(([id, found]) => [
      id,
      found.map(({ day }) => day),
    ]),
  );
}
