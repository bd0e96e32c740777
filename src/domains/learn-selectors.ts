/** Learns the DKIM selectors of the team's domains from the mail that they have signed. */

import { isoTime } from '../lib/clock.ts';
import { normalizeDomain, organizationalDomain } from '../lib/domain-names.ts';
import type { Tx } from '../store/open.ts';
import { isSelector, MOST_SELECTORS } from './schema.ts';
import { givenSelectors, type LearntSelector, learntSelectors } from './selectors.ts';

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
