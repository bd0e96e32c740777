/** Which domain of the team a report is about. */

import { findDomainOf, findDomain as shareDomain } from '../../domains/queries.ts';
import type { Db, Tx } from '../../store/open.ts';
import type { PreparedReport } from '../thread/prepare.ts';

/** The domain of the team that the report is about. One that names none is about the domain whose address it was sent to. */
export async function findDomain(
  tx: Db | Tx,
  addressed: string | null,
  { domains }: Pick<PreparedReport, 'domains'>,
): Promise<{ id: string } | null> {
  for (const name of domains) {
    const domain = await findDomainOf(tx, name);
    // Until the transaction ends, it cannot be deleted.
    if (domain) return (await shareDomain(tx, domain.id)) ?? null;
  }
  if (domains.length > 0 || addressed === null) return null;
  return (await shareDomain(tx, addressed)) ?? null;
}
