/** Finds and reads the BIMI record of a domain: where its logo and the logo's certificate are. */

import { type Resolver, recordsOf } from '../../net/resolver.ts';
import { parseTagList } from './tag-list.ts';

export interface BimiRecord {
  /** The name asked that has the record; the first asked where none has. */
  name: string;
  /** null where there is none. */
  text: string | null;
  /** `l=` and `a=`; null where absent or empty. */
  location: string | null;
  authority: string | null;
  /** Both are there and empty: the domain wants no logo shown (draft §4.3.1). */
  declined: boolean;
  /** What is wrong with the record, as sentences. */
  problems: string[];
}

const VERSION = /^\s*v\s*=\s*bimi1\s*(;|$)/i;

/**
 * Asks the names in order (`default._bimi.mail.example.com`, then that of the organisational
 * domain) and reads the first record; null where one of the questions was not answered.
 */
export async function findBimiRecord(
  names: string[],
  resolver: Resolver,
): Promise<BimiRecord | null> {
  for (const name of names) {
    const texts = recordsOf(await resolver(name, 'TXT'));
    if (texts === null) return null;
    const records = texts.filter((text) => VERSION.test(text));
    if (records.length > 0) return readRecord(name, records);
  }
  return {
    name: names[0] ?? '',
    text: null,
    location: null,
    authority: null,
    declined: false,
    problems: [],
  };
}

function readRecord(name: string, records: string[]): BimiRecord {
  const text = records[0] ?? '';
  const tags = parseTagList(text);
  const location = tags.get('l') || null;
  const authority = tags.get('a') || null;
  const declined = tags.get('l') === '' && !authority;
  const problems = declined ? [] : problemsOf(location, authority);
  if (records.length > 1) problems.unshift(`There are ${records.length} records; only one may be.`);
  return { name, text, location, authority, declined, problems };
}

function problemsOf(location: string | null, authority: string | null): string[] {
  const problems: string[] = [];
  if (location === null) problems.push('The record names no logo (l=).');
  else if (!isHttps(location))
    problems.push('The address of the logo (l=) is not an https address.');
  else if (!/\.svgz?$/i.test(new URL(location).pathname))
    problems.push('The address of the logo (l=) does not end in .svg, the only format allowed.');
  if (authority !== null && !isHttps(authority))
    problems.push('The address of the certificate (a=) is not an https address.');
  return problems;
}

function isHttps(address: string): boolean {
  return URL.parse(address)?.protocol === 'https:';
}
