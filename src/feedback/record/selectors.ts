/** The DKIM selectors that counted DMARC reports name, which the domain then has as learned ones. */

import { learnSelectors } from '../../domains/selectors.ts';
import type { Tx } from '../../store/open.ts';
import type { FeedbackReportRow } from '../../store/tables.generated.ts';

/** More than a domain keeps. */
const MAX_SIGNERS = 50;

/** Learns the selectors of the signatures with which mail of the domain passed, from stored rows of a report. */
export async function learnReportedSelectors(
  tx: Tx,
  { id, domain_id }: Pick<FeedbackReportRow, 'id' | 'domain_id'>,
  start: number,
  end: number,
): Promise<void> {
  const rows = await tx
    .selectFrom('dmarc_rows')
    .innerJoin('domains', (join) => join.on('domains.id', '=', domain_id))
    .select(({ fn }) => ['domains.name', 'dkim_domain', 'dkim_selector', fn.max('day').as('day')])
    .where('report_id', '=', id)
    .where('position', '>=', start)
    .where('position', '<', end)
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
    await learnSelectors(tx, {
      fromDomain: ofDay[0]!.name,
      signatures: ofDay.map(({ dkim_domain, dkim_selector }) => ({
        domain: dkim_domain ?? '',
        selector: dkim_selector ?? '',
      })),
      at: Date.parse(day),
    });
  }
}
