/** Turns the outcomes of all lists into verdicts, sentences and evidence. */

import { type Finding, info, type Json, pass, unknown } from '../check.ts';
import type { PublicEvidence } from '../public-evidence.ts';
import type { BlocklistTier } from './blocklist.ts';
import type { ListOutcome } from './query.ts';

/** The sentences of a finding without a listing that counts. */
interface CleanTexts {
  /** The title "203.0.114.7 is not on {where}."; `where` is "any blocklist", for example. */
  passes(where: string): string;
  /** The title "Could not determine whether …" */
  unknown: string;
  /** A further sentence for the detail. */
  note?: string;
}

/** The tier of the strictest list with a listing; null if there is none. */
export function strictestTier(outcomes: ListOutcome[]): BlocklistTier | null {
  const tiers = outcomes.filter(isListed).map(({ list }) => list.tier);
  return tiers.length === 0 ? null : (Math.min(...tiers) as BlocklistTier);
}

const isListed = ({ status }: ListOutcome): boolean => status === 'listed';

/** The listings that count against the sender: tiers 1 and 2. */
export function countedListings(outcomes: ListOutcome[]): ListOutcome[] {
  return outcomes.filter((outcome) => isListed(outcome) && outcome.list.tier < 3);
}

/**
 * The finding if no list of tier 1 or 2 has a listing. It mentions tier-3 listings and lists without a
 * result, and is unknown unless every tier-1 list responded.
 */
export function findingWithoutListing(
  outcomes: ListOutcome[],
  evidence: Finding['evidence'],
  texts: CleanTexts,
): Finding {
  const scoring = outcomes.filter(({ list }) => list.tier < 3);
  const fullEvidence = { ...evidence, lists: listsEvidence(outcomes) };
  const tier3 = outcomes.filter(isListed).map(({ list }) => list.name);
  const unansweredNote = unansweredText(outcomes);
  const tier3Note =
    tier3.length === 0 ? '' : `Mailbox providers ignore the listing by ${namesOf(tier3)}.`;
  const detail = (first: string) =>
    joinSentences([first, tier3Note, texts.note ?? '', unansweredNote]);
  const where =
    tier3.length > 0
      ? 'any blocklist that affects delivery'
      : unansweredNote === ''
        ? 'any blocklist'
        : 'any blocklist that responded';
  // Without a response from every tier-1 list, the result cannot be a pass.
  const unansweredTier1 = scoring.filter(
    ({ list, status }) => list.tier === 1 && status !== 'not_listed',
  );
  if (unansweredTier1.length === 0 && scoring.some(({ status }) => status === 'not_listed'))
    return pass(texts.passes(where), detail(USED_BY_PROVIDERS), fullEvidence);
  if (scoring.length === 0)
    return info(
      texts.passes(where),
      detail('Only blocklists that do not affect delivery are enabled.'),
      fullEvidence,
    );
  const reason =
    unansweredTier1.length === 0
      ? 'No blocklist that affects delivery responded.'
      : TIER_1_INCOMPLETE;
  return unknown(texts.unknown, detail(reason), fullEvidence);
}

const TIER_1_INCOMPLETE = 'Not all blocklists that large mailbox providers use responded.';
const USED_BY_PROVIDERS = 'Mailbox providers check blocklists before they accept a message.';

/** Joins the sentences that are not empty. */
export function joinSentences(sentences: string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** A sentence that names the lists without a result; empty if there are none. */
export function unansweredText(outcomes: ListOutcome[]): string {
  const names = outcomes
    .filter(({ status }) => status === 'error' || status === 'left_out')
    .map(({ list }) => list.name);
  return names.length === 0
    ? ''
    : `No result from ${namesOf(names)}; this does not affect your score.`;
}

/** "Spamhaus ZEN and SpamCop"; "A, B, C, D and 3 more". */
export function namesOf(names: string[], max = 4): string {
  const omitted = names.length - max;
  const shown = omitted > 0 ? [...names.slice(0, max), `${omitted} more`] : names;
  return new Intl.ListFormat('en-GB').format(shown);
}

/** The meaning of each listing, one sentence for each list: "Spamhaus ZEN: a source of spam (SBL)." */
export function meaningsOf(outcomes: ListOutcome[]): string {
  return outcomes
    .slice(0, 4)
    .map(({ list, meaning }) => `${list.name}: ${meaning}.`)
    .join(' ');
}

/** What to do before requesting the removal of a sending IP address. */
export const STOP_THE_CAUSE =
  'First find and stop the cause: a compromised account or web form, an infected computer, or mail that recipients did not ask for.';

/** What to fix first (the list's advice for the codes, or `stopAdvice`) and where to request removal. */
export function removalAdvice(
  outcomes: Pick<ListOutcome, 'list' | 'codes'>[],
  stopAdvice: string,
): string {
  const advice = outcomes.map(({ list, codes }) => {
    const texts = codes.map((code) => list.advice?.[code]);
    // The list's advice only applies if it covers every code.
    return texts.every((text) => text !== undefined)
      ? texts[0]!
      : `${stopAdvice} If you request removal too early, you will be listed again.`;
  });
  const pages = outcomes.map(({ list }) => `${list.delisting} (${list.name})`);
  return joinSentences([
    ...new Set(advice),
    `Look up the listing and request removal at ${namesOf([...new Set(pages)], 6)}.`,
  ]);
}

/** One entry for each list. The zone never contains a key. */
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
