/** The DKIM selectors that counted DMARC reports name, which the domain then has as learned ones. */

import { learnSelectors } from '../../domains/selectors.ts';
import { type Db, transact } from '../../store/open.ts';
import { untilAvailable } from '../../store/until-available.ts';

/** More than a domain keeps. */
const MAX_SIGNERS = 50;

/**
 * Learns the selectors of the signatures with which mail of the domain passed, from the counted rows of reports.
 * In a transaction of its own, because the one that records a report shares the domain, and so must not change it.
 */
export async function learnReportedSelectors(db: Db, reports: string[]): Promise<void> {
  if (reports.length === 0) return;
  const rows = await db
    .selectFrom('dmarc_rows')
    .innerJoin('domains', 'domains.id', 'dmarc_rows.domain_id')
    .select(({ fn }) => ['domains.name', 'dkim_domain', 'dkim_selector', fn.max('day').as('day')])
    .where('report_id', 'in', reports)
    .where('counted', '=', 1)
    .where('dkim', '=', 'pass')
    .where('dkim_result', '=', 'pass')
    .where('dkim_selector', 'is not', null)
    .groupBy(['domains.name', 'dkim_domain', 'dkim_selector'])
    .orderBy('day', 'desc')
    .orderBy('dkim_selector')
    .limit(MAX_SIGNERS)
    .execute();
  const groups = Map.groupBy(rows, ({ name, day }) => `${day} ${name}`);
  for (const ofDay of groups.values()) {
    const [{ name, day }] = ofDay as [(typeof rows)[number]];
    const sighting = {
      fromDomain: name,
      signatures: ofDay.map(({ dkim_domain, dkim_selector }) => ({
        domain: dkim_domain ?? '',
        selector: dkim_selector ?? '',
      })),
      at: Date.parse(day),
    };
    await untilAvailable(() => transact(db, (tx) => learnSelectors(tx, sighting)));
  }
}
