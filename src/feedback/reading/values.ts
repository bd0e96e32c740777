/** Values in reports: counts, times, domains and addresses, with the mistakes that reporters make. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { LIMITS, RefusedError } from './limits.ts';
import type { Notes } from './notes.ts';

/**
 * A count of messages or sessions, also as text. Nothing is guessed: anything but a whole number from 0 to 10^12 is noted, and
 * counts as 0.
 */
export function readCount(value: unknown, name: string, notes: Notes): number {
  const text = typeof value === 'string' ? value.trim() : value;
  const count = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= LIMITS.count)
    return count;
  notes.addValue(`an invalid ${name}, which counts as 0`, value);
  return 0;
}

/** The sum, which stays exact. Throws RefusedError if it is not plausible. */
export function addCounts(sum: number, count: number): number {
  if (sum + count > LIMITS.count)
    throw new RefusedError('invalid', 'The report counts more than 10^12 messages.');
  return sum + count;
}

export const SECOND = 1000;
/** In seconds, this would be the year 5138; in milliseconds, it is 1973. */
const FIRST_MILLISECONDS = 1e11;

/** Seconds since the Unix epoch, also as milliseconds or an ISO time; in milliseconds. Null for anything else. */
export function readTime(text: string | null, notes: Notes): number | null {
  const trimmed = text?.trim() ?? '';
  if (/^\d{1,15}$/.test(trimmed)) {
    const value = Number(trimmed);
    if (value < FIRST_MILLISECONDS) return value * SECOND;
    notes.add('times in milliseconds');
    return value;
  }
  const ms = isoMs(trimmed);
  if (ms !== null) notes.add('times as text');
  return ms;
}

/** An ISO time, in UTC if it has no zone; null for anything else. */
export function isoMs(text: string): number | null {
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
      text.trim(),
    );
  if (!match) return null;
  const ms = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3]?.toUpperCase() ?? 'Z'}`);
  return Number.isNaN(ms) ? null : ms;
}

/** In A-labels; null if it is no domain name. */
export const readDomain = (text: string | null): string | null =>
  text === null ? null : normalizeDomain(text.replace(/^@|^\*\./, ''));

/** The same, but notes an invalid domain. `what`: its role, such as "From domain". */
export function readNamedDomain(text: string | null, what: string, notes: Notes): string | null {
  const domain = readDomain(text);
  if (domain === null && text?.trim()) notes.addValue(`an invalid ${what}`, text);
  return domain;
}

/** The domain of an email address; null if it has none, such as a redacted one. */
export const domainOfAddress = (text: string | null): string | null =>
  text?.includes('@')
    ? // A long one is no domain, and would take long to read.
      readDomain(
        text
          .slice(text.lastIndexOf('@') + 1)
          .slice(0, MAX_DOMAIN_TEXT)
          .replace(/[>\s]+$/, ''),
      )
    : null;

/** Longer than a domain name can be, with what may follow it. */
const MAX_DOMAIN_TEXT = 300;

/** A normalized IP address; null if it is none. */
export function readAddress(text: string | null, notes: Notes): string | null {
  if (text === null) {
    notes.add('no source address');
    return null;
  }
  const bare = text.trim().replace(/\/\d{1,3}$/, '');
  if (bare !== text.trim()) notes.add('a source address with a prefix length');
  const address = normalizeAddress(bare);
  if (address === null) notes.addValue('an invalid source address', text);
  else if (/^::ffff:\d/i.test(bare)) notes.add('an IPv4 address in the form of IPv6');
  return address;
}

/** Truncates a text, and notes that. `what`: the element, such as "comment". */
export function notedText(
  text: string | null,
  max: number,
  what: string,
  notes: Notes,
): string | null {
  if (text !== null && text.trim().length > max)
    notes.add(`${what} with more than ${max} characters, which is truncated`);
  return shortText(text, max);
}

/** The first items. Notes if there are more. */
export function firstOf<Item>(items: Item[], max: number, what: string, notes: Notes): Item[] {
  if (items.length > max) notes.add(`more than ${max} ${what}, of which only the first are kept`);
  return items.slice(0, max);
}

/** A text of at most so many characters; null if it is empty. */
export const shortText = (text: string | null | undefined, max: number): string | null =>
  text?.trim().slice(0, max) || null;

/** The mailbox provider with this server or mailbox domain: its base domain. */
export const providerOf = (name: string | null): string =>
  name === null ? 'unknown' : (organizationalDomain(name.toLowerCase()) ?? name.toLowerCase());
