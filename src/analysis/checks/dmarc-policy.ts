/** The check `dmarc_policy`: is there a DMARC record, and does its policy enforce anything? */

import { ownerOf } from '../../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  info,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { type DmarcDiscovery, dmarcDiscovery, unusableRecord } from '../dmarc/discovery.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { joinDmarc } from '../dmarc/join.ts';
import {
  dmarcFix,
  droppedAddressNote,
  hasOnlyUnreadableReports,
  isPolicy,
  isTestMode,
  parseDmarcTags,
  repairedRecord,
  resemblesDmarc,
  STRENGTH,
  withoutTag,
  withTag,
} from '../dmarc/record.ts';
import {
  type ReportMailboxes,
  reportMailboxes,
  stepsForMailbox,
  withFeedbackAddress,
} from '../dmarc/report-mailbox.ts';
import { fromDomain } from '../dns/names.ts';
import { forwarding } from '../forwarding/forwarding.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { hasValidChain } from './arc.ts';
import { proposesRecord, recordFinding } from './dmarc-record.ts';

export const dmarcPolicy: Check = {
  id: 'dmarc_policy',
  category: 'authentication',
  points: 4,
  label: 'DMARC policy',
  issueTitle: 'The DMARC policy is missing or not enforced',
  reference: rfc(9989, '4.7'),
  // `dmarc_record` reports a record that mailbox providers discard.
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
  about: fromDomain,
  async run(context: Context): Promise<Finding> {
    return context.fact(policyFinding);
  },
};

/** A fact: the finding of this check. */
export async function policyFinding(context: Context): Promise<Finding> {
  const discovery = await context.fact(dmarcDiscovery);
  // A stricter record without addresses that nobody can read would drop them.
  const isRepairFirst =
    proposesRecord(await context.fact(recordFinding), discovery.recordDomain ?? '') ||
    hasOnlyUnreadableReports(discovery.record ?? '');
  const mailboxOf = await context.fact(reportMailboxes);
  const evaluated = evaluatePolicy(discovery, isRepairFirst, mailboxOf);
  const isForwarded = context.fact(forwarding).kind !== 'direct';
  if (isForwarded && evaluated.status === 'warn' && (await context.fact(hasValidChain)))
    return ofSealedCopy(evaluated);
  const finding = (await isFailing(context))
    ? withoutStricterRecord(evaluated, isForwarded)
    : evaluated;
  if (discovery.status !== 'none' || discovery.discarded.length > 0) return finding;
  const misplaced = await findMisplaced(discovery, context.resolver);
  return misplaced ? { ...finding, ...explainMisplaced(misplaced, mailboxOf) } : finding;
}

/** The fix, without its record if a check of the record already proposes another one. */
export async function dmarcFixUnlessProposed(context: Context, fix: Fix): Promise<Fix> {
  const domain = fix.record?.name.replace('_dmarc.', '') ?? '';
  const others = await Promise.all([context.fact(recordFinding), context.fact(policyFinding)]);
  const isOther = (finding: Finding) =>
    proposesRecord(finding, domain) && finding.fix?.record?.value !== fix.record?.value;
  return others.some(isOther) ? { text: fix.text } : fix;
}

// A stricter policy while the message itself fails.

/** Whether the policy would be applied to this very message. False for a domain without a message. */
async function isFailing(context: Context): Promise<boolean> {
  const { result } = await context.fact(dmarcResult);
  return result === 'fail';
}

/** The author of a post that a list sealed has nothing to fix: the copy says nothing about other mail of the domain. */
const ofSealedCopy = ({ title, detail, evidence }: Finding): Finding =>
  info(
    title,
    `${detail} To see what to change, test with a message that is not forwarded.`,
    evidence,
  );

/** Published now, a stricter record would make mailbox providers reject this message. */
function withoutStricterRecord(finding: Finding, isForwarded: boolean): Finding {
  const { fix } = finding;
  if (finding.status !== 'warn' || fix?.record === undefined) return finding;
  // There, the advice is not to publish anything.
  if (foreignOwner(fix.record.name.replace('_dmarc.', '')) !== null) return finding;
  const lead = isForwarded
    ? 'Before you change the policy, test with a message that is not forwarded: forwarding made this one fail.'
    : 'First make this message pass DMARC: see the finding “DMARC”. A stricter policy would only get it rejected.';
  const text = `${lead} ${fix.text.replace(/publish this record|publish the record without test mode/, 'publish a stricter record, which this report shows then')}`;
  return { ...finding, fix: { text } };
}

// A record at a name where nobody looks for it.

interface Misplaced {
  domain: string;
  /** Where it is published. */
  name: string;
  text: string;
}

/** At the domain itself, or below the domain twice, because the DNS panel appended it. */
async function findMisplaced(
  { fromDomain }: DmarcDiscovery,
  resolver: Resolver,
): Promise<Misplaced | null> {
  const domain = fromDomain === null ? null : ownerOf(fromDomain);
  if (domain === null || foreignOwner(domain) !== null) return null;
  for (const name of [domain, `_dmarc.${domain}.${domain}`, `_dmarc._dmarc.${domain}`]) {
    const text = recordsOf(await resolver(name, 'TXT'))?.find(resemblesDmarc);
    if (text !== undefined) return { domain, name, text };
  }
  return null;
}

function explainMisplaced({ domain, name, text }: Misplaced, mailboxOf: ReportMailboxes) {
  const mailbox = mailboxOf(domain);
  const value = withFeedbackAddress(repairedRecord(text), mailbox);
  return {
    title: `The DMARC record of ${domain} is published at the wrong name.`,
    detail: `It is at ${name}, but mailbox providers look only at _dmarc.${domain}. They act as if there were no record.`,
    fix: dmarcFix(
      `Move the record to _dmarc.${domain}. Many DNS panels append the domain to the name, so that you enter only _dmarc. Until now, no policy applied: start with p=none if you do not yet know which services send for you.${stepsForMailbox(value, mailbox)}`,
      domain,
      value,
    ),
  };
}

/**
 * Evaluates the policy of a domain's record, without a message. `isRepairFirst`: `dmarc_record` proposes
 * a record, so this check proposes none, because a domain can have only one.
 */
function evaluatePolicy(
  discovery: DmarcDiscovery,
  isRepairFirst: boolean,
  mailboxOf: ReportMailboxes,
): Finding {
  const { status, fromDomain, record, recordDomain, policy } = discovery;
  const title = 'The DMARC policy was not checked.';
  if (status === 'offline') return offline(title);
  if (status === 'no_author' || fromDomain === null)
    return skipped(title, discovery.reason ?? 'The From field has no domain.');
  if (status === 'error')
    return unknown(
      'Could not look up the DMARC policy.',
      `The DNS lookup of the DMARC record of ${fromDomain} failed. This does not affect your score.`,
    );
  if (record === null || recordDomain === null || policy === null)
    return withoutPolicy(discovery, fromDomain, mailboxOf);
  const evidence = {
    record,
    record_domain: recordDomain,
    from_domain: fromDomain,
    tag: policy.tag,
    published: policy.published,
    policy: policy.effective,
    testing: policy.testing,
  };
  if (policy.published === 'none')
    return warn({ ...explainNone(discovery, record, isRepairFirst), evidence });
  if (policy.testing)
    return warn({ ...explainTestMode(policy, record, recordDomain, isRepairFirst), evidence });
  const open = openSubdomains(record);
  if (open.length > 0)
    return warn({ ...explainOpen(open, record, recordDomain, isRepairFirst), evidence });
  return pass(
    `Your DMARC policy asks mailbox providers to ${policy.effective} mail that fails DMARC.`,
    `${policy.tag}=${policy.effective} in the DMARC record of ${recordDomain} applies to ${fromDomain}${policy.tag === 'np' ? ', which does not exist in DNS' : ''}.${weakerNote(record, recordDomain)}`,
    evidence,
  );
}

/** The tags that leave subdomains without a policy, though the domain has one. */
function openSubdomains(record: string): string[] {
  const { tags } = parseDmarcTags(record);
  const isNone = (name: string) => /^none$/i.test(tags.get(name) ?? '');
  return isNone('p') ? [] : ['sp', 'np'].filter(isNone);
}

function explainOpen(open: string[], record: string, recordDomain: string, isRepairFirst: boolean) {
  const which = open.map((name) => `${name}=none`).join(' and ');
  const whom = open.includes('sp') ? 'subdomains' : 'subdomains that do not exist';
  const names = open.join(' and ');
  return {
    title: `Your DMARC policy does not protect ${whom} (${which}).`,
    detail: `Anyone can send as ${open.includes('sp') ? 'a subdomain' : 'a made-up subdomain'} of ${recordDomain}: mail that fails DMARC is still delivered.`,
    fix: isRepairFirst
      ? `${REPAIR_FIRST} Once the reports show that the mail of your subdomains passes, remove ${names} from it.`
      : dmarcFix(
          `Once the reports show that the mail of your subdomains passes, publish this record, without ${names}.`,
          recordDomain,
          open.reduce(withoutTag, repairedRecord(record)),
        ),
  };
}

/** What a weaker policy for subdomains means (RFC 9989 §4.7); empty if there is none. */
function weakerNote(record: string, recordDomain: string): string {
  const { tags } = parseDmarcTags(record);
  const strengthOf = (name: string) => STRENGTH.indexOf(tags.get(name)?.toLowerCase() ?? '');
  const weaker = ['sp', 'np'].filter(
    (name) => strengthOf(name) >= 0 && strengthOf(name) < strengthOf('p'),
  );
  if (weaker.length === 0) return '';
  const which = weaker.map((name) => `${name}=${tags.get(name)}`).join(' and ');
  const whom = weaker.includes('sp') ? 'subdomains' : 'subdomains that do not exist';
  return ` But ${which} ${weaker.length > 1 ? 'are' : 'is'} weaker for ${whom} of ${recordDomain}, so anyone can send as one of them. Unless a subdomain needs it, remove ${weaker.join(' and ')}.`;
}

const REPAIR_FIRST = 'First publish the record described under "DMARC record".';

function explainNone(
  { fromDomain, recordDomain, policy }: DmarcDiscovery,
  record: string,
  isRepairFirst: boolean,
) {
  const tag = policy?.tag ?? 'p';
  const { tags } = parseDmarcTags(record);
  const invalid = ['p', 'sp', 'np'].filter((name) => {
    const value = tags.get(name);
    return value === undefined ? name === 'p' : !isPolicy(value);
  });
  const reason =
    invalid.length > 0
      ? `${invalid.map((name) => invalidPolicy(name, tags.get(name))).join(' ')} Therefore, mailbox providers treat the record as p=none.`
      : `${tag}=none in the DMARC record of ${recordDomain} applies to ${fromDomain}${tag === 'np' ? ', which does not exist in DNS' : ''}.`;
  const lenient = [...new Set([...invalid, tag])];
  const stricter = lenient.reduce(
    (text, name) => withTag(text, name, 'quarantine'),
    repairedRecord(record),
  );
  return {
    title: `Your DMARC policy ${invalid.length > 0 ? 'counts as p' : `is ${tag}`}=none: mail that fails DMARC is still delivered.`,
    detail: `${reason} Mail that others send in your name is delivered as if it were yours.`,
    fix: isRepairFirst
      ? `${REPAIR_FIRST} Once the reports show that your own mail passes, change ${lenient.join(' and ')} in it to quarantine, and later to reject.`
      : dmarcFix(
          'Once the reports show that your own mail passes, publish this record. Later, change quarantine to reject.',
          recordDomain ?? '',
          stricter,
        ),
  };
}

const invalidPolicy = (name: string, value: string | undefined): string =>
  value === undefined
    ? `The record has no ${name}.`
    : `"${name}=${value.slice(0, 60)}" is not a valid policy.`;

function explainTestMode(
  { effective, published }: { effective: string; published: string },
  record: string,
  recordDomain: string,
  isRepairFirst: boolean,
) {
  return {
    title: 'Your DMARC record is in test mode (t=y).',
    detail: `With t=y, mailbox providers treat ${published} as ${effective}.`,
    fix: isRepairFirst
      ? `${REPAIR_FIRST} When you have finished testing, change t=y in it to t=n.`
      : dmarcFix(
          'When you have finished testing, publish the record without test mode.',
          recordDomain,
          withTag(repairedRecord(record), 't', 'n'),
        ),
  };
}

// Domains without a usable DMARC record, and the record to publish.

/**
 * `dmarc_record` reports an unusable record, and this finding depends on it. Its points count only
 * toward that check's gain: as many as the corrected record would earn.
 */
function withoutPolicy(
  discovery: DmarcDiscovery,
  fromDomain: string,
  mailboxOf: ReportMailboxes,
): Finding {
  const explanation = explainAbsence(discovery, fromDomain, mailboxOf);
  const unusable = unusableRecord(discovery.discarded);
  if (!unusable) return fail(explanation);
  const corrected = joinDmarc(unusable.texts).record;
  return isEnforced(corrected, unusable.domain === fromDomain)
    ? { ...fail(explanation), dependsOn: ['dmarc_record'] }
    : warn(explanation);
}

/** `isOwn`: the record belongs to the From domain itself, not to a parent domain. */
function isEnforced(record: string, isOwn: boolean): boolean {
  const { tags } = parseDmarcTags(record);
  const policy = (isOwn ? undefined : tags.get('sp')) ?? tags.get('p') ?? '';
  return (
    /^(?:quarantine|reject)$/i.test(policy) &&
    !isTestMode(tags) &&
    openSubdomains(record).length === 0
  );
}

function explainAbsence(
  { discarded }: DmarcDiscovery,
  fromDomain: string,
  mailboxOf: ReportMailboxes,
) {
  const unusable = discarded[0];
  const domain = unusable?.domain ?? ownerOf(fromDomain);
  const mailbox = mailboxOf(domain);
  const evidence = {
    from_domain: fromDomain,
    ...(unusable && { record_domain: unusable.domain, records: unusable.texts }),
  };
  if (unusable?.reason === 'policy') {
    const published = unusable.texts[0] ?? 'v=DMARC1';
    const value = withFeedbackAddress(repairedRecord(published), mailbox);
    return {
      title: `The DMARC record of ${domain} has no valid policy.`,
      detail:
        'Mailbox providers act as if there were no record. p must be none, quarantine or reject.',
      fix: dmarcFix(
        `Correct the policy in the record. Start with p=none if you do not yet know which services send for you.${droppedAddressNote(published)}${stepsForMailbox(value, mailbox)}`,
        domain,
        value,
      ),
      evidence,
    };
  }
  return {
    title: unusable ? `${domain} has no usable DMARC record.` : `${domain} has no DMARC record.`,
    detail:
      'Without one, mailbox providers do not know what to do with mail that others send in your name. Large mailbox providers require one from bulk senders.',
    fix: dmarcFix(
      `Publish this record. At first, it only requests reports. ${mailbox.steps} Once the reports show that your own mail passes, change p to quarantine, then to reject.`,
      domain,
      `v=DMARC1; p=none; rua=mailto:${mailbox.address}`,
    ),
    evidence,
  };
}
