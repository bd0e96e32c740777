/** Asks the lists that are switched on about all that a message shows of its sender, side by side. */

import type { Resolver } from '../../net/resolver.ts';
import { askList, askReason } from './ask.ts';
import type { Blocklist, BlocklistInUse } from './blocklist.ts';
import type { ListAnswer } from './codes.ts';

/** A domain or an address, and how it is asked about below the zone of a list. */
export interface Subject {
  name: string;
  question: string;
  /** An address: lists of names are only asked about it where they take addresses. */
  isAddress: boolean;
}

interface Listing {
  /** The name of the subject. */
  name: string;
  codes: string[];
  meanings: string[];
  /** What the list itself says of it. */
  text: string | null;
}

export interface ListOutcome {
  list: Blocklist;
  /** `error`: something that it was asked is not known. `left_out`: it failed its own test. */
  status: 'listed' | 'not_listed' | 'error' | 'left_out';
  codes: string[];
  /** What the codes mean, or why the list is not known: for people. */
  meaning: string | null;
  listings: Listing[];
}

/** How many listings of one list are asked about why. */
const REASONS_ASKED = 3;

/** One outcome for each list that has anything to say of the subjects; the lists in their order. */
export async function askLists(
  resolver: Resolver,
  lists: BlocklistInUse[],
  subjects: Subject[],
): Promise<ListOutcome[]> {
  const outcomes = lists.map((inUse): ListOutcome | Promise<ListOutcome> | null => {
    const { list, fault } = inUse;
    const askable = subjects.filter(({ isAddress }) => takes(list, isAddress));
    if (askable.length === 0) return null;
    if (fault === null) return askOne(resolver, inUse, askable);
    return { list, status: 'left_out', codes: [], meaning: fault, listings: [] };
  });
  return (await Promise.all(outcomes)).filter((outcome) => outcome !== null);
}

const takes = ({ kind, addresses }: Blocklist, isAddress: boolean): boolean =>
  !isAddress || kind !== 'domain' || addresses === true;

async function askOne(
  resolver: Resolver,
  inUse: BlocklistInUse,
  subjects: Subject[],
): Promise<ListOutcome> {
  const { list } = inUse;
  const answers = await Promise.all(
    subjects.map(({ question }) => askList(resolver, inUse, question)),
  );
  const listings = await Promise.all(
    answers
      .flatMap((answer, index) =>
        answer.status === 'listed' ? [{ answer, subject: subjects[index]! }] : [],
      )
      .map(async ({ answer: { codes, meanings }, subject }, index): Promise<Listing> => {
        const asked = index < REASONS_ASKED;
        const text = asked ? await askReason(resolver, inUse, subject.question) : null;
        return { name: subject.name, codes, meanings, text };
      }),
  );
  return listings.length > 0 ? listedBy(list, listings) : unlisted(list, subjects, answers);
}

/** The outcome of a list with these listings, at least one. */
export function listedBy(list: Blocklist, listings: Listing[]): ListOutcome {
  const codes = distinct(listings.flatMap((listing) => listing.codes)).sort();
  const meaning = distinct(listings.flatMap(({ meanings }) => meanings)).join('; ');
  return { list, status: 'listed', codes, meaning, listings };
}

function unlisted(list: Blocklist, subjects: Subject[], answers: ListAnswer[]): ListOutcome {
  const base = { list, codes: distinct(answers.flatMap(({ codes }) => codes)), listings: [] };
  const failed = answers.filter((answer) => answer.status === 'error');
  if (failed.length > 0) {
    const share = subjects.length > 1 ? ` (${failed.length} of ${subjects.length} questions)` : '';
    return { ...base, status: 'error', meaning: `${failed[0]!.reason}${share}` };
  }
  const notes = answers.flatMap((answer, index) =>
    answer.status === 'not_listed'
      ? answer.notes.map((note) => `${subjects[index]!.name}: ${note}`)
      : [],
  );
  return { ...base, status: 'not_listed', meaning: notes.slice(0, 10).join('; ') || null };
}

const distinct = (items: string[]): string[] => [...new Set(items)];
