/** Asks lists about addresses and domains over DNS (RFC 5782), all side by side. */

import { printable } from '../../lib/log.ts';
import { type DnsErrorReason, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { type Blocklist, type BlocklistInUse, type ListAnswer, readCodes } from './blocklist.ts';
import type { ChosenBlocklist } from './choose.ts';

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
const MAX_REASONS_ASKED = 3;

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
        const asked = index < MAX_REASONS_ASKED;
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

// Asks one list one question (RFC 5782).

/** The reason of a resolver that has been closed: it says nothing of the list. */
export const TURNED_OFF = 'It was not asked: DNS is turned off.';

const REASONS: Record<DnsErrorReason, string> = {
  timeout: 'It did not answer in time.',
  servfail: 'Its servers could not be asked (SERVFAIL).',
  refused: 'It refuses to answer (REFUSED).',
  unreachable: 'It could not be asked: no DNS server could be reached.',
  malformed: 'Its answer could not be read.',
  limit: 'It was not asked: too many questions had been asked.',
  disabled: TURNED_OFF,
};

/** RFC 1035 §2.3.4. */
const MAX_NAME_LENGTH = 253;

/** `question` is a domain, or an address reversed. Nothing of the answer shows a key. */
export async function askList(
  resolver: Resolver,
  { list, asked }: ChosenBlocklist,
  question: string,
): Promise<ListAnswer> {
  const name = `${question}.${asked}`;
  // What cannot be asked would come back as not there, which is not the same as not listed.
  if (name.length > MAX_NAME_LENGTH)
    return { status: 'error', codes: [], reason: 'The name is too long to be asked about.' };
  const answer = await resolver(name, 'A');
  if (answer.status === 'error')
    return { status: 'error', codes: [], reason: REASONS[answer.reason] };
  return readCodes(list, recordsOf(answer) ?? []);
}

const REASON_MAX = 300;

/** What the list itself says of a listing, in one line; null where it says nothing. */
export async function askReason(
  resolver: Resolver,
  { list, asked }: ChosenBlocklist,
  question: string,
): Promise<string | null> {
  const answer = await resolver(`${question}.${asked}`, 'TXT');
  const text = (recordsOf(answer) ?? [])
    .slice(0, 3)
    .map((record) => record.slice(0, 1000).trim())
    .filter((record) => record !== '')
    .join(' ');
  if (text === '') return null;
  return withoutKey(printable(text), list.zone, asked).slice(0, REASON_MAX).toWellFormed();
}

/** Some lists repeat the question. */
function withoutKey(text: string, zone: string, asked: string): string {
  if (asked === zone) return text;
  const key = asked.slice(0, asked.indexOf('.'));
  return text.replaceAll(new RegExp(key.replace(/[^a-z0-9]/gi, '\\$&'), 'gi'), () => '…');
}
