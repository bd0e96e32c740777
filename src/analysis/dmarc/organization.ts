/** A psd tag that makes a domain an organization of its own (RFC 9989 §4.10.2), so that related domains do not align with it. */

import type { Context, Fix } from '../check.ts';
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
