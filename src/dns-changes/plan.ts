/** Plans how proposed records become records of a zone: what is added, what is replaced, and what is kept. */

import { createHash } from 'node:crypto';
import { trimText } from '../analysis/run-checks.ts';
import {
  ADD_RUA,
  collapseWhitespace,
  hasOwnName,
  isReplaced,
  isSpf,
  mergeRecords,
  stripPlaceholderRua,
} from '../domains/merge-records.ts';
import { normalizedValue } from './presentation.ts';
import { DEFAULT_TTL, hasSameValues, type RecordSet, type RecordSource } from './server.ts';

export interface ProposedRecord {
  type: string;
  name: string;
  value: string;
  purpose: string;
  checks: string[];
  /**
   * The values at this name and type that the check saw, and from which it made its proposal. What has changed since is
   * kept. Null if they are not known.
   */
  basedOn: string[] | null;
  /** Published beside other records, whatever they are, such as the verification records of several teams. */
  isAdded?: boolean;
  /** It becomes the only record at this name, whatever is there. */
  isFinal?: boolean;
  /** Why it cannot be published as it is; null if it can. */
  problem: string | null;
  /** A condition that only the reader can confirm: the change is published only if chosen. Null if there is none. */
  caution: string | null;
}

export interface PlannedChange {
  name: string;
  type: string;
  /** Null if the server does not hold the name. */
  zone: string | null;
  before: RecordSet;
  /** Equal to `before` if there is a problem, or nothing to do. */
  after: RecordSet;
  /** The values that the checks propose, also if there is a problem. */
  proposed: string[];
  purpose: string;
  checks: string[];
  action: 'add' | 'replace' | 'none';
  problem: string | null;
  caution: string | null;
  needsChoice: boolean;
}

/** At most one change for each name and type. Rejects with a DnsServerError if records cannot be read. */
export async function planChanges(
  source: RecordSource,
  proposals: ProposedRecord[],
): Promise<PlannedChange[]> {
  const groups = Map.groupBy(proposals, ({ type, name }) => `${type} ${name}`);
  const reader = source.forPlan?.() ?? source;
  return Promise.all([...groups.values()].map((group) => planSet(reader, group)));
}

async function planSet(source: RecordSource, proposals: ProposedRecord[]): Promise<PlannedChange> {
  const { name, type } = proposals[0]!;
  const publishable = proposals
    .filter(({ problem }) => problem === null)
    .map((proposal) => ({ ...proposal, value: normalizedValue(type, proposal.value) }));
  const chosen = publishable.length > 0 ? publishable : proposals;
  const none: RecordSet = { name, type, values: [], ttl: DEFAULT_TTL };
  const unchanged = (problem: string | null, before = none, zone: string | null = null) => ({
    name,
    type,
    zone,
    before,
    after: before,
    proposed: [...new Set(chosen.map(({ value }) => value))],
    purpose: [...new Set(chosen.map(({ purpose }) => purpose))].join(' '),
    checks: [...new Set(chosen.flatMap(({ checks }) => checks))],
    action: 'none' as const,
    problem,
    caution: null,
    needsChoice: false,
  });
  if (publishable.length === 0) return unchanged(proposals[0]!.problem);
  const zone = await source.zoneOf(name);
  if (zone === null)
    return unchanged(
      `${name} is not in a zone of this server, or it is delegated to another server.`,
    );
  const alias = await source.read(zone, name, 'CNAME');
  if (type === 'CNAME') {
    const others = await Promise.all(
      BESIDE_ALIAS.map(async (other) =>
        (await source.read(zone, name, other)).values.length > 0 ? [other] : [],
      ),
    );
    // A resolver shows the records of the target.
    if (alias.values.length === 0 && others.flat().length > 0)
      return unchanged(
        `${name} has ${others.flat().join(' and ')} records. Beside an alias (CNAME), there can be no others. Remove them first.`,
        none,
        zone,
      );
  } else if (alias.values.length > 0)
    return unchanged(
      `${name} is an alias (CNAME) of ${alias.values[0]}, so it can have no other records. Publish the record there, or remove the alias first.`,
      none,
      zone,
    );
  // Servers return records in any order, and a plan must be the same each time.
  const found = await source.read(zone, name, type);
  const before = { ...found, values: found.values.toSorted() };
  const result = resultOf(before, publishable);
  if (typeof result === 'string') return unchanged(result, before, zone);
  const after = { ...before, values: result.values };
  if (hasSameValues(before, after))
    return unchanged(result.isShortened ? NEEDS_MAILBOX : null, before, zone);
  const addresses = publishable.some(({ isFinal }) => isFinal)
    ? []
    : await otherAddresses(source, zone, before);
  if (addresses.length > 0)
    return unchanged(
      `${name} has other addresses already: ${addresses.join(', ')}. A further one would also lead its visitors there. If all are of the same server, publish it yourself.`,
      before,
      zone,
    );
  const isReplacement = before.values.length > 0 || publishable.some(({ isFinal }) => isFinal);
  const loss = isReplacement ? NO_LOSS : await wildcardLoss(source, zone, name);
  if (loss.problem !== null) return unchanged(loss.problem, before, zone);
  const cautions = [
    loss.caution,
    ...publishable.map(({ caution }) => caution),
    result.isShortened ? ADD_RUA : null,
    result.isMerged
      ? 'The record has changed since the check. The plan keeps what was added.'
      : null,
  ].filter((caution) => caution !== null);
  return {
    ...unchanged(null, before, zone),
    after,
    action: before.values.every((value) => after.values.includes(value)) ? 'add' : 'replace',
    caution: cautions.length > 0 ? [...new Set(cautions)].join(' ') : null,
    needsChoice: publishable.some(({ caution }) => caution !== null),
  };
}

/** Types that a name with files of a web server has. */
const BESIDE_ALIAS = ['A', 'AAAA', 'TXT', 'MX'];

/** Of both versions, for a set of addresses. */
async function otherAddresses(
  source: RecordSource,
  zone: string,
  { name, type, values }: RecordSet,
): Promise<string[]> {
  if (type !== 'A' && type !== 'AAAA') return [];
  const other = await source.read(zone, name, type === 'A' ? 'AAAA' : 'A');
  return [...values, ...other.values];
}

interface Loss {
  problem: string | null;
  caution: string | null;
}

const NO_LOSS: Loss = { problem: null, caution: null };

/** What a first record at the name takes away: wildcards end there, and at the names between it and the zone. */
async function wildcardLoss(source: RecordSource, zone: string, name: string): Promise<Loss> {
  const cautions: string[] = [];
  for (let at = name; at !== zone; at = at.slice(at.indexOf('.') + 1)) {
    const found = (await source.wildcardTypes?.(zone, at)) ?? [];
    if (found.length === 0) break;
    if (!hasOwnName(at))
      return {
        problem: `${at} has records only by a wildcard (${found.join(', ')}), and would lose them with this record. Publish them at ${at} first.`,
        caution: null,
      };
    // Nobody looks for addresses or mail servers at such names.
    const used = found.filter((type) => type === 'TXT' || type === 'CNAME');
    if (used.length > 0) cautions.push(`the ${used.join(' and ')} records at ${at}`);
  }
  if (cautions.length === 0) return NO_LOSS;
  const caution = `A wildcard provides ${cautions.join(' and ')}, also at names below. It no longer does with this record.`;
  return { problem: null, caution };
}

const NEEDS_MAILBOX =
  'This record needs the address of a mailbox where you read DMARC reports. Add “; rua=mailto:” and the address, and publish the record yourself.';
const CHANGED = 'The records at this name have changed since the check. Run the check again.';

interface Result {
  values: string[];
  /** An invented mailbox was removed. */
  isShortened: boolean;
  /** Changes that were made since the check are kept. */
  isMerged: boolean;
}

/** The values of the set with the proposals, or why they do not fit. */
function resultOf({ values: current }: RecordSet, proposals: ProposedRecord[]): Result | string {
  const added = proposals.filter(isAddedBeside).map(({ value }) => value);
  const replacing = proposals.filter((proposal) => !isAddedBeside(proposal));
  const [first] = replacing;
  const kept = [...new Set([...current, ...added])];
  if (!first) return { values: kept, isShortened: false, isMerged: false };
  if (first.isFinal) return { values: [first.value], isShortened: false, isMerged: false };
  const replaced = current.filter((text) => isReplaced(text, first));
  const parts = replacing.map((proposal) => {
    const value = stripPlaceholderRua(proposal.value, replaced);
    const adapted = adapt({ ...proposal, value }, replaced);
    return { adapted, isShortened: value !== proposal.value, isMerged: adapted !== value };
  });
  const adapted = parts.map((part) => part.adapted).filter((value) => value !== null);
  if (adapted.length < parts.length) return CHANGED;
  const base = replaced[0] ?? '';
  const value = adapted.reduce((merged, next) => mergeRecords(base, merged, next));
  const isThere =
    replaced.length === 1 && collapseWhitespace(replaced[0]!) === collapseWhitespace(value);
  return {
    values: isThere ? kept : replaceIn(kept, replaced, value),
    isShortened: parts.some((part) => part.isShortened),
    isMerged: parts.some((part) => part.isMerged),
  };
}

/** Addresses and the hashes of certificates stand beside each other. */
const isAddedBeside = ({ type, isAdded, isFinal }: ProposedRecord): boolean =>
  isAdded === true || (!isFinal && type !== 'TXT' && type !== 'CAA');

function replaceIn(values: string[], replaced: string[], value: string): string[] {
  const at = values.findIndex((text) => replaced.includes(text));
  const others = (list: string[]) =>
    list.filter((text) => !replaced.includes(text) && text !== value);
  if (at < 0) return [...others(values), value];
  return [...others(values.slice(0, at)), value, ...others(values.slice(at))];
}

/** The proposed value with what has changed at the name since the check; null if that cannot be told. */
function adapt(proposal: ProposedRecord, replaced: string[]): string | null {
  const { value, basedOn } = proposal;
  const base = basedOn?.filter((text) => isReplaced(text, proposal)) ?? [];
  if (replaced.length === 0 || proposal.type === 'CAA' || isSameAs(base, replaced)) return value;
  const isMergeable = isSpf(value) || proposal.name.startsWith('_dmarc.');
  // Without what the check saw, the same key shows that a proposal was made for this record.
  if (!isMergeable)
    return basedOn === null && replaced.every((text) => hasKeyOf(text, value)) ? value : null;
  if (replaced.length > 1 || base.length > 1) return null;
  return mergeRecords(base[0] ?? '', value, replaced[0]!);
}

/** Whether these are the records that a check saw. It may have shortened them. */
function isSameAs(seen: string[], current: string[]): boolean {
  const [before, now] = [seen.toSorted(), current.map(trimText).toSorted()];
  return (
    before.length === now.length &&
    before.every((text, i) => text === now[i] || (text.length >= 500 && now[i]!.startsWith(text)))
  );
}

/** Whether the DKIM record has the public key of the other one, however it is written. */
function hasKeyOf(record: string, value: string): boolean {
  const base64 = (text: string) => text.replace(/[^A-Za-z0-9+/]/g, '');
  const key = base64(/;\s*p\s*=([^;]+)/.exec(value)?.[1] ?? '');
  return key !== '' && base64(record).includes(key);
}

/** Stands for what a person has confirmed: the zones, the values before and after, and what else the plan is `boundTo`. */
export function planToken(changes: PlannedChange[], boundTo: unknown = null): string {
  const essence = changes
    .filter(({ action }) => action !== 'none')
    .map(({ zone, before, after }) => [zone, before, after])
    .map((change) => JSON.stringify(change))
    .toSorted();
  return createHash('sha256')
    .update(JSON.stringify([essence, boundTo]))
    .digest('hex')
    .slice(0, 32);
}
