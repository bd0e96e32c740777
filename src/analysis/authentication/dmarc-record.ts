/** The check `dmarc_record`: can receivers use the DMARC record, and do its reports arrive? */

import type { Resolver } from '../../net/resolver.ts';
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
import {
  type DiscardedRecord,
  type DmarcDiscovery,
  dmarcDiscovery,
  unusableRecord,
} from './dmarc-discovery.ts';
import { dmarcRecordProblems } from './dmarc-record-problems.ts';
import { parseDmarcTags, repairedRecord } from './dmarc-tags.ts';
import { externalDestinations, reportAddresses } from './report-destinations.ts';

export const dmarcRecord: Check = {
  id: 'dmarc_record',
  category: 'authentication',
  points: 2,
  label: 'DMARC record',
  reference: rfc(9989, '4.7'),
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
