/** What is said of a domain without a DMARC record that counts, and the record to publish. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { type Finding, fail, warn } from '../check.ts';
import { type DmarcDiscovery, unusableRecord } from './dmarc-discovery.ts';
import { dmarcFix, isPolicy, parseDmarcTags, repairedRecord, withTag } from './dmarc-tags.ts';

/**
 * A record that cannot be used is told of by `dmarc_record`, from which this follows; what it is
 * itself counts in the gain of that check alone: as what the corrected record would make it.
 */
export function withoutPolicy(discovery: DmarcDiscovery, fromDomain: string): Finding {
  const found = explainAbsence(discovery, fromDomain);
  const unusable = unusableRecord(discovery.discarded);
  if (!unusable) return fail(found);
  return asksToAct(repairedRecord(unusable.texts[0] ?? ''), unusable.domain === fromDomain)
    ? { ...fail(found), dependsOn: ['dmarc_record'] }
    : warn(found);
}

/** `own`: the record is that of the From domain itself, not of one above it. */
function asksToAct(record: string, own: boolean): boolean {
  const { tags } = parseDmarcTags(record);
  const asked = (own ? undefined : tags.get('sp')) ?? tags.get('p') ?? '';
  return /^(?:quarantine|reject)$/i.test(asked) && !/^y$/i.test(tags.get('t') ?? '');
}

function explainAbsence({ discarded }: DmarcDiscovery, fromDomain: string) {
  const unusable = discarded[0];
  const domain = unusable?.domain ?? organizationalDomain(fromDomain) ?? fromDomain;
  const evidence = {
    from_domain: fromDomain,
    ...(unusable && { record_domain: unusable.domain, records: unusable.texts }),
  };
  if (unusable?.why === 'policy')
    return {
      title: `The DMARC record of ${domain} names no valid policy.`,
      detail: 'Receivers act as if there were no record: p must be none, quarantine or reject.',
      fix: dmarcFix(
        'Correct the policy in the record. Begin with p=none if you do not know yet who sends for you.',
        domain,
        withoutBadPolicies(unusable.texts[0] ?? 'v=DMARC1'),
      ),
      evidence,
    };
  return {
    title: unusable
      ? `${domain} has no DMARC record that receivers can use.`
      : `${domain} has no DMARC record.`,
    detail:
      'Without one, receivers are not told what to do with mail that others send in your name, and large receivers ask bulk senders for one.',
    fix: dmarcFix(
      'Publish this record. It begins by watching: once the reports show that your own mail passes, change p to quarantine, then to reject.',
      domain,
      `v=DMARC1; p=none; rua=mailto:dmarc-reports@${domain}`,
    ),
    evidence,
  };
}

function withoutBadPolicies(record: string): string {
  const { tags } = parseDmarcTags(record);
  const bad = ['p', 'sp', 'np'].filter((name) => name === 'p' || tags.has(name));
  return bad
    .filter((name) => !isPolicy(tags.get(name)))
    .reduce((text, name) => withTag(text, name, 'none'), record);
}
