/** Whether receivers have recently reported passing mail of a domain. Then it is not parked, whatever its DNS declares. */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { DomainRow } from '../../store/tables.generated.ts';

const DAYS = 30;

export async function isReportedPassing(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  { id }: Pick<DomainRow, 'id'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('dmarc_days')
    .select('day')
    .where('domain_id', '=', id)
    .where('day', '>=', isoTime(clock.now() - DAYS * DAY_MS).slice(0, 10))
    .where('passed', '>', 0)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
