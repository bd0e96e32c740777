/** The DKIM selectors of a domain: those given, those learnt from mail, and those that mail uses no more. */

import type { DomainCheck } from '../analysis/domain/domain-health.ts';
import type { DomainRow } from '../store/watching-tables.ts';

/** As it is kept. */
export interface LearntSelector {
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

export const givenSelectors = ({ given_selectors }: Kept): string[] => JSON.parse(given_selectors);

/** In the order in which they were first seen. */
export const learntSelectors = ({ learnt_selectors }: Kept): LearntSelector[] =>
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
