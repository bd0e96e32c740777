/** Names as lists are asked about them, and listings of a name that only repeat those of its domain. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { type ListOutcome, listedBy, type Subject } from './ask-lists.ts';

/** A (normalised) domain is asked about as it stands (RFC 5782 §2.3). */
export function nameSubject(name: string): Subject {
  return { name, question: name, isAddress: false };
}

/** Most lists name a domain with all that is below it: then the domain alone is told. */
export function withoutRepeats(outcome: ListOutcome): ListOutcome {
  const listed = new Set(outcome.listings.map(({ name }) => name));
  if (listed.size === 0) return outcome;
  const listings = outcome.listings.filter(({ name }) => {
    const domain = organizationalDomain(name);
    return domain === null || domain === name || !listed.has(domain);
  });
  return listedBy(outcome.list, listings);
}

/** Only the listings of names that are not among these; lists without any other go. */
export function listingsBeside(own: Set<string>, outcomes: ListOutcome[]): ListOutcome[] {
  return outcomes.flatMap(({ list, listings }) => {
    const others = listings.filter(({ name }) => !own.has(name));
    return others.length > 0 ? [listedBy(list, others)] : [];
  });
}
