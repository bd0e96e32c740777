/** Report destinations: the addresses in `rua` and `ruf`, and whether they consent to receive reports. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { isDmarcRecord, mailboxDomain } from './record.ts';

/** More than any legitimate record has. */
export const MAX_DESTINATIONS = 10;

export interface ReportAddress {
  uri: string;
  /** The normalized domain of a mailto address; null if reports cannot be sent to the URI. */
  domain: string | null;
}

/** The addresses of a `rua` or `ruf` tag, without the obsolete size limits (`!10m`). */
export function reportAddresses(value: string): ReportAddress[] {
  return value
    .split(',')
    .map((uri) => uri.trim().replace(/!\d+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '')
    .map((uri) => ({ uri, domain: mailtoDomain(uri) }));
}

function mailtoDomain(uri: string): string | null {
  return mailboxDomain(/^mailto:([^?]*)/i.exec(uri)?.[1] ?? '');
}

export interface Destination {
  domain: string;
  /** The DNS name at which its consent is published. */
  name: string;
  /** null: the lookup failed. */
  authorized: boolean | null;
}

/**
 * Destinations outside the organization must consent at `<domain>._report._dmarc.<destination>`, or
 * they receive no reports (RFC 9990 §4, formerly RFC 7489 §7.1). Omits destinations in the same
 * organization, according to the Public Suffix List.
 */
export async function externalDestinations(
  recordDomain: string,
  addresses: ReportAddress[],
  resolver: Resolver,
): Promise<Destination[]> {
  const ownOrganization = organizationalDomain(recordDomain) ?? recordDomain;
  const domains = new Set<string>();
  for (const { domain } of addresses)
    if (domain !== null && (organizationalDomain(domain) ?? domain) !== ownOrganization)
      domains.add(domain);
  return Promise.all(
    [...domains].slice(0, MAX_DESTINATIONS).map(async (domain) => {
      const name = `${recordDomain}._report._dmarc.${domain}`;
      const answer = await resolver(name, 'TXT');
      const consents = answer.status === 'found' && answer.records.some(isDmarcRecord);
      return { domain, name, authorized: answer.status === 'error' ? null : consents };
    }),
  );
}
