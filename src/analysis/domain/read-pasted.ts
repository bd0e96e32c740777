/** Reads names of domains from whatever people paste: web addresses, email addresses, lists and CSV. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { freemailProvider } from '../sending-services/freemail.ts';
import { type ReadDomain, readDomainName } from './read-domain-name.ts';

/** `note` says in a sentence what was not taken literally. */
export type ReadText = ReadDomain & { note?: string };

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?/i;

/**
 * As `readDomainName`, but also takes the domain of a web address or an email address. The site `www.shop.example` is
 * read as `shop.example`.
 */
export function readDomain(text: string): ReadText {
  const trimmed = text.trim();
  const bracketed = /<([^<>]*)>$/.exec(trimmed)?.[1] ?? trimmed;
  const withoutScheme = bracketed.replace(/^mailto:/i, '').replace(SCHEME, '');
  const host = withoutScheme.replace(/[/?#].*$/s, '');
  const isAddress = host.includes('@');
  // The many colons of an IPv6 address stay, for the error message.
  const domain = host
    .slice(host.lastIndexOf('@') + 1)
    .replace(/^([^:]+):\d*$/, '$1')
    .replace(/^\*\./, '');
  const read = readDomainName(domain);
  if (read.name === null) return read;
  const provider = isAddress ? freemailProvider(read.name) : null;
  if (provider)
    return { name: null, fault: `is an address at ${provider}, not at your own domain` };
  const site = /^www\.(.+)$/.exec(read.name)?.[1];
  if (isAddress || site === undefined || organizationalDomain(site) === null) return read;
  return {
    name: site,
    note: `${read.name} was read as ${site}, because www names a website. If it sends mail itself, enter postmaster@${read.name}.`,
  };
}

/** A long list is read several times, and often repeats itself. */
function nameReader(): (text: string) => string | null {
  const known = new Map<string, string | null>();
  return (text) => {
    const earlier = known.get(text);
    if (earlier !== undefined) return earlier;
    const { name } = readDomain(text);
    known.set(text, name);
    return name;
  };
}
type ReadName = ReturnType<typeof nameReader>;

/**
 * The parts of a text that name domains, or try to: one per line, or separated by commas, semicolons, tabs or spaces. Of a
 * table, only the columns with names count. What names the same domain occurs once.
 */
export function splitPasted(text: string): string[] {
  const readName = nameReader();
  const rows = text
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => line.replace(/^ *(?:[-*•]|\d+[.)]) +/, ''))
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .map(fieldsOf);
  const seen = new Set<string>();
  return columnsWithNames(rows, readName)
    .flatMap((field) => (field === '' ? [] : wordsOf(field, readName)))
    .filter((part) => {
      const key = readName(part) ?? part;
      return !seen.has(key) && seen.add(key);
    });
}

/** The fields of a line, empty ones included. Separators in quotes are part of a field. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/((?:"[^"]*"|[^,;\t"]|")*)(?:[,;\t]|$)/g)].map(([, field]) =>
    withoutQuotes(field!.trim()).trim(),
  );

/** Without quotes and brackets around it. */
function withoutQuotes(field: string): string {
  const start = /^["'`[(]*/.exec(field)![0].length;
  let end = field.length;
  // One expression for both ends would be quadratic.
  while (end > start && '"\'`])'.includes(field[end - 1]!)) end--;
  return start > 0 && end < field.length ? field.slice(start, end) : field;
}

/** Headers of columns that name domains, the most telling first. */
const HEADERS = [
  /^(?:mail |sending )?domains?(?: ?name)?$/i,
  /^(?:zone|host(?: ?name)?)$/i,
  /^(?:url|web ?site|site|web(?: ?address)?)$/i,
  /^(?:e-?mails?(?: ?address)?|address(?:es)?|from|sender)$/i,
  /^name$/i,
];

/** The fields of the column that the header names; without a header, of all columns in which any name can be read. */
function columnsWithNames(rows: string[][], readName: ReadName): string[] {
  const isReadable = (text: string) => readName(text) !== null;
  const [header = [], ...rest] = rows;
  if (rest.length > 0 && !header.some(isReadable))
    for (const pattern of HEADERS) {
      const index = header.findIndex((title) => pattern.test(title));
      if (index >= 0) return rest.map((row) => row[index] || row.filter(Boolean).join(', '));
    }
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const isTable = rows.length > 1 && rows.every(({ length }) => length === width);
  const ignored = isTable
    ? Array.from({ length: width }, (_, index) => !rows.some((row) => isReadable(row[index]!)))
    : [];
  return ignored.includes(false)
    ? rows.flatMap((row) => row.filter((_, i) => !ignored[i]))
    : rows.flat();
}

/** The words of a field that look like names, if it does not name a domain as a whole. */
function wordsOf(field: string, readName: ReadName): string[] {
  if (readName(field) !== null) return [field];
  const words = field.split(/\s+/);
  const names = words.filter((word) => /[.@]/.test(word));
  return words.length > 1 && names.some((word) => readName(word) !== null) ? names : [field];
}
