/** Values in reports: counts, times, domains and addresses, with the mistakes that reporters make. */

import { normalizeAddress } from '../../lib/addresses.ts';
import { normalizeDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { LIMITS, RefusedError } from './limits.ts';

/**
 * A count of messages or sessions, also as text. Nothing is guessed: anything but a whole number from 0 to 10^12 is refused.
 */
export function readCount(value: unknown, name: string): number {
  const text = typeof value === 'string' ? value.trim() : value;
  const count = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : text;
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > LIMITS.count)
    throw new RefusedError('invalid', `“${String(value).slice(0, 40)}” is not a valid ${name}.`);
  return count;
}

/** The sum, which stays exact. Throws RefusedError if it is not plausible. */
export function addCounts(sum: number, count: number): number {
  if (sum + count > LIMITS.count)
    throw new RefusedError('invalid', 'The report counts more than 10^12 messages.');
  return sum + count;
}

const SECOND = 1000;
/** In seconds, this would be the year 5138; in milliseconds, it is 1973. */
const FIRST_MILLISECONDS = 1e11;

/** Seconds since the Unix epoch, also as milliseconds or an ISO time; in milliseconds. */
export function readTime(text: string | null, name: string, repaired: Set<string>): number {
  const trimmed = text?.trim() ?? '';
  if (/^\d{1,15}$/.test(trimmed)) {
    const value = Number(trimmed);
    if (value < FIRST_MILLISECONDS) return value * SECOND;
    repaired.add('times in milliseconds');
    return value;
  }
  const ms = isoMs(trimmed);
  if (ms === null)
    throw new RefusedError(
      'invalid',
      `The report has no valid ${name}: “${trimmed.slice(0, 40)}”.`,
    );
  repaired.add('times as text');
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

/** No aggregate report is older than DMARC. */
const FIRST_TIME = Date.UTC(2011, 0, 1);
const MAX_AHEAD = 2 * DAY_MS;

/** Throws RefusedError unless the period is plausible. `now` in milliseconds. */
export function requirePeriod(begin: number, end: number, now: number): void {
  const fail = (what: string): never => {
    throw new RefusedError('invalid', `The period of the report ${what}.`);
  };
  if (end < begin) fail('ends before it begins');
  if (begin < FIRST_TIME) fail('begins before 2011');
  if (end > now + MAX_AHEAD) fail('is in the future');
  if (end - begin > LIMITS.days * DAY_MS) fail(`is longer than ${LIMITS.days} days`);
}

/** In A-labels; null if it is no domain name. */
export const readDomain = (text: string | null): string | null =>
  text === null ? null : normalizeDomain(text.replace(/^@|^\*\./, ''));

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
export function readAddress(text: string | null, repaired: Set<string>): string | null {
  if (text === null) return null;
  const bare = text.trim().replace(/\/\d{1,3}$/, '');
  if (bare !== text.trim()) repaired.add('a source address with a prefix length');
  const address = normalizeAddress(bare);
  if (address === null) repaired.add('a source address that is none');
  else if (/^::ffff:\d/i.test(bare)) repaired.add('an IPv4 address in the form of IPv6');
  return address;
}

/** A text of at most so many characters; null if it is empty. */
export const shortText = (text: string | null | undefined, max: number): string | null =>
  text?.trim().slice(0, max) || null;

/** The mailbox provider with this server or mailbox domain: its base domain. */
export const providerOf = (name: string | null): string =>
  name === null ? 'unknown' : (organizationalDomain(name.toLowerCase()) ?? name.toLowerCase());
