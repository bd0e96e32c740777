/** Whether receivers have lately reported own mail of a domain: it is not parked then, whatever its DNS declares. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { DomainRow } from '../../store/tables.generated.ts';

const DAYS = 30;

/** Mail that passes, or of a sender that is the domain's own: someone said so, or something shows it. */
export async function isReportedSending(
  { clock }: Pick<App, 'clock'>,
  db: Db | Tx,
  { id }: Pick<DomainRow, 'id'>,
): Promise<boolean> {
  const since = isoTime(clock.now() - DAYS * DAY_MS).slice(0, 10);
  const passing = await db
    .selectFrom('dmarc_days')
    .select('day')
    .where('domain_id', '=', id)
    .where('day', '>=', since)
    .where('passed', '>', 0)
    .limit(1)
    .executeTakeFirst();
  if (passing) return true;
  const own = await db
    .selectFrom('feedback_sources as source')
    .select('source.id')
    .where('domain_id', '=', id)
    .where(sql<boolean>`(mark = 'own' or mark is null and (claim is not null or key like 'own %'))`)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('feedback_source_days as sums')
          .select('day')
          .whereRef('sums.source_id', '=', 'source.id')
          .where('day', '>=', since)
          .where('messages', '>', 0),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return own !== undefined;
}
