/** The check `dmarc_record`: is the DMARC record usable, and can its reports be delivered? */

import { recordsOf } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  offline,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import { deadDestinations, explainDead, withMeantDomains } from '../dmarc/dead-destinations.ts';
import {
  type Destination,
  externalDestinations,
  MAX_DESTINATIONS,
  reportAddresses,
} from '../dmarc/destinations.ts';
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
  isDropped,
  parseDmarcTags,
  percentOf,
  resemblesDmarc,
  withoutTag,
  withTag,
} from '../dmarc/record.ts';
import {
  type ReportMailbox,
  type ReportMailboxes,
  reportMailboxes,
  stepsForMailbox,
  withFeedbackAddress,
  withReportAddress,
  withReportsTo,
} from '../dmarc/report-mailbox.ts';
import { fromDomain } from '../dns/names.ts';
import { pastedAround } from '../dns/pasted-text.ts';
import type { Undeliverable } from '../dns/undeliverable.ts';
import { foreignOwner } from '../sending-services/ownership.ts';

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

/** The title of the finding on a record whose only problem is that it requests no reports. */
export const NO_REPORT_ADDRESS = 'Your DMARC record has no address for reports (rua).';

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
    return { ...skipped(title, `No DMARC record applies to ${fromDomain}.`), dependsOn };
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
    ...{ record, recordDomain, parsed, external, dead, discarded, unread, published },
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
      text: fixes,
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
    : ` Those that still read pct=${pct} apply ${policy} to ${pct} % of the failing mail, and ${weaker} to the rest; the others apply it to all.`;
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
      text: `Delete all DMARC records except this one.${joinNote(joined)}`,
    },
    doubled_tag: {
      title: `The DMARC record of ${domain} has the same tag twice (${parseDmarcTags(first).duplicates.join(', ')}).`,
      text: 'Publish the record with each tag only once.',
    },
    version: {
      title:
        around === null
          ? `The DMARC record of ${domain} does not begin with "v=DMARC1;".`
          : `The DMARC record of ${domain} ${around}, so no receiver reads it.`,
      text: 'Publish the record with exactly v=DMARC1; at the beginning.',
    },
    policy: { title: `The DMARC record of ${domain} has no valid policy.`, text: '' },
  }[why];
  const mailbox = mailboxOf(domain);
  const value = withFeedbackAddress(joined.record, mailbox);
  return {
    title,
    detail: 'Mailbox providers discard such a record and act as if there were none.',
    fix: {
      text: `${text}${texts.map(droppedAddressNote).join('')}${stepsForMailbox(value, mailbox)}`,
      record: { type: 'TXT', name: `_dmarc.${domain}`, value },
    },
    evidence: { record_domain: domain, records: texts, why },
  };
}

/** What joining decided, and what comes next. */
const joinNote = ({ record, next }: JoinedDmarc): string => {
  if (next === null) return ' It keeps all report addresses.';
  const policy = parseDmarcTags(record).tags.get('p');
  return ` It keeps the weaker policy (p=${policy}) and all report addresses: neither policy applies today, so the stricter one would begin at once. Once the reports show that your own mail passes, change p to ${next}.`;
};

// Weaknesses of a DMARC record that applies: its tags, and the destinations of its reports.

interface DmarcRecordProblem {
  /** One full sentence. */
  text: string;
  /** Why it matters. */
  detail: string;
  /** What to change, in full sentences. */
  fix: string;
  record?: Fix['record'];
}

interface AppliedRecord {
  record: string;
  recordDomain: string;
  parsed: DmarcTags;
  external: Destination[];
  /** Those that can take no mail. */
  dead: Undeliverable[];
  discarded: DiscardedRecord[];
  /** Further records at the same name that no receiver reads. */
  unread: string[];
  /** The record with the spaces around it. */
  published: string;
  psd: 'y' | 'n' | null;
  mailbox: ReportMailbox;
}

/** The most important first. The check `dmarc_policy` covers the policy tags. */
function dmarcRecordProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  return [
    ...unreadProblems(applied),
    ...policyProblems(applied),
    ...faultProblems(applied),
    ...discardedProblems(applied),
    ...reportProblems(applied),
    ...deadProblems(applied),
    ...consentProblems(applied),
    ...unknownTagProblems(applied),
  ];
}

/** What some receivers, or all, do not read as a record. */
function unreadProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const { recordDomain, unread, published } = applied;
  const record = betterRecord(applied);
  const leading = /^\s/.test(published)
    ? [
        {
          text: 'Your DMARC record begins with a space.',
          detail: 'Receivers that follow RFC 9989 to the letter act as if there were no record.',
          fix: 'Publish the record without the space.',
          record,
        },
      ]
    : [];
  const others = unread.slice(0, 1).map(() => ({
    text: `${recordDomain} has another DMARC record, which no receiver reads.`,
    detail: 'It does not begin with "v=DMARC1;", so its report addresses get nothing.',
    fix: 'Delete all DMARC records except this one. It keeps the policy that applies, and all report addresses.',
    record,
  }));
  return [...leading, ...others];
}

/** Tags that weaken the policy, or that keep related domains from aligning. */
function policyProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const { parsed, psd, recordDomain } = applied;
  const record = betterRecord(applied);
  const pct = percentOf(parsed.tags);
  const isPartial = pct < 100 && (parsed.tags.get('p')?.toLowerCase() ?? 'none') !== 'none';
  const partial = isPartial
    ? [
        {
          text: `Your DMARC record has pct=${pct}, so some receivers apply its policy to only ${pct} % of failing mail.`,
          detail: 'The rest of the forged mail is treated more mildly there.',
          fix: 'Once the reports show that your own mail passes, publish the record without pct. To test a policy, use t=y instead.',
          record,
        },
      ]
    : [];
  const meaning = {
    y: {
      text: `Your DMARC record has psd=y, but ${recordDomain} is not a public suffix.`,
      detail: `With psd=y, each domain below ${recordDomain} counts as a separate organization, so they do not align with each other.`,
    },
    n: {
      text: `Your DMARC record has psd=n, so mail of ${recordDomain} does not align with its parent domain.`,
      detail: `With psd=n, ${recordDomain} counts as a separate organization. It needs SPF and DKIM of its own.`,
    },
  };
  const separated = psd
    ? [{ ...meaning[psd], fix: `Publish the record without psd=${psd}.`, record }]
    : [];
  return [...partial, ...separated];
}

/** The record without any of these problems, as far as its owner alone can resolve them. */
function betterRecord(applied: AppliedRecord): Fix['record'] {
  const { record, recordDomain, external, dead, mailbox, unread, psd } = applied;
  const unwanted = [
    ...(percentOf(applied.parsed.tags) < 100 ? ['pct'] : []),
    ...(psd ? ['psd'] : []),
  ];
  const joined = unwanted.reduce(withoutTag, joinDmarc([record, ...unread]).record);
  const repaired = withMeantDomains(joined, dead);
  const refused = [
    ...external.filter(
      ({ authorized, domain }) => authorized === false && (isForeign(domain) || mailbox.isFeedback),
    ),
    ...dead.filter(({ meant }) => meant === null),
  ];
  const kept = refused.length > 0 ? withoutReportsTo(repaired, refused) : repaired;
  const value =
    refused.length > 0 && mailbox.isFeedback
      ? withReportsTo(kept, mailbox)
      : withReportAddress(kept, mailbox);
  return { type: 'TXT', name: `_dmarc.${recordDomain}`, value };
}

/** Nobody can publish a consent there. */
const isForeign = (domain: string): boolean => foreignOwner(domain) !== null;

function withoutReportsTo(record: string, refused: { domain: string }[]): string {
  return ['rua', 'ruf'].reduce((text, name) => {
    const value = parseDmarcTags(text).tags.get(name);
    if (value === undefined) return text;
    const kept = reportAddresses(value).filter(
      ({ domain }) => !refused.some((destination) => destination.domain === domain),
    );
    return kept.length > 0
      ? withTag(text, name, kept.map(({ uri }) => uri).join(','))
      : withoutTag(text, name);
  }, record);
}

function faultProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const { parsed } = applied;
  const record = betterRecord(applied);
  return parsed.faults.map((fault) => ({
    text: `Your DMARC record has an error: ${fault}`,
    detail: 'Mailbox providers ignore that part, or the whole record.',
    fix: 'Correct that part of the record, or remove it.',
    record,
  }));
}

function unknownTagProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const record = betterRecord(applied);
  return applied.parsed.unknown.map((name) => ({
    text: `Your DMARC record has an unknown tag: "${name}".`,
    detail: 'Mailbox providers ignore it, so it has no effect.',
    fix: `Remove or correct the tag "${name}". Tag names are in lower case.`,
    record,
  }));
}

function discardedProblems({ discarded, recordDomain }: AppliedRecord): DmarcRecordProblem[] {
  return discarded.map(({ domain }) => ({
    text: `${domain} has its own DMARC record, but mailbox providers discard it.`,
    detail: `The record of ${recordDomain} applies instead.`,
    fix: `Correct or delete the record at _dmarc.${domain}.`,
  }));
}

function reportProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const { parsed } = applied;
  const record = betterRecord(applied);
  const rua = reportAddresses(parsed.tags.get('rua') ?? '');
  if (rua.length === 0)
    return [
      {
        text: NO_REPORT_ADDRESS,
        detail:
          'Without reports, you cannot see who sends mail in your name or which of your own mail fails DMARC.',
        fix: `Publish the record with an address that accepts reports. ${applied.mailbox.steps}`,
        record,
      },
    ];
  const unusable = ['rua', 'ruf']
    .flatMap((name) => reportAddresses(parsed.tags.get(name) ?? ''))
    .filter(({ domain }) => domain === null);
  const mailboxSteps = stepsForMailbox(record?.value ?? '', applied.mailbox);
  return unusable.map(({ uri }) => ({
    text: `Your DMARC record sends reports to "${uri.slice(0, 100)}", which is not a valid report address.`,
    detail: 'Mailbox providers send reports only to addresses in the form mailto:name@example.com.',
    fix: `${isDropped(uri) ? 'The record shown here leaves it out. To keep it, write' : 'Write'} the address as mailto:name@example.com instead of "${uri.slice(0, 100)}".${mailboxSteps}`,
    record,
  }));
}

/** Without another address, no record is proposed: nobody knows where the reports are to go. */
function deadProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const { dead, parsed, mailbox } = applied;
  const lost = dead.filter(({ meant }) => meant === null).map(({ domain }) => domain);
  const isKept = reportAddresses(parsed.tags.get('rua') ?? '').some(
    ({ domain }) => domain !== null && !lost.includes(domain),
  );
  const record = isKept || mailbox.isFeedback ? betterRecord(applied) : undefined;
  const steps = stepsForMailbox(record?.value ?? '', mailbox);
  return dead.map((one) => ({ ...explainDead(one, record !== undefined, steps), record }));
}

function consentProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const refusing = applied.external.filter(
    ({ authorized, domain }) =>
      authorized === false && !applied.dead.some((one) => one.domain === domain),
  );
  return refusing.map(({ domain, name }) => {
    return {
      text: `${domain} has not agreed to receive your DMARC reports.`,
      detail: `Mailbox providers send reports to another domain only if that domain allows it with a record at ${name}.`,
      ...consentFix(applied, { domain, name }),
    };
  });
}

function consentFix(
  applied: AppliedRecord,
  { domain, name }: Pick<Destination, 'domain' | 'name'>,
): Pick<DmarcRecordProblem, 'fix' | 'record'> {
  const { mailbox } = applied;
  const isForeignMailbox = isForeign(domain);
  if (mailbox.isFeedback) {
    const record = betterRecord(applied);
    const alternative = isForeignMailbox
      ? ''
      : ` To keep that address instead, ask ${domain} to publish a TXT record at ${name} with the value v=DMARC1.`;
    return {
      fix: `Publish this record, which leaves out the address at ${domain}.${stepsForMailbox(record?.value ?? '', mailbox)}${alternative}`,
      record,
    };
  }
  return isForeignMailbox
    ? {
        fix: `Use an address in your own domain instead of one at ${domain}.`,
        record: betterRecord(applied),
      }
    : {
        fix: `Ask ${domain} to publish this record, or use an address in your own domain.`,
        record: { type: 'TXT', name, value: 'v=DMARC1' },
      };
}
