/** Includes with a misspelt name of the service that receives the mail of the domain. */

import { closestName } from '../../lib/closest-name.ts';
import { parseMx, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { serviceOfExchange } from '../sending-services/services-of-domain.ts';
import type { MistypedTerm } from './appended.ts';
import { isSpfRecord } from './record.ts';

/** More than any domain needs. Each costs a comparison for each include. */
const MAX_EXCHANGES = 20;

/** The parts of the record of a domain, and of those that it includes. */
interface Root {
  domain: string;
  children: { domain: string; via: string | null; state: string }[];
}

/** Only where the mail servers show which service was meant, and that name has a record. */
export async function misspeltIncludes(root: Root, resolver: Resolver): Promise<MistypedTerm[]> {
  const missing = root.children.filter(
    ({ via, state }) => state === 'missing' && /^[+\-?~]?include:/i.test(via!),
  );
  if (missing.length === 0) return [];
  const exchanges = recordsOf(await resolver(root.domain, 'MX')) ?? [];
  const names = exchanges.slice(0, MAX_EXCHANGES).flatMap((text) => {
    const spf = serviceOfExchange(parseMx(text).exchange.toLowerCase())?.spf;
    return spf?.kind === 'include' ? spf.includes : [];
  });
  const found = await Promise.all(
    missing.map(async ({ via, domain }): Promise<MistypedTerm[]> => {
      const target = closestName(domain, [...new Set(names)]);
      if (target === null || target === domain) return [];
      const isRecord = (recordsOf(await resolver(target, 'TXT')) ?? []).some(isSpfRecord);
      const meant = via!.replace(/:.*$/s, `:${target}`);
      return isRecord ? [{ mistake: 'misspelt', term: via!, target, meant }] : [];
    }),
  );
  return found.flat();
}
