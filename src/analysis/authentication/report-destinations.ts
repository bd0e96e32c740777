/** Where DMARC reports go: the addresses in `rua` and `ruf`, and whether they agreed to take them. */

import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/resolver.ts';
import { isDmarcRecord } from './dmarc-tags.ts';

/** More than any honest record names. */
const MAX_DESTINATIONS = 10;

export interface ReportAddress {
  uri: string;
  /** Of a mailto address, normalised; null for what no receiver can send a report to. */
  domain: string | null;
}

/** The addresses of a `rua` or `ruf` tag, the old size limits (`!10m`) taken off. */
export function reportAddresses(value: string): ReportAddress[] {
  return value
    .split(',')
    .map((uri) => uri.trim().replace(/!\d+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '')
    .map((uri) => ({ uri, domain: mailtoDomain(uri) }));
}

function mailtoDomain(uri: string): string | null {
  const address = /^mailto:([^?]*)/i.exec(uri)?.[1] ?? '';
  const at = address.lastIndexOf('@');
  if (at < 1 || /[\s!<>]/.test(address)) return null;
  return normalizeDomain(address.slice(at + 1));
}

export interface Destination {
  domain: string;
  /** Where its consent is published. */
  name: string;
  /** null: could not be found out. */
  authorized: boolean | null;
}

/**
 * Destinations outside the organization must consent, or receivers send them nothing: by
 * `<domain>._report._dmarc.<destination>` (RFC 9990 §4, formerly RFC 7489 §7.1). What belongs to the
 * same organization is left out; the Public Suffix List tells.
 */
export async function externalDestinations(
  recordDomain: string,
  addresses: ReportAddress[],
  resolver: Resolver,
): Promise<Destination[]> {
  const own = organizationalDomain(recordDomain) ?? recordDomain;
  const domains = new Set<string>();
  for (const { domain } of addresses)
    if (domain !== null && (organizationalDomain(domain) ?? domain) !== own) domains.add(domain);
  return Promise.all(
    [...domains].slice(0, MAX_DESTINATIONS).map(async (domain) => {
      const name = `${recordDomain}._report._dmarc.${domain}`;
      const answer = await resolver(name, 'TXT');
      const consents = answer.status === 'found' && answer.records.some(isDmarcRecord);
      return { domain, name, authorized: answer.status === 'error' ? null : consents };
    }),
  );
}
