/** Weaknesses of a DMARC record that applies: its tags, and the destinations of its reports. */

import type { Fix } from '../check.ts';
import type { Undeliverable } from '../dns/undeliverable.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { explainDead, withMeantDomains } from './dead-destinations.ts';
import { type Destination, reportAddresses } from './destinations.ts';
import type { DiscardedRecord } from './discovery.ts';
import { joinDmarc } from './join.ts';
import {
  type DmarcTags,
  isDropped,
  isPolicy,
  parseDmarcTags,
  percentOf,
  withoutTag,
  withTag,
} from './record.ts';
import {
  type ReportMailbox,
  stepsForMailbox,
  withReportAddress,
  withReportsTo,
} from './report-mailbox.ts';

/** The title of the finding on a record whose only problem is that it requests no reports. */
export const NO_REPORT_ADDRESS = 'Your DMARC record has no address for reports (rua).';

interface DmarcRecordProblem {
  /** One full sentence. */
  text: string;
  /** Why it matters. */
  detail: string;
  /** What to change, in full sentences. */
  fix: string;
  record?: Fix['record'];
}

export interface AppliedRecord {
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
export function dmarcRecordProblems(applied: AppliedRecord): DmarcRecordProblem[] {
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
    fix:
      record === undefined
        ? 'Delete the other record.'
        : 'Replace all DMARC records of the domain with this one. It keeps the policy that applies, and the addresses that can receive reports.',
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
          text: `Your DMARC record has pct=${pct}, so some receivers apply its policy to only ${pct}% of failing mail.`,
          detail: 'These receivers treat the rest of the forged mail less strictly.',
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

/**
 * The record without any of these problems, as far as its owner alone can resolve them. None in place of one whose only
 * addresses for reports cannot be read or take no reports: nobody knows where the reports are to go.
 */
function betterRecord(applied: AppliedRecord): Fix['record'] {
  const { record, recordDomain, external, dead, mailbox, unread, psd } = applied;
  const unwanted = [
    ...(percentOf(applied.parsed.tags) < 100 ? ['pct'] : []),
    ...(psd ? ['psd'] : []),
  ];
  const joined = unwanted.reduce(
    withoutTag,
    withAppliedEffect(joinDmarc([record, ...unread]).record, applied.parsed.tags),
  );
  const repaired = withMeantDomains(joined, dead);
  const refused = [
    ...external.filter(
      ({ authorized, domain }) => authorized === false && (isForeign(domain) || mailbox.isFeedback),
    ),
    ...dead.filter(({ meant }) => meant === null),
  ];
  const kept = refused.length > 0 ? withoutReportsTo(repaired, refused) : repaired;
  const hasReports = reportAddresses(applied.parsed.tags.get('rua') ?? '').length > 0;
  const isLost = hasReports && !parseDmarcTags(kept).tags.has('rua');
  if (isLost && !mailbox.isFeedback) return undefined;
  const value =
    refused.length > 0 && mailbox.isFeedback
      ? withReportsTo(kept, mailbox)
      : withReportAddress(kept, mailbox);
  return { type: 'TXT', name: `_dmarc.${recordDomain}`, value };
}

/**
 * The record with the policies and the alignment that receivers read today: without valid ones, p=none and relaxed (RFC 9989
 * §4.7). What was meant is a later step, which the check `dmarc_policy` or `strictAlignmentNote` describes.
 */
function withAppliedEffect(joined: string, applied: Map<string, string>): string {
  const { tags } = parseDmarcTags(joined);
  const record = ['adkim', 'aspf']
    .filter((name) => tags.get(name) === 's' && !/^s$/i.test(applied.get(name) ?? ''))
    .reduce((text, name) => withTag(text, name, 'r'), joined);
  const said = ['p', 'sp', 'np'].filter((name) => applied.has(name));
  const isRead = applied.has('p') && said.every((name) => isPolicy(applied.get(name)));
  return ['p', 'sp', 'np'].reduce((text, name) => {
    if (name !== 'p' && !said.includes(name)) return withoutTag(text, name);
    return withTag(text, name, isRead ? applied.get(name)!.toLowerCase() : 'none');
  }, record);
}

/** Nobody can publish a consent there. */
export const isForeign = (domain: string): boolean => foreignOwner(domain) !== null;

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
  return discarded.map(({ domain, texts, reason }) => {
    const detail = `The record of ${recordDomain} applies instead.`;
    return reason === 'several'
      ? {
          text: `${domain} has ${texts.length} DMARC records of its own, so mailbox providers discard them.`,
          detail,
          fix: `Keep one of the records at _dmarc.${domain}, or delete them all.`,
        }
      : {
          text: `${domain} has its own DMARC record, but mailbox providers discard it.`,
          detail,
          fix: `Correct or delete the record at _dmarc.${domain}.`,
        };
  });
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
    fix: `${record && isDropped(uri) ? 'The record shown here leaves it out. To keep it, write' : 'Write'} the address as mailto:name@example.com instead of "${uri.slice(0, 100)}".${mailboxSteps}`,
    record,
  }));
}

function deadProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  const record = betterRecord(applied);
  const steps = stepsForMailbox(record?.value ?? '', applied.mailbox);
  return applied.dead.map((one) => ({ ...explainDead(one, record !== undefined, steps), record }));
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
