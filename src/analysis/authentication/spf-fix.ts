/** The SPF record to publish instead of the one that is there: what is changed in its text. */

import type { Fix } from '../check.ts';
import { parseSpfTerms, type SpfTerm } from './spf-terms.ts';

const isAll = (term: SpfTerm): boolean => term.name === 'all' && !term.modifier;
const isRedirect = (term: SpfTerm): boolean => term.name === 'redirect' && term.modifier;

/** A DNS record that holds an SPF record. */
export function spfFix(text: string, domain: string, value: string): Fix {
  return { text, record: { type: 'TXT', name: domain, value } };
}

/**
 * The record with the address let through: before `all` or a redirect, but before any term that
 * could turn the address away; a new record where there is none.
 */
export function withAddress(record: string | null, address: string): string {
  const term = `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`;
  if (record === null) return `v=spf1 ${term} ~all`;
  const terms = parseSpfTerms(record);
  const texts = terms.map(({ text }) => text);
  const end = terms.findIndex((each) => isAll(each) || each.modifier || each.qualifier !== '+');
  const place = end < 0 ? texts.length : end;
  return ['v=spf1', ...texts.slice(0, place), term, ...texts.slice(place)].join(' ');
}

/** The record without these terms; it keeps its end, or ends in `~all` where it has none then. */
export function withoutTerms(record: string, unwanted: string[]): string {
  const terms = parseSpfTerms(record).filter(({ text }) => !unwanted.includes(text));
  const texts = terms.map(({ text }) => text);
  const ends = terms.some((term) => isAll(term) || isRedirect(term));
  return ['v=spf1', ...texts, ...(ends ? [] : ['~all'])].join(' ');
}

/**
 * The record ending in `~all`, whatever `all` it has now. A redirect that has decided until now is
 * included, because beside `all` it would be ignored (RFC 7208 §6.1).
 */
export function withSoftFail(record: string): string {
  const terms = parseSpfTerms(record);
  const decided = terms.some(isAll);
  const kept = terms.filter((term) => !isAll(term) && !(decided && isRedirect(term)));
  return ['v=spf1', ...kept.map(asIncluded), '~all'].join(' ');
}

const asIncluded = (term: SpfTerm): string =>
  isRedirect(term) ? `include:${term.target}` : term.text;

/** A record that lets nobody through, with the hosts and mail servers of its domain in it. */
export function withSomebody(record: string): string {
  const terms = parseSpfTerms(record);
  if (terms.some((term) => isRedirect(term) || (!term.modifier && term.qualifier === '+')))
    return record;
  return ['v=spf1', 'a', 'mx', ...terms.map(({ text }) => text)].join(' ');
}

/**
 * One record out of several: each term once; the last one's `all`, or `~all`. Redirects are
 * included: beside `all` they would be ignored (RFC 7208 §6.1).
 */
export function mergedRecord(records: string[]): string {
  const terms = records.flatMap(parseSpfTerms).filter((term) => term.fault === null);
  const explained = terms.find(({ name, modifier }) => modifier && name === 'exp');
  const texts = terms
    .filter((term) => !isAll(term) && !(term.modifier && term.name === 'exp' && term !== explained))
    .map(asIncluded);
  const last = terms.findLast((term) => isAll(term) && term.qualifier !== '+');
  return ['v=spf1', ...new Set(texts), last?.text ?? '~all'].join(' ');
}
