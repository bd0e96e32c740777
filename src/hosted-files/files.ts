/** What is stored for a domain, as files with URLs, and the DNS records that lead to them. */

import { isIP } from 'node:net';
import { stsPolicyUrl } from '../analysis/checks/mta-sts.ts';
import type { App } from '../app.ts';
import { sha256 } from '../lib/crypto.ts';
import type { Db, Tx } from '../store/open.ts';
import type { HostedFileRow } from '../store/tables.generated.ts';
import { type Policy, policyId, policyText } from './policy.ts';

/** Of a domain without files, too. */
export async function hostedFilesOf(db: Db | Tx, domain_id: string): Promise<HostedFileRow> {
  const row = await db
    .selectFrom('hosted_files')
    .selectAll()
    .where('domain_id', '=', domain_id)
    .executeTakeFirst();
  return row ?? { domain_id, policy: null, logo: null, certificate: null };
}

export const policyOf = ({ policy }: Pick<HostedFileRow, 'policy'>): Policy | null =>
  policy === null ? null : JSON.parse(policy);

export interface HostedFile {
  check: 'mta_sts' | 'bimi';
  url: string;
  type: string;
  body: string;
}

/** The names of logos and certificates change with their content, because receivers keep what they have fetched. */
export function filesOf(domain: string, row: HostedFileRow): HostedFile[] {
  const policy = policyOf(row);
  const named = (name: string, extension: string) => (body: string) =>
    `https://bimi.${domain}/${name}-${sha256(body).slice(0, 16)}.${extension}`;
  const files = [
    ['mta_sts', 'text/plain', policy && policyText(policy), () => stsPolicyUrl(domain)],
    ['bimi', 'image/svg+xml', row.logo, named('logo', 'svg')],
    // RFC 8555 §9.1.
    ['bimi', 'application/pem-certificate-chain', row.certificate, named('certificate', 'pem')],
  ] as const;
  return files.flatMap(([check, type, body, urlOf]) =>
    body === null ? [] : [{ check, type, body, url: urlOf(body) }],
  );
}

/** The host comes before the record of its file: senders that read a new id fetch the policy. */
export function hostedRecords({ config }: Pick<App, 'config'>, domain: string, row: HostedFileRow) {
  const value = new URL(config.BASE_URL).hostname.replace(/^\[|\]$/g, '');
  const type = { 0: 'CNAME', 4: 'A', 6: 'AAAA' }[isIP(value)]!;
  const policy = policyOf(row);
  const bimi = filesOf(domain, row).flatMap(({ check, url }) => (check === 'bimi' ? [url] : []));
  const recordsOf = (check: HostedFile['check'], host: string, name: string, text: string) => [
    { check, type, name: `${host}.${domain}`, value, purpose: 'Points to this service.' },
    {
      check,
      type: 'TXT',
      name: `${name}.${domain}`,
      value: text,
      purpose: 'Announces the current file. Publish it after each change of the file.',
    },
  ];
  return [
    ...(policy
      ? recordsOf('mta_sts', 'mta-sts', '_mta-sts', `v=STSv1; id=${policyId(policy)}`)
      : []),
    ...(bimi.length > 0
      ? recordsOf('bimi', 'bimi', 'default._bimi', `v=BIMI1; l=${bimi.join('; a=')}`)
      : []),
  ];
}
