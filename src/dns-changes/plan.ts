/** Plans how proposed records become records of a zone: what is added, what is replaced, and what is kept. */

import { createHash } from 'node:crypto';
import { trimText } from '../analysis/run-checks.ts';
import {
  ADD_RUA,
  collapseWhitespace,
  isReplaced,
  isSpf,
  mergeRecords,
  stripPlaceholderRua,
} from '../domains/merge-records.ts';
import { DEFAULT_TTL, hasSameValues, type RecordSet, type RecordSource } from './server.ts';

/** A record that a finding proposes, or that verifies a domain. */
export interface ProposedRecord {
  type: string;
  name: string;
  value: string;
  /** What it is for, as a sentence. */
  purpose: string;
  /** The ids of the checks that propose it. */
  checks: string[];
  /**
   * The values at this name and type that the check saw, and from which it made its proposal. What has changed since is
   * kept. Null if they are not known.
   */
  basedOn: string[] | null;
  /** Published beside other records, whatever they are, such as the verification records of several teams. */
  isAdded?: boolean;
  /** Why it cannot be published as it is; null if it can. */
  problem: string | null;
  /** What to know before publishing it. */
  caution: string | null;
}

/** The change of one set of records. */
export interface PlannedChange {
  name: string;
  type: string;
  /** Null if the server does not hold the name. */
  zone: string | null;
  before: RecordSet;
  /** Equal to `before` if there is a problem, or nothing to do. */
  after: RecordSet;
  purpose: string;
  checks: string[];
  action: 'add' | 'replace' | 'none';
  /** Why it cannot be applied, and what to do; null if it can. */
  problem: string | null;
  /** What to know before applying it. */
  caution: string | null;
}

/** At most one change for each name and type. Rejects with a DnsServerError if records cannot be read. */
export async function planChanges(
  source: RecordSource,
  proposals: ProposedRecord[],
): Promise<PlannedChange[]> {
  const groups = Map.groupBy(proposals, ({ type, name }) => `${type} ${name}`);
  return Promise.all([...groups.values()].map((group) => planSet(source, group)));
}

async function planSet(source: RecordSource, proposals: ProposedRecord[]): Promise<PlannedChange> {
  const { name, type } = proposals[0]!;
  const publishable = proposals.filter(({ problem }) => problem === null);
  const chosen = publishable.length > 0 ? publishable : proposals;
  const none: RecordSet = { name, type, values: [], ttl: DEFAULT_TTL };
  const unchanged = (problem: string | null, before = none, zone: string | null = null) => ({
    ...{ name, type, zone, before, after: before },
    purpose: [...new Set(chosen.map(({ purpose }) => purpose))].join(' '),
    checks: [...new Set(chosen.flatMap(({ checks }) => checks))],
    action: 'none' as const,
    problem,
    caution: null,
  });
  if (publishable.length === 0) return unchanged(proposals[0]!.problem);
  const zone = await source.zoneOf(name);
  if (zone === null)
    return unchanged(
      `${name} is not in a zone of this server, or it is delegated to another server.`,
    );
  const alias = await source.read(zone, name, 'CNAME');
  if (alias.values.length > 0)
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
  const cautions = [
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
  };
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
const isAddedBeside = ({ type, isAdded }: ProposedRecord): boolean =>
  isAdded === true || (type !== 'TXT' && type !== 'CAA');

/** The first of the replaced values becomes the new one, in its place. */
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
  const base = basedOn?.filter((text) => isReplaced(text, proposal)) ?? (isSpf(value) ? [] : null);
  const isUnchanged = (seen: string[]) =>
    JSON.stringify(seen.toSorted()) === JSON.stringify(replaced.map(trimText).toSorted());
  if (base === null || replaced.length === 0 || isUnchanged(base)) return value;
  if (replaced.length > 1 || base.length > 1) return null;
  return mergeRecords(base[0] ?? '', value, replaced[0]!);
}

/** Stands for what a person has confirmed: the zones, and the values before and after. */
export function planToken(changes: PlannedChange[]): string {
  const essence = changes
    .filter(({ action }) => action !== 'none')
    .map(({ zone, before, after }) => [zone, before, after])
    .map((change) => JSON.stringify(change))
    .toSorted();
  return createHash('sha256').update(JSON.stringify(essence)).digest('hex').slice(0, 32);
}
