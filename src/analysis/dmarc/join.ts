/** Joins the DMARC records of a domain into the one that they mean, whatever their order, which is random in DNS. */

import {
  isDmarcRecord,
  isPolicy,
  parseDmarcTags,
  percentOf,
  repairedRecord,
  STRENGTH,
} from './record.ts';

export interface JoinedDmarc {
  record: string;
  /** The policy of the strictest record, as the next step; null if all have the same one. */
  next: string | null;
}

/**
 * One record with all report addresses. If none of the records applies today, a stricter policy would begin at once, so
 * the weaker one of each kind is kept. The record that applies keeps its policy.
 */
export function joinDmarc(texts: string[]): JoinedDmarc {
  const sorted = texts.toSorted();
  const intact = sorted.filter(isDmarcRecord);
  const all = sorted.map((text) => parseDmarcTags(repairedRecord(text)).tags);
  // Receivers discard all records if two begin with the version, even if only one has a policy.
  const isApplied = intact.length === 1 && isUsable(intact[0]!);
  const deciding = isApplied ? [parseDmarcTags(repairedRecord(intact[0]!)).tags] : all;
  // A policy for a part of the mail must not begin for all of it at once.
  const isExempt = (tags: Map<string, string>) =>
    !isApplied && all.length > 1 && percentOf(tags) < 100;
  const policies = ['p', 'sp', 'np'].map((name) =>
    weakest(deciding.map((tags) => (isExempt(tags) ? 'none' : policyOf(tags, name)))),
  );
  const [p = 'none', sp = p, np = sp] = policies;
  const others = new Map(deciding.flatMap((tags) => [...tags]));
  const joined = new Map([
    ...Object.entries({ v: 'DMARC1', p }),
    ...(sp === p && !isSaid(deciding, 'sp') ? [] : ([['sp', sp]] as const)),
    ...(np === sp && !isSaid(deciding, 'np') ? [] : ([['np', np]] as const)),
    ...['rua', 'ruf'].flatMap((name) => addressesIn([...deciding, ...all], name)),
    ...[...others].flatMap(([name]) => otherTag(deciding, name)),
  ]);
  const strictest = STRENGTH.findLast((policy) =>
    deciding.some((tags) => tags.get('p') === policy),
  );
  return {
    record: texts.length === 1 ? repairedRecord(texts[0]!) : textOf(joined),
    next: strictest === p ? null : (strictest ?? null),
  };
}

const isUsable = (text: string): boolean => {
  const { tags, duplicates } = parseDmarcTags(text);
  return duplicates.length === 0 && (isPolicy(tags.get('p')) || tags.has('rua'));
};

const textOf = (tags: Map<string, string>): string =>
  [...tags].map(([name, value]) => `${name}=${value}`).join('; ');

/** What a record says of these domains: `np` is `sp` unless it says otherwise, and `sp` is `p`. */
function policyOf(tags: Map<string, string>, name: string): string {
  const names = ['np', 'sp', 'p'];
  const said = names.slice(names.indexOf(name)).find((tag) => tags.has(tag));
  return tags.get(said ?? 'p')?.toLowerCase() ?? 'none';
}

const weakest = (policies: string[]): string =>
  STRENGTH.find((policy) => policies.includes(policy)) ?? 'none';

const isSaid = (records: Map<string, string>[], name: string): boolean =>
  records.every((tags) => tags.has(name));

function addressesIn(records: Map<string, string>[], name: string): [string, string][] {
  const uris = new Map<string, string>();
  for (const uri of records.flatMap((tags) => tags.get(name)?.split(',') ?? [])) {
    const key = uri.toLowerCase().replace(/!\d+[kmgt]?$/, '');
    if (!uris.has(key)) uris.set(key, uri);
  }
  return uris.size > 0 ? [[name, [...uris.values()].join(',')]] : [];
}

/** Relaxed alignment, and test mode, unless all say otherwise. A policy that begins now needs no `pct`. */
function otherTag(records: Map<string, string>[], name: string): [string, string][] {
  if (['v', 'p', 'sp', 'np', 'rua', 'ruf'].includes(name)) return [];
  const values = records.flatMap((tags) => tags.get(name) ?? []);
  if (records.length === 1 || name === 'fo') return [[name, values[0]!]];
  if (name === 't') return values.some((value) => /^y$/i.test(value)) ? [['t', 'y']] : [];
  const isAgreed = values.length === records.length && new Set(values).size === 1;
  return name !== 'pct' && isAgreed ? [[name, values[0]!]] : [];
}
