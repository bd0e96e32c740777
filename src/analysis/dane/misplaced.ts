/** TLSA records that senders do not find because a DNS panel appended the domain: to their name, or to the target of an alias. */

import { ownerOf } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Fix } from '../check.ts';
import { explainAppended, explainRepeated, meantName, repeatedZone } from '../dns/appended-zone.ts';
import { isFromWildcard } from '../dns/wildcard.ts';

export interface MisplacedTlsa {
  /** One full sentence. */
  problem: string;
  fix: Fix;
}

/** For a name without TLSA records; null if nothing shows that they are elsewhere. */
export async function findMisplacedTlsa(
  name: string,
  domain: string,
  resolver: Resolver,
): Promise<MisplacedTlsa | null> {
  // Others publish the records of their servers.
  if (!name.endsWith(`.${ownerOf(domain)}`)) return null;
  const [target] = recordsOf(await resolver(name, 'CNAME')) ?? [];
  if (target !== undefined) {
    const alias = target.toLowerCase().replace(/\.$/, '');
    const meant = await meantName(alias, domain, ['TLSA'], resolver);
    if (meant === null) return null;
    return {
      problem: `The alias ${name} leads to ${alias}, which has no TLSA records.`,
      fix: { text: explainAppended(alias, meant), record: { type: 'CNAME', name, value: meant } },
    };
  }
  const repeated = await repeatedZone(name, domain, () => true, resolver, 'TLSA');
  if (!repeated || (await isFromWildcard(repeated.name, 'TLSA', resolver))) return null;
  return {
    problem: `The TLSA records for ${name} are published at ${repeated.name}.`,
    // Nobody has read them until now, and senders refuse to deliver if they do not match.
    fix: {
      text: `${explainRepeated(name, repeated.name, domain)} First compare them with the certificate that the server has now. If they do not match, senders that use DANE will not deliver.`,
    },
  };
}
