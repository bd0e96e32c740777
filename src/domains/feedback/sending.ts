/** Whether a stricter DMARC policy of a domain could lose mail: it is not parked then, whatever its DNS declares. */

import { sql } from 'kysely';
import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { DomainRow } from '../../store/tables.generated.ts';
import { storedRecords } from './records.ts';

const DAYS = 30;

export const maySend = async (
  app: Pick<App, 'clock'>,
  db: Db | Tx,
  domain: Pick<DomainRow, 'id'>,
): Promise<boolean> =>
  (await isReportedSending(app, db, domain)) || (await sendsBelow(db, domain.id));

/** Whether receivers have lately reported mail that passes, or mail of a source that is marked or shown to be the domain's. */
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

/** Whether the policy would apply to another domain of the team, below this one, that is not parked. */
async function sendsBelow(db: Db | Tx, id: string): Promise<boolean> {
  const below = await db
    .selectFrom('domains as parent')
    .innerJoin('domains as child', (join) =>
      join.on('child.name', 'like', sql<string>`'%.' || ${sql.ref('parent.name')}`),
    )
    .leftJoin('feedback_domains as found', 'found.id', 'child.id')
    .select('found.records')
    .where('parent.id', '=', id)
    .execute();
  return below.some(({ records }) => {
    const [dmarc] = storedRecords(records === null ? undefined : { records });
    return dmarc === undefined || (dmarc.current === null && dmarc.isParked !== true);
  });
}
