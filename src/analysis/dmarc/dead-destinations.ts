/** Report addresses of a DMARC record at domains that take no mail. */

import type { Resolver } from '../../net/dns/resolver.ts';
import { type Undeliverable, undeliverable } from '../dns/undeliverable.ts';

/** `recordDomain`: the domain of the record. */
export async function deadDestinations(
  addresses: { domain: string | null }[],
  recordDomain: string,
  resolver: Resolver,
): Promise<Undeliverable[]> {
  const domains = new Set(addresses.flatMap(({ domain }) => domain ?? []));
  const found = await Promise.all(
    [...domains].map((domain) => undeliverable(domain, recordDomain, resolver)),
  );
  return found.filter((one) => one !== null);
}

/** The record without the domain that a DNS panel appended to that of an address. */
export const withMeantDomains = (record: string, dead: Undeliverable[]): string =>
  dead.reduce(
    (text, { domain, meant }) =>
      meant === null ? text : text.replaceAll(`@${domain}`, `@${meant}`),
    record,
  );

/** `hasRecord`: a record is proposed, which leaves out the domain. `steps`: for its mailbox, with a space before them. */
export const explainDead = (
  { domain, why, meant }: Undeliverable,
  hasRecord: boolean,
  steps: string,
) => ({
  text: `DMARC reports to addresses at ${domain} cannot be delivered.`,
  detail: `${domain} ${why}, so these reports are lost.`,
  fix:
    meant !== null
      ? `Publish the record with ${meant} instead of ${domain}: your domain was appended to the address.${steps}`
      : hasRecord
        ? `Publish the record without the address at ${domain}, or set up mail for ${domain}.${steps}`
        : `Set up mail for ${domain}, or change the record to an address that receives mail.`,
});
