/** What the answers of all lists add up to: the evidence, the sentences, the strictest tier. */

import { type Finding, info, type Json, pass, unknown } from '../check.ts';
import type { PublicEvidence } from '../public-evidence.ts';
import type { ListOutcome } from './ask.ts';
import type { BlocklistTier } from './blocklist.ts';

/** What shows no listing that counts: its verdicts. */
interface Clean {
  /** "203.0.114.7 is on …", of where it is: "no blocklist". */
  passes(where: string): string;
  /** "It could not be found out whether …" */
  unknown: string;
  /** What else is worth saying. */
  note?: string;
}

/** The tier of the strictest list that lists anything; null where none does. */
export function strictestTier(outcomes: ListOutcome[]): BlocklistTier | null {
  const tiers = outcomes.filter(isListed).map(({ list }) => list.tier);
  return tiers.length === 0 ? null : (Math.min(...tiers) as BlocklistTier);
}

const isListed = ({ status }: ListOutcome): boolean => status === 'listed';

/** The outcomes that count against the sender. */
export function counting(outcomes: ListOutcome[]): ListOutcome[] {
  return outcomes.filter((outcome) => isListed(outcome) && outcome.list.tier < 3);
}

/** Tier 3 and the lists that did not answer are told; without an answer of every tier-1 list, unknown. */
export function withoutListing(
  outcomes: ListOutcome[],
  evidence: Finding['evidence'],
  words: Clean,
): Finding {
  const scoring = outcomes.filter(({ list }) => list.tier < 3);
  const all = { ...evidence, lists: listsEvidence(outcomes) };
  const told = outcomes.filter(isListed).map(({ list }) => list.name);
  const quiet = silence(outcomes);
  const mild = told.length === 0 ? '' : `Receivers do not act on the listing by ${namesOf(told)}.`;
  const say = (first: string) => joined([first, mild, words.note ?? '', quiet]);
  const where = told.length > 0 ? 'no blocklist that counts' : quiet === '' ? NOWHERE : ANSWERED;
  // The lists that matter most must have answered: what they do not say is no pass.
  const open = scoring.filter(({ list, status }) => list.tier === 1 && status !== 'not_listed');
  if (open.length === 0 && scoring.some(({ status }) => status === 'not_listed'))
    return pass(words.passes(where), say(LOOKED_AT), all);
  if (scoring.length === 0)
    return info(words.passes(where), say('Only lists that do not count are switched on.'), all);
  const silent = open.length === 0 ? 'No list that counts has answered.' : UNHEARD;
  return unknown(words.unknown, say(silent), all);
}

const NOWHERE = 'no blocklist';
const ANSWERED = 'none of the blocklists that answered';
const UNHEARD = 'The lists that the large receivers use have not all answered.';
const LOOKED_AT = 'Receivers look at such lists before they accept a message.';

/** Sentences in one line, without those that are empty. */
export function joined(sentences: string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** Which lists did not answer, as a sentence; empty where all did. */
export function silence(outcomes: ListOutcome[]): string {
  const silent = outcomes
    .filter(({ status }) => status === 'error' || status === 'left_out')
    .map(({ list }) => list.name);
  return silent.length === 0
    ? ''
    : `Not known from ${namesOf(silent)}, which is not counted against you.`;
}

/** "Spamhaus ZEN and SpamCop"; the first few of many. */
export function namesOf(names: string[], most = 4): string {
  const rest = names.length - most;
  const shown = rest > 0 ? [...names.slice(0, most), `${rest} more`] : names;
  return new Intl.ListFormat('en-GB').format(shown);
}

/** What each list says, one sentence a list: "Spamhaus ZEN: a source of spam (SBL)." */
export function meaningsOf(outcomes: ListOutcome[]): string {
  return outcomes
    .slice(0, 4)
    .map(({ list, meaning }) => `${list.name}: ${meaning}.`)
    .join(' ');
}

/** What to do before (`stop`, unless the codes call for something else), and where to ask for removal. */
export function removalAdvice(
  outcomes: Pick<ListOutcome, 'list' | 'codes'>[],
  stop: string,
): string {
  const advice = outcomes.map(({ list, codes }) => {
    const texts = codes.map((code) => list.advice?.[code]);
    // Beside another code, the address is listed for what it does as well.
    return texts.every((text) => text !== undefined)
      ? texts[0]!
      : `${stop} A listing that is lifted before that comes back.`;
  });
  const pages = outcomes.map(({ list }) => `${list.delisting} (${list.name})`);
  return joined([
    ...new Set(advice),
    `Look it up and ask for removal at ${namesOf([...new Set(pages)], 6)}.`,
  ]);
}

/** One entry a list; the zone is the one without a key. */
export function listsEvidence(outcomes: ListOutcome[]): Json {
  return outcomes.map(({ list, status, codes, meaning, listings }) => {
    const text = listings.find((listing) => listing.text !== null)?.text ?? null;
    return {
      zone: list.zone,
      name: list.name,
      tier: list.tier,
      status,
      codes: codes.slice(0, 10),
      meaning,
      ...(listings.length === 0 ? {} : { listed: listings.slice(0, 20).map(({ name }) => name) }),
      ...(text === null ? {} : { text }),
      delisting: list.delisting,
    };
  });
}

/** The public part of `listsEvidence`. */
export const PUBLIC_LISTS: PublicEvidence = {
  zone: 'shown',
  name: 'shown',
  tier: 'shown',
  status: 'shown',
  codes: 'shown',
  meaning: 'shown',
  listed: 'shown',
  text: 'shown',
  delisting: 'our-page',
};
