/** Which addresses a domain calls its own: in its SPF record, without what it includes, and its mail servers of the same name. */

import { isLargeNetwork, networkOfTerm } from '../../analysis/spf/networks.ts';
import { isSpfRecord, parseSpfTerms } from '../../analysis/spf/record.ts';
import { inNetworks, type Network, normalizeAddress } from '../../lib/addresses.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { parseMx, type Resolver, recordsOf } from '../../net/dns/resolver.ts';

export interface OwnNetworks {
  contains(address: string): boolean;
}

const MAX_HOSTS = 10;

/** Throws if a lookup fails, because what is unknown is not foreign. */
export async function ownNetworksOf(resolver: Resolver, domain: string): Promise<OwnNetworks> {
  const owner = ownerOf(domain);
  const names = [...new Set([domain, owner])];
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const name of names) {
    const spf = (await recordsAt(resolver, name, 'TXT')).find(isSpfRecord);
    for (const term of spf === undefined ? [] : parseSpfTerms(spf)) {
      const network = networkOfTerm(term);
      if (network && !isLargeNetwork(term)) networks.push(network);
      if (term.name === 'a' && !term.isModifier)
        hosts.add(/^[^:]*:([^/]+)/.exec(term.text)?.[1] ?? name);
    }
    for (const text of await recordsAt(resolver, name, 'MX')) hosts.add(parseMx(text).exchange);
  }
  const own = [...hosts].filter((host) => ownerOf(host) === owner);
  const addresses = new Set<string>();
  for (const host of own.slice(0, MAX_HOSTS))
    for (const type of ['A', 'AAAA'] as const)
      for (const address of await recordsAt(resolver, host, type))
        addresses.add(normalizeAddress(address) ?? address);
  return {
    contains: (address) => addresses.has(address) || inNetworks(address, networks),
  };
}

async function recordsAt(
  resolver: Resolver,
  name: string,
  type: 'TXT' | 'MX' | 'A' | 'AAAA',
): Promise<string[]> {
  const records = recordsOf(await resolver(name, type));
  if (records === null) throw new Error(`Could not look up ${name} ${type}.`);
  return records;
}
