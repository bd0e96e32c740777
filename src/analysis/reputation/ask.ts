/** Asks one list one question (RFC 5782). */

import { printable } from '../../lib/log.ts';
import { type DnsErrorReason, type Resolver, recordsOf } from '../../net/resolver.ts';
import type { ChosenBlocklist } from './choose.ts';
import { type ListAnswer, readCodes } from './codes.ts';

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
const LONGEST_NAME = 253;

/** `question` is a domain, or an address reversed. Nothing of the answer shows a key. */
export async function askList(
  resolver: Resolver,
  { list, asked }: ChosenBlocklist,
  question: string,
): Promise<ListAnswer> {
  const name = `${question}.${asked}`;
  // What cannot be asked would come back as not there, which is not the same as not listed.
  if (name.length > LONGEST_NAME)
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
