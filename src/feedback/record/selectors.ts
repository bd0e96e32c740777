/** The DKIM selectors that counted DMARC reports name, which the domain then has as learned ones. */

import { learnSelectors } from '../../domains/selectors.ts';
import { type Db, transact } from '../../store/open.ts';
import { untilAvailable } from '../../store/until-available.ts';

/** More than a domain keeps. */
const MAX_SIGNERS = 50;

/**
 * Learns the selectors of the signatures with which mail of the domain passed, from the counted rows of a report.
 * In a transaction of its own, because the one that records a report shares the domain, and so must not change it.
 */
export async function learnReportedSelectors(db: Db, report: string): Promise<void> {
  const rows = await db
    .selectFrom('dmarc_rows')
    .innerJoin('domains', 'domains.id', 'dmarc_rows.domain_id')
    .select(({ fn }) => ['domains.name', 'dkim_domain', 'dkim_selector', fn.max('day').as('day')])
    .where('report_id', '=', report)
    .where('counted', '=', 1)
    .where('dkim', '=', 'pass')
    .where('dkim_result', '=', 'pass')
    .where('dkim_selector', 'is not', null)
    .groupBy(['domains.name', 'dkim_domain', 'dkim_selector'])
    .orderBy('day', 'desc')
    .orderBy('dkim_selector')
    .limit(MAX_SIGNERS)
    .execute();
  for (const day of new Set(rows.map((row) => row.day))) {
    const ofDay = rows.filter((row) => row.day === day);
    const sighting = {
      fromDomain: ofDay[0]!.name,
      signatures: ofDay.map(({ dkim_domain, dkim_selector }) => ({
        domain: dkim_domain ?? '',
        selector: dkim_selector ?? '',
      })),
      at: Date.parse(day),
    };
    await untilAvailable(() => transact(db, (tx) => learnSelectors(tx, sighting)));
  }
}
