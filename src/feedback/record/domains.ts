/** The domains of the team that reports are about. */

import { findDomainOf, findDomain as shareDomain } from '../../domains/queries.ts';
import type { Db, Tx } from '../../store/open.ts';

interface NamedDomains {
  /** The domains that the report names. The first one of the team counts. */
  domains: string[];
  /** The ID of the domain to whose feedback address the report was sent, for reports that name no domain. */
  addressed: string | null;
}

/** The ID of each report's domain, or null. In a transaction, these domains cannot be deleted until it ends. */
export async function findDomains(
  db: Db | Tx,
  reports: NamedDomains[],
): Promise<(string | null)[]> {
  const named = new Map<string, string>();
  for (const name of new Set(reports.flatMap(({ domains }) => domains))) {
    const domain = await findDomainOf(db, name);
    if (domain) named.set(name, domain.id);
  }
  const ids = reports.map(({ domains, addressed }) => {
    const own = domains.find((name) => named.has(name));
    return own !== undefined ? named.get(own)! : domains.length > 0 ? null : addressed;
  });
  const existing = new Set<string | null>();
  // Locked in this order to avoid deadlocks.
  for (const id of [...new Set(ids)].filter((id) => id !== null).sort())
    if (await shareDomain(db, id)) existing.add(id);
  return ids.map((id) => (existing.has(id) ? id : null));
}
