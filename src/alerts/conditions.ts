/** Whether a result meets the condition of a rule: yes, no, or it does not say. */

import type { AlertIncidentRow, AlertRow } from '../store/watching-tables.ts';

/** A list that counts (tier 1 or 2), and what it lists. */
export interface Listing {
  zone: string;
  name: string;
  tier: number;
  /** Addresses and names; missing in what was found before it was kept. */
  listed?: string[];
}

/** What the blocklists said. */
export interface Listings {
  listed: Listing[];
  /** Whether so much was heard that nothing is known to list it. */
  known: boolean;
  /** Whether the list of a former listing, found by a run or a test, has answered now about the same thing. */
  hears(former: Listing, foundByRun: boolean): boolean;
  /** Lists that count, have listed it before, and are silent now. */
  standing: string[];
}

/** What a result says of its subject; null is "not known", which opens and closes nothing. */
export interface Facts {
  score: number | null;
  /** Words of RFC 8601 §2.7. */
  auth: { spf: string | null; dkim: string | null; dmarc: string | null } | null;
  lists: Listings | null;
}

/** What an incident keeps of it; plain JSON. */
export type Value = Record<string, unknown>;
export type Verdict = { answer: 'yes'; value: Value } | { answer: 'no' } | { answer: 'unknown' };

type Rule = Pick<AlertRow, 'condition' | 'threshold'>;

export const DEFAULT_THRESHOLD = 70;

const NO: Verdict = { answer: 'no' };
const UNKNOWN: Verdict = { answer: 'unknown' };

export function judge({ condition, threshold }: Rule, facts: Facts): Verdict {
  if (condition === 'score_below') return judgeScore(facts, threshold ?? DEFAULT_THRESHOLD);
  return condition === 'auth_fail' ? judgeAuthentication(facts) : judgeLists(facts);
}

function judgeScore({ score }: Facts, threshold: number): Verdict {
  if (score === null) return UNKNOWN;
  return score < threshold ? { answer: 'yes', value: { score, threshold } } : NO;
}

const isKnown = (result: string | null): boolean => result !== null && result !== 'temperror';

function judgeAuthentication({ auth }: Facts): Verdict {
  if (auth === null) return UNKNOWN;
  const { spf, dkim, dmarc } = auth;
  const results = [spf, dkim, dmarc];
  if (results.some((result) => isKnown(result) && result !== 'pass'))
    return { answer: 'yes', value: { spf, dkim, dmarc } };
  return results.every(isKnown) ? NO : UNKNOWN;
}

function judgeLists({ lists }: Facts): Verdict {
  if (lists === null) return UNKNOWN;
  const named = new Map<string, Listing>();
  for (const { listed = [], ...listing } of lists.listed) {
    const before = named.get(listing.zone)?.listed ?? [];
    named.set(listing.zone, { ...listing, listed: [...new Set([...before, ...listed])] });
  }
  if (named.size > 0) return { answer: 'yes', value: { lists: [...named.values()] } };
  return lists.known ? NO : UNKNOWN;
}

/**
 * How a result that is no `yes` ends an incident; null where it does not. Scores and authentication
 * are those of tests alone, and each test of the subject that knows them looks at them anew.
 * Listings are over once each list that listed has answered about the same thing, and no list that
 * has answered lists it, however silent others are: what a run found about an address or a name, a
 * run of any monitor of it may end, and a test whose sender's domains include it; what a test found,
 * the next test of the same domain may end, and a run only where nothing but the domain itself was
 * listed, for a run looks at nothing else. A list that listed and is silent, or was not asked, may
 * still list, also one that came later; one that is no longer in use never answers again, and keeps
 * nothing open.
 */
export function endOf(
  incident: Pick<AlertIncidentRow, 'condition' | 'run_id'>,
  opened: Value,
  { answer, facts }: { answer: Verdict['answer']; facts: Facts },
  isInUse: (zone: string) => boolean,
): 'condition_ended' | 'no_longer_watched' | null {
  if (incident.condition !== 'blocklist_hit') return answer === 'no' ? 'condition_ended' : null;
  const { lists } = facts;
  if (lists === null || lists.standing.some(isInUse)) return null;
  const waitedFor = (opened.lists as Listing[]).filter(({ zone }) => isInUse(zone));
  if (!waitedFor.every((one) => lists.hears(one, incident.run_id !== null))) return null;
  // Nobody says that it is listed no more.
  return waitedFor.length === 0 && answer !== 'no' ? 'no_longer_watched' : 'condition_ended';
}
