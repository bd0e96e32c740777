/** Whether the DMARC policies of a sender are strict enough for a BIMI logo. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/resolver.ts';
import type { DmarcDiscovery } from './dmarc-discovery.ts';
import { isDmarcRecord } from './dmarc-tags.ts';
import { parseTagList } from './tag-list.ts';

const ENFORCED = /^(?:quarantine|reject)$/i;

/**
 * Quarantine or reject, for all mail: at the From domain, and at the organizational domain with its
 * subdomains (draft-brand-indicators-for-message-identification §7.1). Sentences; null where the DNS
 * did not answer.
 */
export async function policyObstacles(
  discovery: DmarcDiscovery,
  resolver: Resolver,
): Promise<string[] | null> {
  const { status, policy, record, recordDomain } = discovery;
  if (status === 'error') return null;
  if (status !== 'found' || !policy || record === null) return ['The domain has no DMARC record.'];
  const own = ENFORCED.test(policy.effective)
    ? scopeObstacles(parseTagList(record))
    : ['The DMARC policy is not enforced: it must be quarantine or reject.'];
  const organization = organizationOf(discovery);
  if (organization === null || organization === recordDomain) return own;
  const above = await organizationObstacles(organization, resolver);
  return above && [...own, ...above];
}

/** Where the tree walk stays at the From domain, for a question left open too, the suffix list tells. */
export function organizationOf(discovery: DmarcDiscovery): string | null {
  const { fromDomain, organizationalDomain: found } = discovery;
  return found !== null && found !== fromDomain ? found : organizationalDomain(fromDomain ?? '');
}

function scopeObstacles(tags: Map<string, string>): string[] {
  const obstacles: string[] = [];
  if (tags.get('sp')?.toLowerCase() === 'none')
    obstacles.push('The DMARC policy exempts subdomains (sp=none).');
  const percent = tags.get('pct');
  if (percent !== undefined && Number(percent) !== 100)
    obstacles.push(
      `The DMARC policy is for ${percent.slice(0, 10)} % of the mail only (pct); that keeps the logo away although RFC 9989 has no pct any more.`,
    );
  return obstacles;
}

/** The From domain has a record of its own; that of the organization counts for logos all the same. */
async function organizationObstacles(domain: string, resolver: Resolver): Promise<string[] | null> {
  const answer = await resolver(`_dmarc.${domain}`, 'TXT');
  if (answer.status === 'error') return null;
  const records = answer.status === 'found' ? answer.records.filter(isDmarcRecord) : [];
  const tags = parseTagList(records.length === 1 ? records[0]! : '');
  const testing = tags.get('t')?.toLowerCase() === 'y' && tags.get('p')?.toLowerCase() !== 'reject';
  if (!ENFORCED.test(tags.get('p') ?? '') || testing)
    return [`The DMARC policy of ${domain} is not enforced: it must be quarantine or reject.`];
  return scopeObstacles(tags);
}
