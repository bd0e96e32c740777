/** The records of a domain that the hourly look compares: what they are, and what changed since the last look. */

import { resemblesSpf } from '../analysis/spf/repair.ts';
import { isoTime } from '../lib/clock.ts';
import { organizationalDomain } from '../lib/domain-names.ts';
import { DAY_MS } from '../lib/durations.ts';
import { type RecordType, type Resolver, recordsOf } from '../net/dns/resolver.ts';
import type { DomainRow } from '../store/tables.generated.ts';

/** Records with a common purpose, such as the SPF record. */
export interface WatchedSet {
  /** The usual name: "SPF record". */
  label: string;
  name: string;
  type: RecordType;
}

/** What the last looks found, by label, as the column `watched` stores it. */
export interface Watched {
  sets: Record<string, KnownSet>;
  /** How many looks in a row got no answer about the domain from a resolver that works. */
  failures: number;
  /** When the first of them was. */
  failing_since?: string;
  /** The health before too many of them made it unknown. */
  known_health?: DomainRow['health_status'];
}

/** After this many looks without an answer, the domain counts as unreachable, and its health is unknown. */
export const UNANSWERED_LOOKS = 3;

/** When DNS stopped answering, if the health is unknown because of that; otherwise null. */
export function unansweredSince(row: Pick<DomainRow, 'watched' | 'health_status'>): string | null {
  if (row.watched === null || row.health_status !== 'unknown') return null;
  const { failures, failing_since }: Watched = JSON.parse(row.watched);
  return failures >= UNANSWERED_LOOKS ? (failing_since ?? null) : null;
}

/** The last health that was known. */
export function lastKnownHealth(
  row: Pick<DomainRow, 'watched' | 'health_status'>,
): DomainRow['health_status'] {
  if (row.watched === null || row.health_status !== 'unknown') return row.health_status;
  return (JSON.parse(row.watched) as Watched).known_health ?? 'unknown';
}

interface KnownSet {
  /** Sorted. */
  values: string[];
  /** Before the changes of the last day, and when the last of them was found. */
  was?: string[];
  changed_at?: string;
}

/** What one look found, by label; null if the lookup failed. */
export type Found = Map<WatchedSet, string[] | null>;

const TXT_PREFIXES = {
  DMARC: '_dmarc',
  'MTA-STS': '_mta-sts',
  'TLS-RPT': '_smtp._tls',
  BIMI: 'default._bimi',
};

export const watchedSets = (domain: string, selectors: string[]): WatchedSet[] => [
  { label: 'SPF record', name: domain, type: 'TXT' },
  ...Object.entries(TXT_PREFIXES).map(
    ([label, prefix]): WatchedSet => ({
      label: `${label} record`,
      name: `${prefix}.${domain}`,
      type: 'TXT',
    }),
  ),
  ...selectors.map(
    (selector): WatchedSet => ({
      label: `DKIM key ${selector}`,
      name: `${selector}._domainkey.${domain}`,
      type: 'TXT',
    }),
  ),
  ...(['MX', 'NS', 'DS'] as const).map(
    (type): WatchedSet => ({
      label: `${type} records`,
      name: domain,
      type,
    }),
  ),
];

/** The values of a set in one form, so that neither their order nor the case of host names makes a difference. */
export function canonical({ label, type }: Pick<WatchedSet, 'label' | 'type'>, values: string[]) {
  const own = label === 'SPF record' ? values.filter(resemblesSpf) : values;
  return own.map((text) => (type === 'TXT' ? text : text.toLowerCase())).sort();
}

export async function lookUpSets(
  resolver: Resolver,
  domain: string,
  sets: WatchedSet[],
): Promise<Found> {
  const found = await Promise.all(
    sets.map(async (set) => [set, await lookUpSet(resolver, domain, set)] as const),
  );
  return new Map(found);
}

async function lookUpSet(
  resolver: Resolver,
  domain: string,
  set: WatchedSet,
): Promise<string[] | null> {
  const { label, name, type } = set;
  const records = recordsOf(await resolver(name, type));
  if (records === null) return null;
  const values = canonical(set, records);
  if (label.startsWith('DKIM')) return keyOrAlias(resolver, name, values);
  if (label !== 'DMARC record' || values.length > 0) return values;
  // RFC 9989 §4.10: without a record of its own, the policy of the organizational domain applies.
  const parent = organizationalDomain(domain);
  if (parent === null || parent === domain) return values;
  const inherited = recordsOf(await resolver(`_dmarc.${parent}`, type));
  return inherited && canonical(set, inherited).map((text) => `${text} (at _dmarc.${parent})`);
}

/** Services replace the key behind an alias whenever they like: only the alias is the domain's own. */
async function keyOrAlias(
  resolver: Resolver,
  name: string,
  values: string[],
): Promise<string[] | null> {
  const aliases = recordsOf(await resolver(name, 'CNAME'));
  if (aliases === null) return null;
  if (aliases.length === 0) return values;
  const end = values.length === 0 ? ' (without a key)' : '';
  return aliases.map((target) => `CNAME ${target.toLowerCase()}${end}`);
}

/** What a look says about one set. */
export interface SetChange {
  set: WatchedSet;
  /** `settled`: it has not changed for a day, so it is the usual state from now on. */
  state: 'changed' | 'restored' | 'settled';
  /** At the last look. */
  previous: string[];
  /** Before the changes of the last day, and now. */
  was: string[];
  is: string[];
}

const SETTLED_AFTER_MS = DAY_MS;

/** `before`: null for the first look. What failed stays as it was. */
export function compareLooks(
  before: Watched | null,
  found: Found,
  now: number,
): { sets: Watched['sets']; changes: SetChange[] } {
  const sets: Watched['sets'] = {};
  const changes: SetChange[] = [];
  for (const [set, values] of found) {
    const known = before?.sets[set.label];
    const is = values ?? known?.values;
    if (!is) continue;
    const next = nextState(known, is, now);
    sets[set.label] = next;
    const state = stateAfter(known, next);
    if (known && state) {
      const previous = known.values;
      changes.push({ set, state, previous, was: known.was ?? previous, is });
    }
  }
  return { sets, changes };
}

function nextState(known: KnownSet | undefined, values: string[], now: number): KnownSet {
  if (!known) return { values };
  if (isSame(known.values, values)) {
    const { changed_at } = known;
    const isSettled = changed_at && now - Date.parse(changed_at) >= SETTLED_AFTER_MS;
    return isSettled ? { values } : known;
  }
  const was = known.was ?? known.values;
  return isSame(was, values) ? { values } : { values, was, changed_at: isoTime(now) };
}

function stateAfter(known: KnownSet | undefined, next: KnownSet): SetChange['state'] | null {
  if (!known || known === next) return null;
  if (next.was) return 'changed';
  if (!known.was) return null;
  return isSame(known.was, next.values) ? 'restored' : 'settled';
}

const isSame = (a: string[], b: string[]): boolean => JSON.stringify(a) === JSON.stringify(b);
