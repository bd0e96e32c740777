/** The DNS records that fix what a domain check has found; each can be copied as it is. */

import { caaProblem, parseCaa } from '../analysis/checks/caa.ts';
import type { DomainCheck } from '../analysis/domain/health.ts';
import { organizationalDomain } from '../lib/domain-names.ts';
import { type Resolver, recordsOf } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import type { RecordToPublish } from './schema.ts';
import { verificationRecord } from './verification.ts';

/** What only its owner knows leaves a gap like this. */
const GAP = /<[^<>]+>/;
/** Their records are examples: of a mailbox or a host that nobody has, of a policy that nobody serves. */
const EXAMPLES = ['mx', 'tls_rpt', 'mta_sts'];

/** The record goes without what only its owner knows. */
const MAILBOX_GAP = 'Put “; rua=mailto:” and a mailbox of yours behind it.';

interface Candidate {
  type: 'TXT' | 'CAA';
  name: string;
  value: string;
  purpose: string;
  required: boolean;
}

/** One for a type and name at most, those that are required first; asks the DNS what they replace. */
export async function recordsToPublish(
  resolver: Resolver,
  row: Pick<DomainRow, 'name' | 'token' | 'status' | 'missing_since'>,
  checks: DomainCheck[],
): Promise<RecordToPublish[]> {
  const places = Map.groupBy(candidatesOf(row.name, checks), ({ type, name }) => `${type} ${name}`);
  const settled = await Promise.all([...places.values()].map((some) => settle(resolver, some)));
  const fixes = settled
    .filter((one) => one !== null)
    .toSorted((a, b) => Number(b.required) - Number(a.required));
  const isProven = row.status === 'verified' && row.missing_since === null;
  return isProven ? fixes : [proofOf(row), ...fixes];
}

/** Beside others at its name, such as that of another team. */
const proofOf = (row: Pick<DomainRow, 'name' | 'token'>): RecordToPublish => ({
  ...verificationRecord(row),
  purpose: 'Proof that the domain is yours',
  action: 'add',
  replaces: [],
  required: true,
});

function candidatesOf(domain: string, checks: DomainCheck[]): Candidate[] {
  const owner = organizationalDomain(domain) ?? domain;
  return checks.flatMap((check): Candidate[] => {
    const { label, status, fix } = check;
    const record = fix?.record;
    if (!record || !isOwn(record.name, owner) || isExample(check, checks)) return [];
    const { type, name, value } = record;
    if ((type !== 'TXT' && type !== 'CAA') || GAP.test(value)) return [];
    const purpose = `${label}: ${fix.text}`;
    return [{ type, name, value, purpose, required: status === 'fail' }];
  });
}

const isOwn = (name: string, owner: string): boolean =>
  name === owner || name.endsWith(`.${owner}`);

function isExample({ id, evidence }: DomainCheck, checks: DomainCheck[]): boolean {
  if (EXAMPLES.includes(id)) return true;
  // Where there is no record, the authority or the logo is anybody's.
  if (id === 'caa') return !Array.isArray(evidence.records) || evidence.records.length === 0;
  if (id === 'bimi') return evidence.record == null;
  // The proposal for a domain without a record names its mail servers: it must have some.
  const withoutSpf = id === 'spf_record' && evidence.records === undefined;
  return withoutSpf && checks.some((check) => check.id === 'mx' && check.status !== 'pass');
}

/** What several checks ask of one place, as one record; null where there is nothing left to publish. */
async function settle(resolver: Resolver, some: Candidate[]): Promise<RecordToPublish | null> {
  const { type, name } = some[0]!;
  const present = recordsOf(await resolver(name, type));
  // An alias is published by somebody else, and what is not known cannot be replaced.
  if (present === null || (await resolver(name, 'CNAME')).status === 'found') return null;
  const replaces = present.filter((text) => isReplaced(text, some[0]!));
  const values = some.map(({ value }) => withoutInvented(value, replaces));
  const isCut = some.some(({ value }, i) => value !== values[i]);
  const gap = isCut ? [MAILBOX_GAP] : [];
  const value = values.reduce((merged, next) => mergeTagLists(replaces[0] ?? '', merged, next));
  if (replaces.length === 1 && plain(replaces[0]!) === plain(value)) return null;
  return {
    ...{ type, name, value },
    purpose: [...new Set(some.map(({ purpose }) => purpose)), ...gap].join(' '),
    action: replaces.length > 0 ? 'replace' : 'add',
    replaces,
    required: some.some(({ required }) => required),
  };
}

const plain = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Of the texts at the place, those that the new one is to stand for; others stay beside it. */
function isReplaced(text: string, { type, name, value }: Candidate): boolean {
  if (type === 'CAA') return caaProblem(parseCaa(text), text)?.corrected === value;
  // A name for one purpose, as _dmarc; the name of a domain has records of all kinds.
  return name.startsWith('_') || name.includes('._') || /^[\s"']*v\s*=\s*spf1/i.test(text);
}

/** A mailbox for DMARC reports that is in no record so far is invented. */
function withoutInvented(value: string, present: string[]): string {
  const rua = /(?:^|;)\s*rua\s*=\s*(mailto:dmarc-reports@[^;\s]+)/i.exec(value)?.[1];
  if (!rua || present.some((text) => text.includes(rua))) return value;
  return withoutTag(value, 'rua');
}

// Two proposals for one record made of tags, as DMARC has it, as one: what each of them changes.

/** `before`: the text that both have changed, empty where there is none. Not for texts without tags. */
function mergeTagLists(before: string, one: string, other: string): string {
  const [old, first, second] = [tagsOf(before), tagsOf(one), tagsOf(other)];
  // The words of an SPF record are no tags: the first proposal stands.
  if (first.size < 2 || second.size < 2) return one;
  const merged = new Map(first);
  for (const [name, value] of second)
    if (!merged.has(name) ? !old.has(name) : value !== old.get(name)) merged.set(name, value);
  for (const name of old.keys()) if (!second.has(name)) merged.delete(name);
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
