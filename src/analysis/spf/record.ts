/** An SPF record taken apart into its terms, each with what is wrong with it (RFC 7208 §4.6, §12). */

import { isIPv6 } from 'node:net';
import type { Fix } from '../check.ts';

type SpfQualifier = '+' | '-' | '~' | '?';

export interface SpfTerm {
  /** As written. */
  text: string;
  /** Mechanism or modifier in lower case, whether known or not. */
  name: string;
  modifier: boolean;
  /** `+` where none is written, and for modifiers. */
  qualifier: SpfQualifier;
  /** The domain-spec as written, without a prefix length; null where none is given. */
  target: string | null;
  /** What is wrong with it, as the end of a sentence about the term; null where nothing is. */
  fault: string | null;
}

/** Whether a TXT record is an SPF record at all: it begins with `v=spf1`, then a space or nothing (§4.5). */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** The terms of a record, in order; only spaces separate them (§4.6.1). */
export function parseSpfTerms(record: string): SpfTerm[] {
  const texts = record.split(' ').filter((text) => text !== '');
  const terms = texts.slice(1).map(parseTerm);
  const seen = new Set<string>();
  for (const term of terms) {
    if (!term.modifier || (term.name !== 'redirect' && term.name !== 'exp')) continue;
    if (seen.has(term.name)) term.fault ??= 'stands there twice';
    seen.add(term.name);
  }
  return terms;
}

const MODIFIER = /^([a-z][a-z0-9\-_.]*)=(.*)$/is;
const MECHANISM = /^([+\-?~]?)([^:/]*)(.*)$/s;

function parseTerm(text: string): SpfTerm {
  const modifier = MODIFIER.exec(text);
  if (modifier) {
    const [, name = '', value = ''] = modifier;
    const key = name.toLowerCase();
    const fault =
      key === 'redirect' || key === 'exp' ? domainFault(value) : macroFault(value, 'slodiphcrtv');
    return { text, name: key, modifier: true, qualifier: '+', target: value, fault };
  }
  const [, sign = '', name = '', rest = ''] = MECHANISM.exec(text) ?? [];
  const key = name.toLowerCase();
  const target = /^:(.*?)(?:\/\d+)?(?:\/\/\d+)?$/s.exec(rest)?.[1] ?? null;
  const qualifier = (sign || '+') as SpfQualifier;
  return { text, name: key, modifier: false, qualifier, target, fault: mechanismFault(key, rest) };
}

function mechanismFault(name: string, rest: string): string | null {
  switch (name) {
    case 'all':
      return rest === '' ? null : 'takes no value';
    case 'include':
    case 'exists':
      return rest.startsWith(':') ? domainFault(rest.slice(1)) : 'names no domain';
    case 'ptr':
      if (rest === '') return null;
      return rest.startsWith(':') ? domainFault(rest.slice(1)) : 'has a value that cannot be read';
    case 'a':
    case 'mx':
      return hostFault(rest);
    case 'ip4':
      return networkFault(rest, IP4_NETWORK, 32);
    case 'ip6':
      return networkFault(rest, isIPv6, 128);
    default:
      return 'is not something that SPF knows';
  }
}

function hostFault(rest: string): string | null {
  const parts = /^(?::(.+?))?(?:\/(\d+))?(?:\/\/(\d+))?$/s.exec(rest);
  if (!parts) return 'has a value that cannot be read';
  const [, domain, bits4, bits6] = parts;
  const fault = domain === undefined ? null : domainFault(domain);
  return fault ?? prefixFault(bits4, 32) ?? prefixFault(bits6, 128);
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const DOTTED_QUAD = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const IP4_NETWORK = (text: string) => DOTTED_QUAD.test(text);

function networkFault(
  rest: string,
  isAddress: (text: string) => boolean,
  bits: number,
): string | null {
  const parts = /^:([^/%]+)(?:\/(.*))?$/s.exec(rest);
  if (!parts || !isAddress(parts[1]!)) return 'holds no valid address';
  return prefixFault(parts[2], bits);
}

function prefixFault(bits: string | undefined, most: number): string | null {
  if (bits === undefined) return null;
  return /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= most
    ? null
    : 'has a prefix length that is out of range';
}

/** A domain-spec: macros and letters, ending in a macro or in a dot and a top label (§7.1). */
function domainFault(spec: string): string | null {
  const fault = macroFault(spec, 'slodiphv');
  if (fault) return fault;
  if (/%(?:\{[^}]*\}|[%_-])$/.test(spec)) return null;
  const name = spec.replace(/\.$/, '');
  const top = name.slice(name.lastIndexOf('.') + 1);
  const isTopLabel = /^[a-z0-9-]+$/i.test(top) && !/^-|-$/.test(top) && /[a-z-]/i.test(top);
  return name.includes('.') && isTopLabel ? null : 'names no valid domain';
}

/** Only visible ASCII, and of `%` only what §7.1 allows, with these macro letters. */
function macroFault(text: string, letters: string): string | null {
  if (!/^[\x21-\x7e]*$/.test(text)) return 'holds characters that are not allowed';
  const macro = new RegExp(
    `%(?:[%_-]|\\{[${letters}](?!0+r?[^0-9]*\\})\\d*r?[.\\-+,/_=]*\\})`,
    'gi',
  );
  return text.replace(macro, '').includes('%') ? 'holds a macro that cannot be read' : null;
}

// The SPF record to publish instead of the one that is there: what is changed in its text.

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
