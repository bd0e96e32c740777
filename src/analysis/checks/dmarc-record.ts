/** The check `dmarc_record`: is the DMARC record usable, and can its reports be delivered? */

import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { deadDestinations } from '../dmarc/dead-destinations.ts';
import { externalDestinations, MAX_DESTINATIONS, reportAddresses } from '../dmarc/destinations.ts';
import {
  type DiscardedRecord,
  type DmarcDiscovery,
  dmarcDiscovery,
  unusableRecord,
} from '../dmarc/discovery.ts';
import { type JoinedDmarc, joinDmarc } from '../dmarc/join.ts';
import { harmfulPsd } from '../dmarc/organization.ts';
import {
  type DmarcTags,
  droppedAddressNote,
  isDmarcRecord,
  parseDmarcTags,
  percentOf,
  resemblesDmarc,
  strictAlignmentNote,
} from '../dmarc/record.ts';
import {
  type ReportMailboxes,
  reportMailboxes,
  stepsForMailbox,
  withFeedbackAddress,
} from '../dmarc/report-mailbox.ts';
import { type AppliedRecord, dmarcRecordProblems, isForeign } from '../dmarc/weaknesses.ts';
import { fromDomain } from '../dns/names.ts';
import { pastedAround } from '../dns/pasted-text.ts';

export const dmarcRecord: Check = {
  id: 'dmarc_record',
  category: 'authentication',
  points: 2,
  label: 'DMARC record',
  issueTitle: 'The DMARC record has errors or no working report address',
  reference: rfc(9989, '4.7'),
  publicEvidence: {
    record: 'shown',
    record_domain: 'shown',
    obsolete_tags: 'shown',
    unknown_tags: 'shown',
    external_destinations: { domain: 'shown', name: 'shown', authorized: 'shown' },
    discarded: { domain: 'shown', texts: 'shown', why: 'shown' },
    undeliverable: { domain: 'shown', why: 'shown', meant: 'shown' },
    records: 'shown',
    why: 'shown',
  },
  about: fromDomain,
  async run(context: Context): Promise<Finding> {
    return context.fact(recordFinding);
  },
};

/** A fact: the finding of this check. */
export async function recordFinding(context: Context): Promise<Finding> {
  const discovery = await context.fact(dmarcDiscovery);
  return evaluateRecord(discovery, context, await context.fact(reportMailboxes));
}

/** Whether this finding proposes another record for the domain; a report should propose only one. */
export const proposesRecord = ({ fix }: Finding, domain: string): boolean =>
  fix?.record?.name === `_dmarc.${domain}`;

/**
 * Evaluates a domain's record, without a message. `fail`: mailbox providers act as if there were no
 * record, so findings that depend on it can follow from this one. `warn`: it applies, with a weakness.
 */
async function evaluateRecord(
  discovery: DmarcDiscovery,
  context: Context,
  mailboxOf: ReportMailboxes,
): Promise<Finding> {
  const { status, fromDomain, record, recordDomain, discarded } = discovery;
  const title = 'The DMARC record was not checked.';
  if (status === 'offline') return offline(title);
  if (status === 'no_author') return skipped(title, discovery.reason ?? '');
  if (status === 'error')
    return unknown(
      'Could not look up the DMARC record.',
      `The DNS lookup of the DMARC record of ${fromDomain} failed. This does not affect your score.`,
    );
  if (record === null || recordDomain === null) {
    const unusable = unusableRecord(discarded);
    if (unusable) return fail(explainUnusable(unusable, mailboxOf));
    // `dmarc_policy` reports the missing record.
    const dependsOn = ['dmarc_policy'];
    const [first] = discarded;
    // The repaired record has no address for reports that was not written.
    const lacksAddress = first?.reason === 'policy' && !mailboxOf(first.domain).isFeedback;
    return {
      ...skipped(title, `No DMARC record applies to ${fromDomain}.`),
      dependsOn,
      ...(lacksAddress && { statusWhenFixed: 'warn' as const }),
    };
  }
  return evaluateApplied(discovery, { record, recordDomain }, context, mailboxOf);
}

async function evaluateApplied(
  { fromDomain: author, discarded }: DmarcDiscovery,
  { record, recordDomain }: Pick<AppliedRecord, 'record' | 'recordDomain'>,
  context: Context,
  mailboxOf: ReportMailboxes,
): Promise<Finding> {
  const parsed = parseDmarcTags(record);
  // The senders at a mailbox provider cannot change its record, nor where its reports go.
  if (isForeign(recordDomain))
    return pass(
      `${recordDomain} has a DMARC record.`,
      `Your mailbox provider publishes it, so there is nothing for you to change.`,
      { record, record_domain: recordDomain },
    );
  const addresses = ['rua', 'ruf'].flatMap((name) => reportAddresses(parsed.tags.get(name) ?? ''));
  const [external, found] = await Promise.all([
    externalDestinations(recordDomain, addresses, context.resolver),
    deadDestinations(addresses.slice(0, MAX_DESTINATIONS), recordDomain, context.resolver),
  ]);
  // The check of the mail servers says so of the From domain.
  const dead = found.filter(({ domain }) => domain !== author);
  const texts = recordsOf(await context.resolver(`_dmarc.${recordDomain}`, 'TXT')) ?? [];
  const unread = texts.filter((text) => !isDmarcRecord(text) && resemblesDmarc(text));
  const published = texts.find((text) => text.trim() === record) ?? record;
  const evidence = {
    record,
    record_domain: recordDomain,
    ...(unread.length > 0 && { records: [published, ...unread.toSorted()] }),
    obsolete_tags: parsed.obsolete,
    unknown_tags: parsed.unknown,
    external_destinations: external.map((destination) => ({ ...destination })),
    discarded: discarded.map(({ domain, texts, reason }) => ({ domain, texts, why: reason })),
    ...(dead.length > 0 && { undeliverable: dead.map((destination) => ({ ...destination })) }),
  };
  const problems = dmarcRecordProblems({
    record,
    recordDomain,
    parsed,
    external,
    dead,
    discarded,
    unread,
    published,
    psd: await harmfulPsd(context),
    mailbox: mailboxOf(recordDomain),
  });
  const notes = notesOf(
    parsed,
    external.filter(({ authorized }) => authorized === null),
  );
  const worst = problems[0];
  if (!worst)
    return pass('Your DMARC record is valid.', `DMARC reports can reach you.${notes}`, evidence);
  const others = problems.slice(1, 6).map(({ text }) => text);
  const fixes = [...new Set(problems.map(({ fix }) => fix))].slice(0, 6).join(' ');
  return warn({
    title: worst.text,
    detail: `${worst.detail}${others.length > 0 ? ` Other problems: ${others.join(' ')}` : ''}${notes}`,
    fix: {
      text: `${fixes}${worst.record ? strictAlignmentNote(record, worst.record.value) : ''}`,
      record: worst.record,
    },
    evidence,
  });
}

/**
 * What `pct` means since RFC 9989 removed it. Receivers that follow RFC 7489 §6.6.4 apply the next weaker policy to the
 * rest of the failing mail.
 */
function pctNote(tags: Map<string, string>): string {
  const pct = percentOf(tags);
  const policy = tags.get('p')?.toLowerCase() ?? 'none';
  if (pct >= 100 || policy === 'none') return '';
  const weaker = policy === 'reject' ? 'quarantine' : 'none';
  return pct === 0
    ? ` Those that still read pct=0 apply ${weaker} instead of ${policy}, and some lists rewrite From because of it. To test a policy, use t=y instead.`
    : ` Those that still read pct=${pct} apply ${policy} to ${pct}% of the failing mail, and ${weaker} to the rest; the others apply it to all.`;
}

function notesOf({ obsolete, tags }: DmarcTags, unanswered: { domain: string }[]): string {
  const removedTags =
    obsolete.length > 0
      ? ` RFC 9989 removed ${obsolete.join(', ')} from DMARC; mailbox providers that follow it ignore ${obsolete.length === 1 ? 'it' : 'them'}.${pctNote(tags)}`
      : '';
  const unknownConsent =
    unanswered.length > 0
      ? ` Could not determine whether reports are accepted by ${unanswered.map(({ domain }) => domain).join(', ')}.`
      : '';
  return `${removedTags}${unknownConsent}`;
}

function explainUnusable(
  { domain, texts, reason: why }: DiscardedRecord,
  mailboxOf: ReportMailboxes,
) {
  const first = texts[0] ?? '';
  const joined = joinDmarc(texts);
  const around = pastedAround(first);
  const { title, text } = {
    several: {
      title: `${domain} has ${texts.length} DMARC records; only one is allowed.`,
      text: `Replace all DMARC records of the domain with this one.${joinNote(joined)}`,
    },
    doubled_tag: {
      title: `The DMARC record of ${domain} has the same tag twice (${parseDmarcTags(first).duplicates.join(', ')}).`,
      text: `Publish the record with each tag only once.${doubledPolicyNote(first)}`,
    },
    version: {
      title:
        around === null
          ? /^v=DMARC1\s*,/i.test(first)
            ? `The DMARC record of ${domain} has commas between its tags, instead of semicolons.`
            : `The DMARC record of ${domain} does not begin with "v=DMARC1;".`
          : `The DMARC record of ${domain} ${around}, so no receiver reads it.`,
      text: 'Publish the record with exactly v=DMARC1; at the beginning.',
    },
    policy: { title: `The DMARC record of ${domain} has no valid policy.`, text: '' },
  }[why];
  const mailbox = mailboxOf(domain);
  const value = withFeedbackAddress(joined.record, mailbox);
  const notes = new Set([
    ...texts.map(droppedAddressNote),
    ...texts.map((text) => strictAlignmentNote(text, value)),
  ]);
  return {
    title,
    detail: 'Mailbox providers discard such a record and act as if there were none.',
    fix: {
      text: `${text}${[...notes].join('')}${stepsForMailbox(value, mailbox)}`,
      record: { type: 'TXT', name: `_dmarc.${domain}`, value },
    },
    evidence: { record_domain: domain, records: texts, why },
  };
}

/** What follows from a policy that is there twice; empty if none is. */
const doubledPolicyNote = (record: string): string =>
  parseDmarcTags(record).duplicates.some((name) => ['p', 'sp', 'np'].includes(name))
    ? ' It has the weaker policy: until now, none applied. Once the reports show that your own mail passes, use the stricter one.'
    : '';

/** What joining decided, and what comes next. */
const joinNote = ({ record, next }: JoinedDmarc): string => {
  if (next === null) return ' It keeps all report addresses.';
  const policy = parseDmarcTags(record).tags.get('p');
  return ` It keeps all report addresses and the weaker policy (p=${policy}). Neither policy applies today, and the stricter one would take effect at once. Once the reports show that your own mail passes, change p to ${next}.`;
};
