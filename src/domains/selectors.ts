/** The DKIM selectors of a domain: given by users, learned from messages, and expiring. */

import type { DomainCheck } from '../analysis/domain/health.ts';
import { isoTime } from '../lib/clock.ts';
import { normalizeDomain, ownerOf } from '../lib/domain-names.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { lockIn, type Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { isSelector, MAX_SELECTORS } from './schema.ts';

/** As stored. */
interface LearnedSelector {
  selector: string;
  /** When the last message that it signed was received. */
  seen_at: string;
}

type SelectorColumns = Pick<DomainRow, 'given_selectors' | 'learnt_selectors'>;

/**
 * Signers rotate keys and remove the old one from DNS later. A learned selector that signed nothing for
 * this long no longer needs a key.
 */
const EXPIRY_MS = 7 * DAY_MS;

const givenSelectors = ({ given_selectors }: SelectorColumns): string[] =>
  JSON.parse(given_selectors);

/** In the order in which they were first seen. */
const learnedSelectors = ({ learnt_selectors }: SelectorColumns): LearnedSelector[] =>
  JSON.parse(learnt_selectors);

/** The given selectors, followed by the learned ones. */
export function selectorsOf(row: SelectorColumns): string[] {
  const learned = learnedSelectors(row).map(({ selector }) => selector);
  return [...new Set([...givenSelectors(row), ...learned])];
}

/** Learned selectors that no longer need a key. `now` is in ms since the epoch. */
export function expiringSelectors(row: SelectorColumns, now: number): string[] {
  const given = new Set(givenSelectors(row));
  return learnedSelectors(row).flatMap(({ selector, seen_at }) =>
    !given.has(selector) && now - Date.parse(seen_at) >= EXPIRY_MS ? [selector] : [],
  );
}

/** The changed columns after checks at `now` found no keys for expiring selectors; empty if none change. */
export function withoutExpired(
  row: SelectorColumns,
  checks: DomainCheck[],
  now: number,
): Partial<SelectorColumns> {
  const expiring = new Set(expiringSelectors(row, now));
  const found = new Set(
    checks.flatMap(({ id, evidence }) => (id === 'dkim_selector' ? [evidence.selector] : [])),
  );
  const learned = learnedSelectors(row);
  const kept = learned.filter(({ selector }) => !expiring.has(selector) || found.has(selector));
  return kept.length === learned.length ? {} : { learnt_selectors: JSON.stringify(kept) };
}

// Learning the DKIM selectors of the team's domains from received messages.

/** A valid signature that is aligned with the From domain. */
export interface Signature {
  /** `d=` */
  domain: string;
  /** `s=` */
  selector: string;
}

/** `seen_at` is updated at most this often, to avoid a write for every message. */
const SEEN_UPDATE_INTERVAL_MS = HOUR_MS;

interface Sighting {
  fromDomain: string;
  signatures: Signature[];
  /** When the message was received, in ms since the epoch. */
  at: number;
}

/**
 * Adds selectors to the signing domain, if it belongs to the owner of the From domain. If there are too
 * many, the least recently seen ones are dropped.
 */
export async function learnSelectors(
  tx: Tx,
  { fromDomain, signatures, at }: Sighting,
): Promise<void> {
  const owner = ownerOf(fromDomain);
  const ownSignatures = signatures.flatMap(({ domain, selector }) => {
    const [name, label] = [normalizeDomain(domain), normalizeDomain(selector)];
    const isOwnDomain = name !== null && ownerOf(name) === owner;
    return isOwnDomain && label !== null && isSelector(label) ? [{ name, label }] : [];
  });
  if (ownSignatures.length === 0) return;
  const query = tx
    .selectFrom('domains')
    .select(['id', 'name', 'given_selectors', 'learnt_selectors'])
    .where('name', 'in', [...new Set(ownSignatures.map(({ name }) => name))])
    .orderBy('id');
  type Row = Awaited<ReturnType<typeof query.execute>>[number];
  const learn = (row: Row): string => {
    const seenSelectors = ownSignatures.flatMap(({ name, label }) =>
      name === row.name ? [label] : [],
    );
    return JSON.stringify(
      updateSeen(learnedSelectors(row), givenSelectors(row), seenSelectors, at),
    );
  };
  const isNew = (row: Row) => learn(row) !== row.learnt_selectors;
  // Usually, all are known, and other results need not wait for this transaction.
  if (!(await query.execute()).some(isNew)) return;
  for (const row of (await lockIn(tx, query).execute()).filter(isNew))
    await tx
      .updateTable('domains')
      .set({ learnt_selectors: learn(row) })
      .where('id', '=', row.id)
      .execute();
}

function updateSeen(
  learned: LearnedSelector[],
  given: string[],
  seenSelectors: string[],
  at: number,
): LearnedSelector[] {
  const seenAtBySelector = new Map(learned.map(({ selector, seen_at }) => [selector, seen_at]));
  for (const selector of seenSelectors) {
    const previousSeenAt = seenAtBySelector.get(selector);
    if (given.includes(selector)) continue;
    if (previousSeenAt === undefined || at - Date.parse(previousSeenAt) >= SEEN_UPDATE_INTERVAL_MS)
      seenAtBySelector.set(selector, isoTime(at));
  }
  const capacity = Math.max(0, MAX_SELECTORS - given.length);
  const latestTimes = [...seenAtBySelector.values()].sort().reverse();
  const entries = [...seenAtBySelector].map(([selector, seen_at]) => ({ selector, seen_at }));
  // Among selectors last seen at the same time, the newest are kept.
  for (const time of latestTimes.slice(capacity).reverse())
    entries.splice(
      entries.findIndex(({ seen_at }) => seen_at === time),
      1,
    );
  return entries;
}
