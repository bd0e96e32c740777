/** Whether a result meets the condition of a rule: yes, no, or it does not say. */

import type { AlertRow } from '../store/watching-tables.ts';

/** A list that counts (tier 1 or 2) and lists the subject. */
export interface Listing {
  zone: string;
  name: string;
  tier: number;
}

/** What the blocklists said. */
export interface Listings {
  listed: Listing[];
  /** Whether so much was heard that nothing is known to list it. */
  known: boolean;
  /** Whether a list has answered, by its zone. */
  heard(zone: string): boolean;
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
  const named = new Map(lists.listed.map((listing) => [listing.zone, listing]));
  if (named.size > 0) return { answer: 'yes', value: { lists: [...named.values()] } };
  return lists.known ? NO : UNKNOWN;
}

/**
 * Whether a `no` says anything of what an incident was opened for: a list that was not heard this
 * time, as where the client's address is not known, may still list.
 */
export function answersTo({ condition }: Rule, opened: Value, { lists }: Facts): boolean {
  if (condition !== 'blocklist_hit') return true;
  return lists !== null && (opened.lists as Listing[]).every(({ zone }) => lists.heard(zone));
}
