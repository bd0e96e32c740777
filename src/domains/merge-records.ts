/** How a proposed record and those that are published become one: which it replaces, and what is kept of them. */

import { findCaaProblem, parseCaa } from '../analysis/checks/caa.ts';
import { readSpf, resemblesSpf } from '../analysis/spf/repair.ts';

/** A placeholder for a value that only the owner knows. */
export const PLACEHOLDER = /<[^<>]+>/;

/** Added to the purpose if an invented report mailbox was removed from the record. */
export const ADD_RUA = 'To receive reports, append “; rua=mailto:” and your mailbox address.';

/** A name such as _dmarc has a single purpose; a domain name has TXT records of all kinds. */
export const hasOwnName = (name: string): boolean => name.startsWith('_') || name.includes('._');

/** Also a record that no receiver reads, so that it is replaced, not joined by a second one. */
export const isSpf = resemblesSpf;

/** Whether the TXT or CAA record replaces this one instead of being added alongside it. */
export function isReplaced(
  text: string,
  { type, name, value }: { type: string; name: string; value: string },
): boolean {
  if (type === 'CAA') return findCaaProblem(parseCaa(text), text)?.corrected === value;
  return hasOwnName(name) || isSpf(text);
}

/** Removes a report mailbox that no current DMARC record contains, because the proposal invented it. */
export function stripPlaceholderRua(value: string, current: string[]): string {
  const rua = /(?:^|;)\s*rua\s*=\s*(mailto:dmarc-reports@[^;\s]+)/i.exec(value)?.[1];
  if (!rua || current.some((text) => text.includes(rua))) return value;
  return withoutTag(value, 'rua');
}

export const collapseWhitespace = (text: string): string => text.trim().replace(/\s+/g, ' ');

/**
 * Applies the changes of both records to the one that they started from, which is empty if there was none. If both change
 * the same part, the second wins. Records that have no parts cannot be merged: the first wins.
 */
export function mergeRecords(base: string, first: string, second: string): string {
  return isSpf(first) && isSpf(second)
    ? mergeSpf(base, first, second)
    : mergeTagLists(base, first, second);
}

// Records that consist of tags, such as DMARC.

function mergeTagLists(baseRecord: string, firstRecord: string, secondRecord: string): string {
  const [base, first, second] = [tagsOf(baseRecord), tagsOf(firstRecord), tagsOf(secondRecord)];
  if (first.size < 2 || second.size < 2) return firstRecord;
  const merged = new Map(first);
  for (const [name, value] of second)
    if (!merged.has(name) ? !base.has(name) : value !== base.get(name)) merged.set(name, value);
  for (const name of base.keys()) if (!second.has(name)) merged.delete(name);
  return [...merged].map(([name, value]) => `${name}=${value}`).join('; ');
}

function withoutTag(record: string, unwanted: string): string {
  const tags = [...tagsOf(record)].filter(([name]) => name.toLowerCase() !== unwanted);
  return tags.map(([name, value]) => `${name}=${value}`).join('; ');
}

function tagsOf(record: string): Map<string, string> {
  const parts = record.split(';').map((part) => part.trim());
  return new Map(
    parts.flatMap((part) => {
      const equals = part.indexOf('=');
      return equals < 1 ? [] : [[part.slice(0, equals).trim(), part.slice(equals + 1).trim()]];
    }),
  );
}

// SPF records: terms in an order, where nothing after `all` counts.

function mergeSpf(baseRecord: string, firstRecord: string, secondRecord: string): string {
  const meant = baseRecord === '' ? '' : (readSpf([baseRecord]).record ?? baseRecord);
  const [base, first, second] = [termsOf(meant), termsOf(firstRecord), termsOf(secondRecord)];
  const kept = [...first].filter(([key]) => second.has(key) || !base.has(key));
  const added = [...second].filter(([key]) => !first.has(key) && !base.has(key));
  const terms = [...kept, ...added].map(([key, term]): [string, string] => {
    const other = second.get(key);
    return [key, other !== undefined && other !== base.get(key) ? other : term];
  });
  const last = terms.filter(([key]) => LAST.includes(key));
  const others = terms.filter(([key]) => !LAST.includes(key));
  return ['v=spf1', ...[...others, ...last].map(([, term]) => term)].join(' ');
}

/** The term that decides about all other servers is the last one. */
const LAST = ['all', 'redirect'];

/** By what they name, so that `~all` and `-all` are the same term with another value. */
function termsOf(record: string): Map<string, string> {
  const [, ...terms] = collapseWhitespace(record).split(' ');
  return new Map(
    terms.map((term) => [
      term
        .toLowerCase()
        .replace(/^[+\-?~]/, '')
        .replace(/^redirect=.*/, 'redirect'),
      term,
    ]),
  );
}
