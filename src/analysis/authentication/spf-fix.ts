/** The SPF record to publish instead of the one that is there. */

import type { Fix } from '../check.ts';
import { parseSpfTerms, type SpfTerm } from './spf-terms.ts';

const isAll = (term: SpfTerm): boolean => term.name === 'all' && !term.modifier;

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

/** The record ending in `~all`, whatever `all` it has now; unchanged where a redirect decides. */
export function withSoftFail(record: string): string {
  const terms = parseSpfTerms(record);
  if (!terms.some(isAll) && terms.some(({ name, modifier }) => modifier && name === 'redirect'))
    return record;
  const kept = terms.filter((term) => !isAll(term)).map(({ text }) => text);
  return ['v=spf1', ...kept, '~all'].join(' ');
}

/** One record out of several: each term once; the last one's `all`, or `~all`. */
export function mergedRecord(records: string[]): string {
  const terms = records.flatMap(parseSpfTerms).filter((term) => term.fault === null);
  const texts = terms.filter((term) => !isAll(term)).map(({ text }) => text);
  const last = terms.findLast((term) => isAll(term) && term.qualifier !== '+');
  return ['v=spf1', ...new Set(texts), last?.text ?? '~all'].join(' ');
}
