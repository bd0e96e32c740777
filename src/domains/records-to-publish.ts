/** The DNS records that fix the findings of the domain checks, ready to copy. */

import { findCaaProblem, parseCaa } from '../analysis/checks/caa.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import { ownedDomain } from '../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { RecordToPublish } from './schema.ts';
import { verificationRecord } from './verification.ts';

/** A placeholder for a value that only the owner knows. */
const PLACEHOLDER = /<[^<>]+>/;
/** Checks whose proposed records are only examples, with an invented mailbox, host, or policy. */
const EXAMPLES = ['mx', 'mta_sts'];

/** Added to the purpose if an invented report mailbox was removed from the record. */
const ADD_RUA = 'To receive reports, append “; rua=mailto:” and your mailbox address.';

interface Candidate {
  type: 'TXT' | 'CAA';
  name: string;
  value: string;
  purpose: string;
  required: boolean;
}

/** At most one record per type and name, required ones first. Looks up which records they replace. */
export async function recordsToPublish(
  resolver: Resolver,
  row: Pick<DomainRow, 'name' | 'token' | 'status' | 'missing_since'>,
  checks: DomainCheck[],
): Promise<RecordToPublish[]> {
  const groups = Map.groupBy(candidatesOf(row.name, checks), ({ type, name }) => `${type} ${name}`);
  const merged = await Promise.all([...groups.values()].map((group) => merge(resolver, group)));
  const fixes = merged
    .filter((record) => record !== null)
    .toSorted((a, b) => Number(b.required) - Number(a.required));
  const isProven = row.status === 'verified' && row.missing_since === null;
  return isProven ? fixes : [verificationToPublish(row), ...fixes];
}

/** Published alongside other records at the same name, such as another team's. */
const verificationToPublish = (row: Pick<DomainRow, 'name' | 'token'>): RecordToPublish => ({
  ...verificationRecord(row),
  purpose: 'Proves that you control the domain',
  action: 'add',
  replaces: [],
  required: true,
});

function candidatesOf(domain: string, checks: DomainCheck[]): Candidate[] {
  const owner = ownedDomain(domain) ?? domain;
  return checks.flatMap((check): Candidate[] => {
    const { label, status, fix } = check;
    const record = fix?.record;
    if (!record || !isWithin(record.name, owner) || isExample(check, checks)) return [];
    const { type, name, value } = record;
    if ((type !== 'TXT' && type !== 'CAA') || PLACEHOLDER.test(value)) return [];
    const purpose = `${label}: ${fix.text}`;
    return [{ type, name, value, purpose, required: status === 'fail' }];
  });
}

const isWithin = (name: string, owner: string): boolean =>
  name === owner || name.endsWith(`.${owner}`);

function isExample({ id, evidence, fix }: DomainCheck, checks: DomainCheck[]): boolean {
  if (id === 'tls_rpt') return fix?.record?.value.includes('mailto:tls-reports@') === true;
  if (EXAMPLES.includes(id)) return true;
  // Without an existing record, the proposed authority or logo is invented.
  if (id === 'caa') return !Array.isArray(evidence.records) || evidence.records.length === 0;
  if (id === 'bimi') return evidence.record == null;
  // The proposal for a domain without an SPF record refers to its MX records, so it must have some.
  const hasNoSpfRecord = id === 'spf_record' && evidence.records === undefined;
  return hasNoSpfRecord && checks.some((check) => check.id === 'mx' && check.status !== 'pass');
}

/** What to know before publishing the record of a fix; null if it can be published as it is. */
export function recordCaution(check: DomainCheck, checks: DomainCheck[]): string | null {
  const record = check.fix?.record;
  if (!record) return null;
  if (PLACEHOLDER.test(record.value))
    return 'Replace the part in angle brackets with your own value first.';
  if (isExample(check, checks))
    return 'This record is an example. Adjust its values to your mail servers and mailboxes first.';
  if (/^\s*v=spf1/i.test(record.value))
    return 'It replaces your current SPF record, if you have one. Keep the other TXT records at this name.';
  if (hasOwnName(record.name)) return 'It replaces the record at this name, if there is one.';
  return null;
}

/** A name such as _dmarc has a single purpose; a domain name has TXT records of all kinds. */
const hasOwnName = (name: string): boolean => name.startsWith('_') || name.includes('._');

/** Merges the candidates for one type and name into one record; null if there is nothing to publish. */
async function merge(resolver: Resolver, candidates: Candidate[]): Promise<RecordToPublish | null> {
  const { type, name } = candidates[0]!;
  const current = recordsOf(await resolver(name, type));
  // The target of an alias may belong to someone else, and unknown records can't be replaced.
  if (current === null || (await resolver(name, 'CNAME')).status === 'found') return null;
  const replaces = current.filter((text) => isReplaced(text, candidates[0]!));
  const values = candidates.map(({ value }) => stripPlaceholderRua(value, replaces));
  const isShortened = candidates.some(({ value }, i) => value !== values[i]);
  const advice = isShortened ? [ADD_RUA] : [];
  const value = values.reduce((merged, next) => mergeTagLists(replaces[0] ?? '', merged, next));
  if (replaces.length === 1 && collapseWhitespace(replaces[0]!) === collapseWhitespace(value))
    return null;
  return {
    ...{ type, name, value },
    purpose: [...new Set(candidates.map(({ purpose }) => purpose)), ...advice].join(' '),
    action: replaces.length > 0 ? 'replace' : 'add',
    replaces,
    required: candidates.some(({ required }) => required),
  };
}

const collapseWhitespace = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Whether the new record replaces this one instead of being added alongside it. */
function isReplaced(text: string, { type, name, value }: Candidate): boolean {
  if (type === 'CAA') return findCaaProblem(parseCaa(text), text)?.corrected === value;
  return hasOwnName(name) || /^[\s"']*v\s*=\s*spf1/i.test(text);
}

/** Removes a report mailbox that no current DMARC record contains, because the proposal invented it. */
function stripPlaceholderRua(value: string, current: string[]): string {
  const rua = /(?:^|;)\s*rua\s*=\s*(mailto:dmarc-reports@[^;\s]+)/i.exec(value)?.[1];
  if (!rua || current.some((text) => text.includes(rua))) return value;
  return withoutTag(value, 'rua');
}

// Merging two proposals for one record that consists of tags, such as DMARC.

/** Applies the changes of both proposals to the current record, which is empty if there is none. */
function mergeTagLists(currentRecord: string, firstRecord: string, secondRecord: string): string {
  const [current, first, second] = [
    tagsOf(currentRecord),
    tagsOf(firstRecord),
    tagsOf(secondRecord),
  ];
  // An SPF record has no tags, so the first proposal wins.
  if (first.size < 2 || second.size < 2) return firstRecord;
  const merged = new Map(first);
  for (const [name, value] of second)
    if (!merged.has(name) ? !current.has(name) : value !== current.get(name))
      merged.set(name, value);
  for (const name of current.keys()) if (!second.has(name)) merged.delete(name);
  return [...merged].map(([name, value]) => `${name}=${value}`).join('; ');
}

function withoutTag(record: string, unwanted: string): string {
  const tags = [...tagsOf(record)].filter(([name]) => name.toLowerCase() !== unwanted);
  return tags.map(([name, value]) => `${name}=${value}`).join('; ');
}

function tagsOf(record: string): Map<string, string> {
  const parts = record.split(';').map((part) => part.trim());
  return new Map(
    parts.flatMap((part) => {
      const equals = part.indexOf('=');
      return equals < 1 ? [] : [[part.slice(0, equals).trim(), part.slice(equals + 1).trim()]];
    }),
  );
}
