/** Domains to which no mail can be delivered, so reports sent there are lost. */

import { parseMx, type RecordType, type Resolver } from '../../net/dns/resolver.ts';
import { meantName } from './appended-zone.ts';

/** Senders rarely try more hosts. */
const MAX_HOSTS = 5;

export interface Undeliverable {
  domain: string;
  /** What is missing, as a clause that follows the domain. */
  why: string;
  /** The domain that was meant, if the domain of the sender was appended to it; else null. */
  meant: string | null;
}

/**
 * Null if mail can be delivered, or if that is not known. Two questions for a domain that has an MX record with an address.
 * `sender`: the domain whose record names this one.
 */
export async function undeliverable(
  domain: string,
  sender: string,
  resolver: Resolver,
): Promise<Undeliverable | null> {
  const why = await obstacle(domain, resolver);
  if (why === null) return null;
  return { domain, why, meant: await meantName(domain, sender, ['MX', 'A'], resolver) };
}

async function obstacle(domain: string, resolver: Resolver): Promise<string | null> {
  const answer = await resolver(domain, 'MX');
  if (answer.status === 'error') return null;
  if (answer.status === 'nxdomain') return 'does not exist in DNS';
  if (answer.status === 'nodata')
    return (await isWithoutAddress(domain, resolver)) ? 'has no mail server' : null;
  const hosts = answer.records
    .map((text) => parseMx(text).exchange)
    .filter((exchange) => exchange !== '.');
  if (hosts.length === 0) return 'accepts no mail: it has a null MX record';
  for (const host of hosts.slice(0, MAX_HOSTS))
    if (!(await isWithoutAddress(host, resolver))) return null;
  return 'has only mail servers without an address';
}

const ADDRESS_TYPES: RecordType[] = ['A', 'AAAA'];

/** False if it has one, or if that is not known. */
async function isWithoutAddress(name: string, resolver: Resolver): Promise<boolean> {
  for (const type of ADDRESS_TYPES) {
    const { status } = await resolver(name, type);
    if (status === 'found' || status === 'error') return false;
  }
  return true;
}
