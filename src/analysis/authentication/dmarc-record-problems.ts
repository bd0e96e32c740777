/** What is weak in a DMARC record that applies: its tags, and where its reports go. */

import type { Fix } from '../check.ts';
import type { DiscardedRecord } from './dmarc-discovery.ts';
import { type DmarcTags, withTag } from './dmarc-tags.ts';
import { type Destination, reportAddresses } from './report-destinations.ts';

export interface DmarcRecordProblem {
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
export function dmarcRecordProblems(applied: AppliedRecord): DmarcRecordProblem[] {
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
