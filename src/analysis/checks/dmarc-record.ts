/** The check `dmarc_record`: can receivers use the DMARC record, and do its reports arrive? */

import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import {
  type Check,
  type Context,
  type Finding,
  type Fix,
  fail,
  pass,
  rfc,
  skipped,
  unknown,
  warn,
} from '../check.ts';
import {
  type DiscardedRecord,
  type DmarcDiscovery,
  dmarcDiscovery,
  unusableRecord,
} from '../dmarc/discovery.ts';
import {
  type DmarcTags,
  isDmarcRecord,
  parseDmarcTags,
  repairedRecord,
  withTag,
} from '../dmarc/record.ts';

export const dmarcRecord: Check = {
  id: 'dmarc_record',
  category: 'authentication',
  points: 2,
  label: 'DMARC record',
  issueTitle: 'The DMARC record is missing or has faults',
  reference: rfc(9989, '4.7'),
  publicEvidence: {
    record: 'shown',
    record_domain: 'shown',
    obsolete_tags: 'shown',
    unknown_tags: 'shown',
    external_destinations: { domain: 'shown', name: 'shown', authorized: 'shown' },
    discarded: { domain: 'shown', texts: 'shown', why: 'shown' },
    records: 'shown',
    why: 'shown',
  },
  async run(context: Context): Promise<Finding> {
    return judgeDmarcRecord(await context.fact(dmarcDiscovery), context.resolver);
  },
};

/**
 * The finding on a domain's record, without a message. `fail`: receivers act as if there were none,
 * so that what depends on a record may follow from it. `warn`: it applies, with a weakness.
 */
async function judgeDmarcRecord(discovery: DmarcDiscovery, resolver: Resolver): Promise<Finding> {
  const { status, fromDomain, record, recordDomain, discarded } = discovery;
  const title = 'There is no DMARC record to look at.';
  if (status === 'offline') return skipped(title, 'The analysis was made offline.');
  if (status === 'no_author') return skipped(title, discovery.reason ?? '');
  if (status === 'error')
    return unknown(
      'The DMARC record could not be looked at.',
      `The DNS did not answer for the DMARC record of ${fromDomain}. This is not counted against you.`,
    );
  if (record === null || recordDomain === null) {
    const unusable = unusableRecord(discarded);
    if (unusable) return fail(explainUnusable(unusable));
    // Its absence is told of there.
    const dependsOn = ['dmarc_policy'];
    return { ...skipped(title, `No DMARC record applies to ${fromDomain}.`), dependsOn };
  }
  return judgeApplied(discovery, record, recordDomain, resolver);
}

async function judgeApplied(
  { discarded }: DmarcDiscovery,
  record: string,
  recordDomain: string,
  resolver: Resolver,
): Promise<Finding> {
  const parsed = parseDmarcTags(record);
  const addresses = ['rua', 'ruf'].flatMap((name) => reportAddresses(parsed.tags.get(name) ?? ''));
  const external = await externalDestinations(recordDomain, addresses, resolver);
  const evidence = {
    record,
    record_domain: recordDomain,
    obsolete_tags: parsed.obsolete,
    unknown_tags: parsed.unknown,
    external_destinations: external.map((each) => ({ ...each })),
    discarded: discarded.map((each) => ({ ...each })),
  };
  const problems = dmarcRecordProblems({ record, recordDomain, parsed, external, discarded });
  const notes = notesOf(
    parsed.obsolete,
    external.filter((each) => each.authorized === null),
  );
  const worst = problems[0];
  if (!worst)
    return pass(
      'Your DMARC record is sound.',
      `It is valid, and reports can reach you.${notes}`,
      evidence,
    );
  const others = problems.slice(1, 6).map(({ text }) => text);
  return warn({
    title: worst.text,
    detail: `${worst.detail}${others.length > 0 ? ` Besides: ${others.join(' ')}` : ''}${notes}`,
    fix: {
      text: [...new Set(problems.map(({ fix }) => fix))].slice(0, 6).join(' '),
      record: problems.find((problem) => problem.record)?.record,
    },
    evidence,
  });
}

function notesOf(obsolete: string[], unanswered: { domain: string }[]): string {
  const gone =
    obsolete.length > 0
      ? ` ${obsolete.join(', ')} ${obsolete.length === 1 ? 'is' : 'are'} gone from DMARC with RFC 9989; receivers ignore ${obsolete.length === 1 ? 'it' : 'them'}.`
      : '';
  const open =
    unanswered.length > 0
      ? ` Whether ${unanswered.map(({ domain }) => domain).join(', ')} takes reports could not be found out.`
      : '';
  return `${gone}${open}`;
}

function explainUnusable({ domain, texts, why }: DiscardedRecord) {
  const first = texts[0] ?? '';
  const told = {
    several: {
      title: `${domain} has ${texts.length} DMARC records; only one is allowed.`,
      text: 'Delete all DMARC records but this one.',
    },
    doubled_tag: {
      title: `The DMARC record of ${domain} has the same tag twice (${parseDmarcTags(first).doubled.join(', ')}).`,
      text: 'Publish the record with each tag once.',
    },
    version: {
      title: `The DMARC record of ${domain} does not begin with "v=DMARC1;".`,
      text: 'Publish the record with exactly v=DMARC1; at its start.',
    },
    policy: { title: `The DMARC record of ${domain} names no valid policy.`, text: '' },
  }[why];
  return {
    title: told.title,
    detail: 'Receivers discard such a record and act as if there were none.',
    fix: {
      text: told.text,
      record: { type: 'TXT', name: `_dmarc.${domain}`, value: repairedRecord(first) },
    },
    evidence: { record_domain: domain, records: texts, why },
  };
}

// What is weak in a DMARC record that applies: its tags, and where its reports go.

interface DmarcRecordProblem {
  /** One sentence, with a subject. */
  text: string;
  /** Why it matters. */
  detail: string;
  /** What to change, one sentence. */
  fix: string;
  record?: Fix['record'];
}

interface AppliedRecord {
  record: string;
  recordDomain: string;
  parsed: DmarcTags;
  external: Destination[];
  discarded: DiscardedRecord[];
}

/** The most important first. The policy tags have a check of their own. */
function dmarcRecordProblems(applied: AppliedRecord): DmarcRecordProblem[] {
  return [
    ...syntaxProblems(applied),
    ...discardedProblems(applied),
    ...reportProblems(applied),
    ...consentProblems(applied),
  ];
}

function syntaxProblems({ parsed }: AppliedRecord): DmarcRecordProblem[] {
  const wrong = parsed.faults.map((fault) => ({
    text: `Your DMARC record has a mistake: ${fault}`,
    detail: 'Receivers overlook such a part, or the record as a whole.',
    fix: 'Correct the mistake in the record, or remove that part.',
  }));
  const strange = parsed.unknown.map((name) => ({
    text: `Your DMARC record has a tag that DMARC does not know: "${name}".`,
    detail: 'Receivers ignore it, so whatever it was meant to say is not heard.',
    fix: `Remove or correct the tag "${name}"; names of tags are in lower case.`,
  }));
  return [...wrong, ...strange];
}

function discardedProblems({ discarded, recordDomain }: AppliedRecord): DmarcRecordProblem[] {
  return discarded.map(({ domain }) => ({
    text: `${domain} has a DMARC record of its own that receivers discard.`,
    detail: `The record of ${recordDomain} applies instead.`,
    fix: `Correct or delete the record at _dmarc.${domain}.`,
  }));
}

function reportProblems({ record, recordDomain, parsed }: AppliedRecord): DmarcRecordProblem[] {
  const rua = reportAddresses(parsed.tags.get('rua') ?? '');
  const better = withTag(record, 'rua', `mailto:dmarc-reports@${recordDomain}`);
  const remedy = {
    fix: 'Publish the record with an address that takes reports.',
    record: { type: 'TXT', name: `_dmarc.${recordDomain}`, value: better },
  };
  if (rua.length === 0)
    return [
      {
        text: 'Your DMARC record names no address for reports.',
        detail:
          'Without rua you do not learn who sends in your name, nor which of your mail fails.',
        ...remedy,
      },
    ];
  const unusable = ['rua', 'ruf']
    .flatMap((name) => reportAddresses(parsed.tags.get(name) ?? ''))
    .filter(({ domain }) => domain === null);
  return unusable.map(({ uri }) => ({
    text: `Your DMARC record sends reports to "${uri.slice(0, 100)}", which is not a mailto address.`,
    detail: 'Receivers send reports to mailto addresses only.',
    fix: `Write the address as mailto:name@example.com instead of "${uri.slice(0, 100)}".`,
    ...(rua.every(({ domain }) => domain === null) && { record: remedy.record }),
  }));
}

function consentProblems({ external }: AppliedRecord): DmarcRecordProblem[] {
  return external
    .filter(({ authorized }) => authorized === false)
    .map(({ domain, name }) => ({
      text: `${domain} has not agreed to take your DMARC reports.`,
      detail: `Receivers send no reports to another domain that does not consent at ${name}.`,
      fix: `Have ${domain} publish this record, or use an address of your own domain.`,
      record: { type: 'TXT', name, value: 'v=DMARC1' },
    }));
}

// Where DMARC reports go: the addresses in `rua` and `ruf`, and whether they agreed to take them.

/** More than any honest record names. */
const MAX_DESTINATIONS = 10;

interface ReportAddress {
  uri: string;
  /** Of a mailto address, normalised; null for what no receiver can send a report to. */
  domain: string | null;
}

/** The addresses of a `rua` or `ruf` tag, the old size limits (`!10m`) taken off. */
function reportAddresses(value: string): ReportAddress[] {
  return value
    .split(',')
    .map((uri) => uri.trim().replace(/!\d+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '')
    .map((uri) => ({ uri, domain: mailtoDomain(uri) }));
}

function mailtoDomain(uri: string): string | null {
  const address = /^mailto:([^?]*)/i.exec(uri)?.[1] ?? '';
  const at = address.lastIndexOf('@');
  if (at < 1 || /[\s!<>]/.test(address)) return null;
  return normalizeDomain(address.slice(at + 1));
}

interface Destination {
  domain: string;
  /** Where its consent is published. */
  name: string;
  /** null: could not be found out. */
  authorized: boolean | null;
}

/**
 * Destinations outside the organization must consent, or receivers send them nothing: by
 * `<domain>._report._dmarc.<destination>` (RFC 9990 §4, formerly RFC 7489 §7.1). What belongs to the
 * same organization is left out; the Public Suffix List tells.
 */
async function externalDestinations(
  recordDomain: string,
  addresses: ReportAddress[],
  resolver: Resolver,
): Promise<Destination[]> {
  const own = organizationalDomain(recordDomain) ?? recordDomain;
  const domains = new Set<string>();
  for (const { domain } of addresses)
    if (domain !== null && (organizationalDomain(domain) ?? domain) !== own) domains.add(domain);
  return Promise.all(
    [...domains].slice(0, MAX_DESTINATIONS).map(async (domain) => {
      const name = `${recordDomain}._report._dmarc.${domain}`;
      const answer = await resolver(name, 'TXT');
      const consents = answer.status === 'found' && answer.records.some(isDmarcRecord);
      return { domain, name, authorized: answer.status === 'error' ? null : consents };
    }),
  );
}
