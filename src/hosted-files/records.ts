/** The DNS records that lead to the files of a domain. */

import { isIP } from 'node:net';
import type { Config } from '../config/config.ts';
import type { HostedFileRow } from '../store/tables.generated.ts';
import { bimiUrl, certificatePath, logoPath } from './bimi.ts';
import { type Policy, policyId } from './policy.ts';

export interface HostedRecord {
  type: string;
  name: string;
  value: string;
  /** A sentence. */
  purpose: string;
  /** The check of the domain that reads it. */
  check: 'mta_sts' | 'bimi';
}

/** The host comes first: the file has to be there before senders read its id. */
export function hostedRecords(
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  domain: string,
  { policy, logo, certificate }: Pick<HostedFileRow, 'policy' | 'logo' | 'certificate'>,
): HostedRecord[] {
  const host = new URL(BASE_URL).hostname.replace(/^\[|\]$/g, '');
  const type = { 0: 'CNAME', 4: 'A', 6: 'AAAA' }[isIP(host)]!;
  const hostOf = (prefix: string, file: string, check: HostedRecord['check']): HostedRecord => ({
    type,
    name: `${prefix}.${domain}`,
    value: host,
    purpose: `Leads to this service, which serves the ${file}.`,
    check,
  });
  const records: HostedRecord[] = [];
  if (policy !== null)
    records.push(hostOf('mta-sts', 'MTA-STS policy', 'mta_sts'), {
      type: 'TXT',
      name: `_mta-sts.${domain}`,
      value: `v=STSv1; id=${policyId(JSON.parse(policy) as Policy)}`,
      purpose: 'Tells senders to fetch the MTA-STS policy. The id changes with the policy.',
      check: 'mta_sts',
    });
  if (logo !== null) {
    const authority = certificate && bimiUrl(domain, certificatePath(certificate));
    records.push(hostOf('bimi', 'BIMI logo', 'bimi'), {
      type: 'TXT',
      name: `default._bimi.${domain}`,
      value: `v=BIMI1; l=${bimiUrl(domain, logoPath(logo))}${authority ? `; a=${authority}` : ''}`,
      purpose: 'Tells receivers where the logo is. Its URL changes with the logo.',
      check: 'bimi',
    });
  }
  return records;
}
