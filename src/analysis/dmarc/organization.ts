/** A psd tag that makes a domain an organization of its own (RFC 9989 §4.10.2), so that related domains do not align with it. */

import { ownedDomain } from '../../lib/domain-names.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Fix } from '../check.ts';
import { dkimResult } from '../dkim/verify.ts';
import { spfResult } from '../spf/evaluate.ts';
import { resemblesSpf } from '../spf/repair.ts';
import { dmarcDiscovery } from './discovery.ts';
import { alignsWithRecord } from './evaluate.ts';
import { dmarcFix, parseDmarcTags, repairedRecord, withoutTag } from './record.ts';

export interface SeparatedDomain {
  /** As a sentence. */
  why: string;
  fix: Fix;
}

/** What to change if only psd keeps the domain from aligning with the From domain; null otherwise. */
export async function separatedByPsd(
  context: Context,
  domain: string,
): Promise<SeparatedDomain | null> {
  const { record, recordDomain, fromDomain } = await context.fact(dmarcDiscovery);
  if (record === null || recordDomain === null) return null;
  const psd = parseDmarcTags(record).tags.get('psd')?.toLowerCase();
  if (psd !== 'n' && psd !== 'y') return null;
  const value = withoutTag(repairedRecord(record), 'psd');
  if (!(await alignsWithRecord(context, domain, value))) return null;
  const meaning =
    psd === 'n'
      ? `${recordDomain} is a separate organization`
      : `each domain below ${recordDomain} is a separate organization`;
  return {
    why: `The DMARC record of ${recordDomain} has psd=${psd}: ${meaning}, so ${domain} does not align with ${fromDomain}.`,
    fix: dmarcFix(
      `Publish the DMARC record without psd=${psd}, so that ${domain} aligns with ${fromDomain}. Keep it only if different organizations own these domains.`,
      recordDomain,
      value,
    ),
  };
}

/**
 * A psd tag that does harm, of the record that applies: `y` at a domain that is no public suffix, or `n` at a subdomain that
 * cannot align without its parent. Such a subdomain has no SPF record of its own, or this message passes only for the
 * parent. Null for any other tag.
 */
export async function harmfulPsd(context: Context): Promise<'y' | 'n' | null> {
  const { record, recordDomain } = await context.fact(dmarcDiscovery);
  if (record === null || recordDomain === null) return null;
  const psd = parseDmarcTags(record).tags.get('psd')?.toLowerCase();
  const owner = ownedDomain(recordDomain);
  if (owner === null) return null;
  if (psd === 'y') return 'y';
  if (psd !== 'n' || owner === recordDomain) return null;
  const texts = recordsOf(await context.resolver(recordDomain, 'TXT'));
  if (texts !== null && !texts.some(resemblesSpf)) return 'n';
  const { signatures } = await context.fact(dkimResult);
  const spf = await context.fact(spfResult);
  for (const { result, domain } of [...signatures, spf])
    if (result === 'pass' && domain && (await separatedByPsd(context, domain))) return 'n';
  return null;
}
