/** The DNS records that fix the findings of the domain checks, ready to copy. */

import type { Json } from '../analysis/check.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import { ownerOf } from '../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import {
  ADD_RUA,
  collapseWhitespace,
  hasOwnName,
  isReplaced,
  mergeRecords,
  PLACEHOLDER,
  stripPlaceholderRua,
} from './merge-records.ts';
import type { RecordToPublish } from './schema.ts';
import { verificationRecord } from './verification.ts';

const INVENTED = 'mailto:tls-reports@';
const isWritten = (records: Json | undefined): boolean =>
  Array.isArray(records) && records.some((text) => String(text).includes('tls-reports@'));

/** A check of a domain or of a test. */
type Proposer = Pick<DomainCheck, 'id' | 'status' | 'evidence' | 'fix'>;

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
  const owner = ownerOf(domain);
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

/** Whether the proposed record is only an example, with an invented mailbox, host, or policy. */
export function isExample({ id, evidence, fix }: Proposer, checks: Proposer[]): boolean {
  if (id === 'tls_rpt')
    return fix?.record?.value.includes(INVENTED) === true && !isWritten(evidence.records);
  if (id === 'mta_sts') return true;
  // Another host is one that the domain names already.
  if (id === 'mx') return fix?.record?.value === `10 mx.${fix?.record?.name}`;
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
  if (check.fix?.caution) return check.fix.caution;
  if (PLACEHOLDER.test(record.value))
    return 'Replace the part in angle brackets with your own value first.';
  if (isExample(check, checks))
    return 'This record is an example. Adjust its values to your mail servers and mailboxes first.';
  if (/^\s*v=spf1/i.test(record.value))
    return 'It replaces your current SPF record, if you have one. Keep the other TXT records at this name.';
  if (hasOwnName(record.name)) return 'It replaces the record at this name, if there is one.';
  return null;
}

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
  const value = values.reduce((merged, next) => mergeRecords(replaces[0] ?? '', merged, next));
  if (replaces.length === 1 && collapseWhitespace(replaces[0]!) === collapseWhitespace(value))
    return null;
  return {
    type,
    name,
    value,
    purpose: [...new Set(candidates.map(({ purpose }) => purpose)), ...advice].join(' '),
    action: replaces.length > 0 ? 'replace' : 'add',
    replaces,
    required: candidates.some(({ required }) => required),
  };
}
