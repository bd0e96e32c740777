/** The DKIM selectors of a domain: those given, those learnt from mail, and those that mail uses no more. */

import type { DomainCheck } from '../analysis/domain/health.ts';
import { isoTime } from '../lib/clock.ts';
import { normalizeDomain, organizationalDomain } from '../lib/domain-names.ts';
import type { Tx } from '../store/open.ts';
import type { DomainRow } from '../store/tables.generated.ts';
import { isSelector, MOST_SELECTORS } from './schema.ts';

/** As it is kept. */
interface LearntSelector {
  selector: string;
  /** When the last mail came that it has signed. */
  seen_at: string;
}

type Kept = Pick<DomainRow, 'given_selectors' | 'learnt_selectors'>;

/**
 * A signer changes its key, and takes the old one out of the DNS a little later: a learnt selector
 * that has signed nothing for so long has no need of its key.
 */
const WANING_MS = 7 * 24 * 3_600_000;

const givenSelectors = ({ given_selectors }: Kept): string[] => JSON.parse(given_selectors);

/** In the order in which they were first seen. */
const learntSelectors = ({ learnt_selectors }: Kept): LearntSelector[] =>
  JSON.parse(learnt_selectors);

/** Those given, then those learnt from mail. */
export function selectorsOf(row: Kept): string[] {
  const learnt = learntSelectors(row).map(({ selector }) => selector);
  return [...new Set([...givenSelectors(row), ...learnt])];
}

/** Those whose keys may be gone without harm. `now` in milliseconds since 1970. */
export function waningSelectors(row: Kept, now: number): string[] {
  const given = new Set(givenSelectors(row));
  return learntSelectors(row).flatMap(({ selector, seen_at }) =>
    !given.has(selector) && now - Date.parse(seen_at) >= WANING_MS ? [selector] : [],
  );
}

/** What changes in the row where the keys of waning selectors were looked for at `now` and are gone. */
export function withoutGone(row: Kept, checks: DomainCheck[], now: number): Partial<Kept> {
  const waning = new Set(waningSelectors(row, now));
  const found = new Set(
    checks.flatMap(({ id, evidence }) => (id === 'dkim_selector' ? [evidence.selector] : [])),
  );
  const learnt = learntSelectors(row);
  const kept = learnt.filter(({ selector }) => !waning.has(selector) || found.has(selector));
  return kept.length === learnt.length ? {} : { learnt_selectors: JSON.stringify(kept) };
}

// Learns the DKIM selectors of the team's domains from the mail that they have signed.

/** Of a signature that has verified, and is aligned with the From domain. */
export interface Signature {
  /** `d=` */
  domain: string;
  /** `s=` */
  selector: string;
}

/** What a sighting is written down for: a day of mail is one write, not a thousand. */
const SEEN_AGAIN_MS = 3_600_000;

interface Sighting {
  fromDomain: string;
  signatures: Signature[];
  /** When the mail came, in milliseconds since 1970. */
  at: number;
}

/**
 * A selector belongs to the domain that has signed, whose key is published below it; a signature of
 * somebody other than the From domain's owner tells nothing. Of too many, those are forgotten that
 * were not seen for the longest time.
 */
export async function learnSelectors(
  tx: Tx,
  { fromDomain, signatures, at }: Sighting,
): Promise<void> {
  const owner = organizationalDomain(fromDomain);
  const own = signatures.flatMap(({ domain, selector }) => {
    const [name, label] = [normalizeDomain(domain), normalizeDomain(selector)];
    const isOwn = name !== null && owner !== null && organizationalDomain(name) === owner;
    return isOwn && label !== null && isSelector(label) ? [{ name, label }] : [];
  });
  if (own.length === 0) return;
  const rows = await tx
    .selectFrom('domains')
    .select(['id', 'name', 'given_selectors', 'learnt_selectors'])
    .where('name', 'in', [...new Set(own.map(({ name }) => name))])
    .execute();
  for (const row of rows) {
    const seen = own.flatMap((one) => (one.name === row.name ? [one.label] : []));
    const after = JSON.stringify(withSeen(learntSelectors(row), givenSelectors(row), seen, at));
    if (after === row.learnt_selectors) continue;
    const change = { learnt_selectors: after };
    await tx.updateTable('domains').set(change).where('id', '=', row.id).execute();
  }
}

function withSeen(
  learnt: LearntSelector[],
  given: string[],
  seen: string[],
  at: number,
): LearntSelector[] {
  const all = new Map(learnt.map((one) => [one.selector, one.seen_at]));
  for (const selector of seen) {
    const before = all.get(selector);
    if (given.includes(selector)) continue;
    if (before === undefined || at - Date.parse(before) >= SEEN_AGAIN_MS)
      all.set(selector, isoTime(at));
  }
  const room = Math.max(0, MOST_SELECTORS - given.length);
  const latest = [...all.values()].sort().reverse();
  const entries = [...all].map(([selector, seen_at]) => ({ selector, seen_at }));
  // Where several were seen last at the same time, the newest of them stay.
  for (const time of latest.slice(room).reverse())
    entries.splice(
      entries.findIndex(({ seen_at }) => seen_at === time),
      1,
    );
  return entries;
}
