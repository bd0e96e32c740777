/**
 * Tenants: customers of a service that share its servers, so that the IP address identifies none of them. For a customer without
 * a DKIM key of its own, the service signs with the name of the tenant. Failing messages with such a signature count for the
 * tenant, as if its name were their address.
 */

import { type RawBuilder, sql } from 'kysely';
import type { SendingService } from '../../analysis/sending-services/service.ts';
import { serviceOfSigner } from '../../analysis/sending-services/services.ts';
import { ownerOf } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import type { Db } from '../../store/open.ts';
import type { DomainRow, FeedbackAddressRow } from '../../store/tables.generated.ts';
import type { FeedbackRow } from '../schemas/report.ts';
import { isTenant, TENANT_DOMAINS } from './tenant-domains.ts';

/** SQL: the condition of the partial index `dmarc_rows_signer`. */
const failsSigned = (row: string) =>
  sql`${sql.ref(`${row}.outcome`)} = 'fail' and ${sql.ref(`${row}.dkim_result`)} = 'pass'`;

/** SQL: the tenant of a row, or else its address. Null in rows without an address, which sum up others. */
export const senderOf = (row: string): RawBuilder<string | null> => {
  const signer = sql.ref(`${row}.dkim_domain`);
  const ends = TENANT_DOMAINS.map((domain) => sql`${signer} like ${sql.lit(`%.${domain}`)}`);
  return sql`(case when ${sql.ref(`${row}.address`)} is not null and ${failsSigned(row)}
    and (${sql.join(ends, sql` or `)}) then ${signer} else ${sql.ref(`${row}.address`)} end)`;
};

/** The same of a row that a response shows. */
export const senderOfRow = ({
  address,
  outcome,
  dkim_result,
  dkim_domain,
}: Pick<FeedbackRow, 'address' | 'outcome' | 'dkim_result' | 'dkim_domain'>): string | null =>
  address !== null &&
  outcome === 'fail' &&
  dkim_result === 'pass' &&
  dkim_domain !== null &&
  isTenant(dkim_domain)
    ? dkim_domain
    : address;

/** SQL: whether a row counts for this address or tenant. Together with the domain, an index covers it. */
export const isSentBy = (row: string, address: string): RawBuilder<boolean> =>
  isTenant(address)
    ? sql`${sql.ref(`${row}.counted`)} = 1 and ${failsSigned(row)}
        and ${sql.ref(`${row}.dkim_domain`)} = ${address} and ${sql.ref(`${row}.address`)} is not null`
    : sql`${sql.ref(`${row}.counted`)} = 1 and ${sql.ref(`${row}.address`)} = ${address}
        and ${senderOf(row)} = ${address}`;

type Domain = Pick<DomainRow, 'id' | 'name'>;

/** The service of a tenant, and whether the tenant is the domain's own. Throws if a DNS lookup fails. */
export async function tenantOf(
  db: Db,
  resolver: Resolver,
  domain: Domain,
  { address }: Pick<FeedbackAddressRow, 'address'>,
): Promise<{ service: SendingService; isOwn: boolean }> {
  const isOwn =
    isNamedAfter(address, domain.name) ||
    (await isKeyTarget(resolver, domain.name, address)) ||
    (await passes(db, domain.id, address));
  return { service: serviceOfSigner(address)!, isOwn };
}

/** Google names tenants after their main domain: `example-com.20230601.gappssmtp.com`. Microsoft lets anyone choose a name. */
const isNamedAfter = (tenant: string, domain: string): boolean =>
  tenant.endsWith('.gappssmtp.com') &&
  [domain, ownerOf(domain)].some((name) => tenant.split('.')[0] === name.replaceAll('.', '-'));

/** Microsoft 365 publishes the keys of a domain below the name of its tenant. */
async function isKeyTarget(resolver: Resolver, domain: string, tenant: string): Promise<boolean> {
  for (const selector of ['selector1', 'selector2']) {
    const targets = recordsOf(await resolver(`${selector}._domainkey.${domain}`, 'CNAME'));
    if (targets === null) throw new Error(`Could not look up the DKIM keys of ${domain}.`);
    if (targets.some((target) => target.toLowerCase().endsWith(`._domainkey.${tenant}`)))
      return true;
  }
  return false;
}

const MAX_ADDRESSES = 20;

/** Whether messages with the signature of the tenant pass, from servers that also send those that fail. */
async function passes(db: Db, domainId: string, tenant: string): Promise<boolean> {
  const servers = await db
    .selectFrom('dmarc_rows as r')
    .select('r.address')
    .distinct()
    .where('r.domain_id', '=', domainId)
    .where(isSentBy('r', tenant))
    .limit(MAX_ADDRESSES)
    .execute();
  const addresses = servers.flatMap(({ address }) => address ?? []);
  if (addresses.length === 0) return false;
  const row = await db
    .selectFrom('dmarc_rows')
    .select('report_id')
    .where('domain_id', '=', domainId)
    .where('address', 'in', addresses)
    .where('counted', '=', sql.lit(1))
    .where('outcome', '=', 'pass')
    .where('dkim_domain', '=', tenant)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
