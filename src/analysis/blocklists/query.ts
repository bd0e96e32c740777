/** Queries blocklists about addresses and domains over DNS (RFC 5782), all in parallel. */

import { printable } from '../../lib/log.ts';
import { type DnsErrorReason, type Resolver, recordsOf } from '../../net/dns/resolver.ts';
import { type Blocklist, type BlocklistInUse, type ListAnswer, readCodes } from './blocklist.ts';
import type { ChosenBlocklist } from './choose.ts';

/** A domain or an IP address. */
export interface Subject {
  name: string;
  /** What precedes the zone of a list in a query: the domain, or the reversed address. */
  queryName: string;
  /** Domain lists are only queried about addresses if they support it. */
  isAddress: boolean;
}

interface Listing {
  /** The name of the subject. */
  name: string;
  codes: string[];
  meanings: string[];
  /** The list's own explanation (its TXT record). */
  text: string | null;
}

export interface ListOutcome {
  list: Blocklist;
  /** `error`: a query failed. `left_out`: the list failed its test, so it was not queried. */
  status: 'listed' | 'not_listed' | 'error' | 'left_out';
  codes: string[];
  /** Human-readable: what the codes mean, or why there is no result. */
  meaning: string | null;
  listings: Listing[];
}

/** Maximum number of TXT queries per list for the explanations of listings. */
const MAX_TEXT_QUERIES = 3;

/** One outcome for each list that covers any of the subjects, in the order of the lists. */
export async function queryLists(
  resolver: Resolver,
  lists: BlocklistInUse[],
  subjects: Subject[],
): Promise<ListOutcome[]> {
  const outcomes = lists.map((inUse): ListOutcome | Promise<ListOutcome> | null => {
    const { list, fault } = inUse;
    const covered = subjects.filter(({ isAddress }) => covers(list, isAddress));
    if (covered.length === 0) return null;
    if (fault === null) return queryAll(resolver, inUse, covered);
    return { list, status: 'left_out', codes: [], meaning: fault, listings: [] };
  });
  return (await Promise.all(outcomes)).filter((outcome) => outcome !== null);
}

const covers = ({ kind, acceptsAddresses: addresses }: Blocklist, isAddress: boolean): boolean =>
  !isAddress || kind !== 'domain' || addresses === true;

async function queryAll(
  resolver: Resolver,
  inUse: BlocklistInUse,
  subjects: Subject[],
): Promise<ListOutcome> {
  const { list } = inUse;
  const answers = await Promise.all(
    subjects.map(({ queryName }) => queryList(resolver, inUse, queryName)),
  );
  const listings = await Promise.all(
    answers
      .flatMap((answer, index) =>
        answer.status === 'listed' ? [{ answer, subject: subjects[index]! }] : [],
      )
      .map(async ({ answer: { codes, meanings }, subject }, index): Promise<Listing> => {
        const text =
          index < MAX_TEXT_QUERIES ? await queryReason(resolver, inUse, subject.queryName) : null;
        return { name: subject.name, codes, meanings, text };
      }),
  );
  return listings.length > 0 ? listedOutcome(list, listings) : notListed(list, subjects, answers);
}

/** The outcome of a list with at least one listing. */
export function listedOutcome(list: Blocklist, listings: Listing[]): ListOutcome {
  const codes = distinct(listings.flatMap((listing) => listing.codes)).sort();
  const meaning = distinct(listings.flatMap(({ meanings }) => meanings)).join('; ');
  return { list, status: 'listed', codes, meaning, listings };
}

function notListed(list: Blocklist, subjects: Subject[], answers: ListAnswer[]): ListOutcome {
  const base = { list, codes: distinct(answers.flatMap(({ codes }) => codes)), listings: [] };
  const failed = answers.filter((answer) => answer.status === 'error');
  if (failed.length > 0) {
    const share = subjects.length > 1 ? ` (${failed.length} of ${subjects.length} queries)` : '';
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

/** The reason while DNS lookups are disabled: the list itself may work. */
export const DNS_DISABLED = 'Not queried: DNS lookups are disabled.';

const ERROR_REASONS: Record<DnsErrorReason, string> = {
  timeout: 'The list did not respond in time.',
  servfail: 'The DNS servers of the list failed (SERVFAIL).',
  refused: 'The list refused the query (REFUSED).',
  unreachable: 'Not queried: no DNS server could be reached.',
  malformed: 'The response of the list is invalid.',
  limit: 'Not queried: the limit on DNS queries was reached.',
  denies: 'Unknown: the DNS server reports existing names as missing.',
  disabled: DNS_DISABLED,
};

/** RFC 1035 §2.3.4. */
const MAX_NAME_LENGTH = 253;

/** `queryName` is a domain or a reversed address. The result never contains the key of a zone. */
export async function queryList(
  resolver: Resolver,
  { list, queryZone }: ChosenBlocklist,
  queryName: string,
): Promise<ListAnswer> {
  const name = `${queryName}.${queryZone}`;
  // The resolver would report an impossible name as absent, which here would mean "not listed".
  if (name.length > MAX_NAME_LENGTH)
    return { status: 'error', codes: [], reason: 'The name is too long for a DNS query.' };
  const answer = await resolver(name, 'A');
  if (answer.status === 'error')
    return { status: 'error', codes: [], reason: ERROR_REASONS[answer.reason] };
  return readCodes(list, recordsOf(answer) ?? []);
}

const MAX_TEXT_LENGTH = 300;

/** The list's own explanation of a listing, in one line; null if it gives none. */
export async function queryReason(
  resolver: Resolver,
  { list, queryZone }: ChosenBlocklist,
  queryName: string,
): Promise<string | null> {
  const answer = await resolver(`${queryName}.${queryZone}`, 'TXT');
  const text = (recordsOf(answer) ?? [])
    .slice(0, 3)
    .map((record) => record.slice(0, 1000).trim())
    .filter((record) => record !== '')
    .join(' ');
  if (text === '') return null;
  return withoutKey(printable(text), list.zone, queryZone).slice(0, MAX_TEXT_LENGTH).toWellFormed();
}

/** Some lists repeat the queried name, which contains the key. */
function withoutKey(text: string, zone: string, queryZone: string): string {
  if (queryZone === zone) return text;
  const key = queryZone.slice(0, queryZone.indexOf('.'));
  return text.replaceAll(new RegExp(key.replace(/[^a-z0-9]/gi, '\\$&'), 'gi'), () => '…');
}
