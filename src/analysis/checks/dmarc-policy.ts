/** The check `dmarc_policy`: is there a DMARC record, and does it ask receivers to act? */

import { organizationalDomain } from '../../lib/domain-names.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { type DmarcDiscovery, dmarcDiscovery, unusableRecord } from '../dmarc/discovery.ts';
import { dmarcFix, isPolicy, parseDmarcTags, repairedRecord, withTag } from '../dmarc/record.ts';

export const dmarcPolicy: Check = {
  id: 'dmarc_policy',
  category: 'authentication',
  points: 4,
  label: 'DMARC policy',
  issueTitle: 'The DMARC policy asks for nothing',
  reference: rfc(9989, '4.7'),
  // A record that receivers discard is told of there.
  dependsOn: ['dmarc_record'],
  publicEvidence: {
    record: 'shown',
    record_domain: 'shown',
    from_domain: 'shown',
    tag: 'shown',
    published: 'shown',
    policy: 'shown',
    testing: 'shown',
    records: 'shown',
  },
  async run(context: Context): Promise<Finding> {
    return judgeDmarcPolicy(await context.fact(dmarcDiscovery));
  },
};

/** The finding on what a domain's record asks for, without a message. */
function judgeDmarcPolicy(discovery: DmarcDiscovery): Finding {
  const { status, fromDomain, record, recordDomain, policy } = discovery;
  const title = 'The DMARC policy was not looked at.';
  if (status === 'offline') return skipped(title, 'The analysis was made offline.');
  if (status === 'no_author' || fromDomain === null)
    return skipped(title, discovery.reason ?? 'The From field names no domain.');
  if (status === 'error')
    return unknown(
      'The DMARC policy could not be found out.',
      `The DNS did not answer for the DMARC record of ${fromDomain}. This is not counted against you.`,
    );
  if (record === null || recordDomain === null || policy === null)
    return withoutPolicy(discovery, fromDomain);
  const evidence = {
    record,
    record_domain: recordDomain,
    from_domain: fromDomain,
    tag: policy.tag,
    published: policy.published,
    policy: policy.effective,
    testing: policy.testing,
  };
  if (policy.published === 'none') return warn({ ...asksNothing(discovery, record), evidence });
  if (policy.testing) return warn({ ...inTestMode(policy, record, recordDomain), evidence });
  return pass(
    `Your DMARC record asks receivers to ${ASKS[policy.effective]} mail that fails.`,
    `${policy.tag}=${policy.effective} in the record of ${recordDomain} applies to ${fromDomain}.`,
    evidence,
  );
}

const ASKS: Record<string, string> = { quarantine: 'set aside', reject: 'refuse' };

function asksNothing({ fromDomain, recordDomain, policy }: DmarcDiscovery, record: string) {
  const tag = policy?.tag ?? 'p';
  const invalid = ['p', 'sp', 'np'].filter((name) => {
    const value = parseDmarcTags(record).tags.get(name);
    return value === undefined ? name === 'p' : !isPolicy(value);
  });
  const why =
    invalid.length > 0
      ? `The record has no valid ${invalid.join(', ')}, so receivers take it for p=none.`
      : `${tag}=none in the record of ${recordDomain} applies to ${fromDomain}.`;
  const stricter = invalid
    .concat(tag)
    .reduce((text, name) => withTag(text, name, 'quarantine'), record);
  return {
    title: 'Your DMARC record asks receivers to do nothing.',
    detail: `${why} Mail that others send in your name is then delivered as if it were yours.`,
    fix: dmarcFix(
      'Once the reports show that your own mail passes, publish this record; later go on to reject.',
      recordDomain ?? '',
      stricter,
    ),
  };
}

function inTestMode(
  { effective, published }: { effective: string; published: string },
  record: string,
  recordDomain: string,
) {
  return {
    title: 'Your DMARC record is in test mode.',
    detail: `With t=y receivers treat ${published} as ${effective}.`,
    fix: dmarcFix(
      'When you have tested enough, publish the record without test mode.',
      recordDomain,
      withTag(record, 't', 'n'),
    ),
  };
}

// What is said of a domain without a DMARC record that counts, and the record to publish.

/**
 * A record that cannot be used is told of by `dmarc_record`, from which this follows; what it is
 * itself counts in the gain of that check alone: as what the corrected record would make it.
 */
function withoutPolicy(discovery: DmarcDiscovery, fromDomain: string): Finding {
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
