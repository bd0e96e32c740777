/** Parses and validates SPF records (RFC 7208 §4.6, §12), and proposes changed ones. */

import { isIPv6 } from 'node:net';
import type { Fix } from '../check.ts';

type SpfQualifier = '+' | '-' | '~' | '?';

export interface SpfTerm {
  /** As written. */
  text: string;
  /** The mechanism or modifier in lower case, known or not. */
  name: string;
  isModifier: boolean;
  /** `+` by default, and for modifiers. */
  qualifier: SpfQualifier;
  /** The domain-spec as written, without a prefix length; null if there is none. */
  target: string | null;
  /** What is wrong with the term, continuing "it contains {term}, which …"; null if valid. */
  fault: string | null;
}

/** Whether a TXT record is an SPF record: it begins with `v=spf1`, then a space or nothing (§4.5). */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** The terms of a record in order, separated by spaces only (§4.6.1). */
export function parseSpfTerms(record: string): SpfTerm[] {
  const texts = record.split(' ').filter((text) => text !== '');
  const terms = texts.slice(1).map(parseTerm);
  const seenModifiers = new Set<string>();
  for (const term of terms) {
    if (!term.isModifier || (term.name !== 'redirect' && term.name !== 'exp')) continue;
    if (seenModifiers.has(term.name)) term.fault ??= 'appears twice';
    seenModifiers.add(term.name);
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
    return { text, name: key, isModifier: true, qualifier: '+', target: value, fault };
  }
  const [, sign = '', name = '', suffix = ''] = MECHANISM.exec(text) ?? [];
  const key = name.toLowerCase();
  const target = /^:(.*?)(?:\/\d+)?(?:\/\/\d+)?$/s.exec(suffix)?.[1] ?? null;
  const qualifier = (sign || '+') as SpfQualifier;
  return {
    text,
    name: key,
    isModifier: false,
    qualifier,
    target,
    fault: mechanismFault(key, suffix),
  };
}

function mechanismFault(name: string, suffix: string): string | null {
  switch (name) {
    case 'all':
      return suffix === '' ? null : 'must not have a value';
    case 'include':
    case 'exists':
      return suffix.startsWith(':') ? domainFault(suffix.slice(1)) : 'has no domain';
    case 'ptr':
      if (suffix === '') return null;
      return suffix.startsWith(':') ? domainFault(suffix.slice(1)) : 'has an invalid value';
    case 'a':
    case 'mx':
      return hostFault(suffix);
    case 'ip4':
      return networkFault(suffix, isDottedQuad, 32);
    case 'ip6':
      return networkFault(suffix, isIPv6, 128);
    default:
      return 'is not a valid SPF term';
  }
}

function hostFault(suffix: string): string | null {
  const parts = /^(?::(.+?))?(?:\/(\d+))?(?:\/\/(\d+))?$/s.exec(suffix);
  if (!parts) return 'has an invalid value';
  const [, domain, bits4, bits6] = parts;
  const fault = domain === undefined ? null : domainFault(domain);
  return fault ?? prefixFault(bits4, 32) ?? prefixFault(bits6, 128);
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const DOTTED_QUAD = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const isDottedQuad = (text: string) => DOTTED_QUAD.test(text);

function networkFault(
  suffix: string,
  isAddress: (text: string) => boolean,
  bits: number,
): string | null {
  const parts = /^:([^/%]+)(?:\/(.*))?$/s.exec(suffix);
  if (!parts || !isAddress(parts[1]!)) return 'has no valid IP address';
  return prefixFault(parts[2], bits);
}

function prefixFault(bits: string | undefined, max: number): string | null {
  if (bits === undefined) return null;
  return /^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= max
    ? null
    : 'has a prefix length out of range';
}

/** A domain-spec: macros and letters, ending in a macro or in a dot and a top label (§7.1). */
function domainFault(spec: string): string | null {
  const fault = macroFault(spec, 'slodiphv');
  if (fault) return fault;
  if (/%(?:\{[^}]*\}|[%_-])$/.test(spec)) return null;
  const name = spec.replace(/\.$/, '');
  const top = name.slice(name.lastIndexOf('.') + 1);
  const isTopLabel = /^[a-z0-9-]+$/i.test(top) && !/^-|-$/.test(top) && /[a-z-]/i.test(top);
  return name.includes('.') && isTopLabel ? null : 'has no valid domain';
}

/** Only visible ASCII and the `%` macros of §7.1 with these letters are allowed. */
function macroFault(text: string, letters: string): string | null {
  if (!/^[\x21-\x7e]*$/.test(text)) return 'contains characters that are not allowed';
  const macro = new RegExp(
    `%(?:[%_-]|\\{[${letters}](?!0+r?[^0-9]*\\})\\d*r?[.\\-+,/_=]*\\})`,
    'gi',
  );
  return text.replace(macro, '').includes('%') ? 'contains an invalid macro' : null;
}

const isAll = (term: SpfTerm): boolean => term.name === 'all' && !term.isModifier;
const isRedirect = (term: SpfTerm): boolean => term.name === 'redirect' && term.isModifier;

/** Mechanisms after `all`, which verifiers never reach (§5.1). */
export function unreachedTerms(terms: SpfTerm[]): SpfTerm[] {
  const all = terms.findIndex(isAll);
  return all < 0 ? [] : terms.slice(all + 1).filter(({ isModifier }) => !isModifier);
}

/** The record with its first `all` at the end, so that every mechanism is reached. */
export function withAllLast(record: string): string {
  const terms = parseSpfTerms(record);
  if (unreachedTerms(terms).length === 0) return record;
  const all = terms.find(isAll)!;
  const others = terms.filter((term) => !isAll(term)).map(({ text }) => text);
  return ['v=spf1', ...others, all.text].join(' ');
}

/** The record with everything before its first `all`; a redirect beside it, which is ignored (§6.1), as an include. */
export function withAllReached(record: string): string {
  const terms = parseSpfTerms(record);
  const all = terms.find(isAll);
  if (!all) return record;
  const others = terms.filter((term) => !isAll(term)).map(redirectAsInclude);
  return ['v=spf1', ...new Set(others), all.text].join(' ');
}

/** The record without the mechanisms after `all` and without a redirect beside it. */
export function withoutUnreached(record: string): string {
  const terms = parseSpfTerms(record);
  const ignored = [
    ...unreachedTerms(terms),
    ...(terms.some(isAll) ? terms.filter(isRedirect) : []),
  ];
  return [
    'v=spf1',
    ...terms.filter((term) => !ignored.includes(term)).map(({ text }) => text),
  ].join(' ');
}

const MECHANISMS = new Set(['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists']);

/** A mechanism with `=`, which verifiers ignore as an unknown modifier (§6): `include=example.com`. */
export const isMistakenModifier = ({ name, isModifier, fault }: SpfTerm): boolean =>
  isModifier && fault === null && MECHANISMS.has(name);

/** A slip in a term that is well formed but names no domain, which continues a sentence as `fault` does; null if there is none. */
export const slipOf = (term: SpfTerm): string | null =>
  /^https?:/i.test(term.target ?? '')
    ? 'has a web address where a domain belongs'
    : // No top-level domain has such a hyphen.
      /\.[a-z]+-all$/i.test(term.target ?? '') && term.text.endsWith(term.target!)
      ? 'has no space before -all'
      : strangeSign(term);

/** What no host name has, though the grammar allows it. A macro can contain anything. */
function strangeSign({ name, isModifier, target }: SpfTerm): string | null {
  if (target?.includes('%') !== false || name.startsWith('ip')) return null;
  if (isModifier && name !== 'redirect') return null;
  if (target.includes(':')) return 'has a second colon in its domain';
  return target.includes(',') ? 'has a comma in its domain' : null;
}

/** A fix that publishes an SPF record. */
export function spfFix(text: string, domain: string, value: string): Fix {
  return { text, record: { type: 'TXT', name: domain, value } };
}

/** The record with the address added; a new record if there is none. */
export function withAddress(record: string | null, address: string): string {
  return withTerm(record, `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`);
}

/** The record with the include added. Replaces any include of the sameIncludes name, whatever its qualifier. */
export function withInclude(record: string | null, name: string): string {
  if (record === null) return withTerm(null, `include:${name}`);
  const sameIncludes = parseSpfTerms(record).filter(
    (term) => term.name === 'include' && !term.isModifier && term.target?.toLowerCase() === name,
  );
  const rest = sameIncludes.reduce((text, term) => withoutTerm(text, term.text), record);
  return withTerm(rest, `include:${name}`);
}

const withoutTerm = (record: string, unwanted: string): string =>
  ['v=spf1', ...parseSpfTerms(record).flatMap(({ text }) => (text === unwanted ? [] : text))].join(
    ' ',
  );

/** Adds a term before `all`, any modifier, and any term that could reject the sender. */
function withTerm(record: string | null, term: string): string {
  if (record === null) return `v=spf1 ${term} ~all`;
  const terms = parseSpfTerms(withAllLast(record));
  const texts = terms.map(({ text }) => text);
  const index = terms.findIndex(
    (candidate) => isAll(candidate) || candidate.isModifier || candidate.qualifier !== '+',
  );
  const position = index < 0 ? texts.length : index;
  return ['v=spf1', ...texts.slice(0, position), term, ...texts.slice(position)].join(' ');
}

/**
 * The record without these terms, and the rest as it was written. Ends with `~all` if a redirect that is taken out was its
 * end.
 */
export function withoutTerms(record: string, unwanted: string[]): string {
  const rest = record.replace(/ +([^ ]+)/g, (found, text) =>
    unwanted.includes(text) ? '' : found,
  );
  const had = parseSpfTerms(record);
  const hasEnd = parseSpfTerms(rest).some((term) => isAll(term) || isRedirect(term));
  return had.some(isRedirect) && !hasEnd ? `${rest} ~all` : rest;
}

/** The mechanisms that stand in the record before, each once. */
export function repeatedTerms(terms: SpfTerm[]): string[] {
  const texts = terms.filter(({ isModifier }) => !isModifier).map(({ text }) => text.toLowerCase());
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) < index))];
}

/** The record with each mechanism where it stands first: a later one never decides. */
export function withoutRepeated(record: string): string {
  const seen = new Set<string>();
  return record.replace(/ +([^ ]+)/g, (found, text: string) => {
    const isAgain = seen.size === seen.add(text.toLowerCase()).size;
    return isAgain && !text.includes('=') ? '' : found;
  });
}

/** The record with a term in place of another, or without it if the record has that term already. */
export const withTermReplaced = (record: string, term: string, by: string): string =>
  parseSpfTerms(record).some(({ text }) => text === by)
    ? withoutTerms(record, [term])
    : record.replace(/ +([^ ]+)/g, (found, text) => (text === term ? ` ${by}` : found));

/**
 * The record with its `all` replaced by `~all`. An effective redirect becomes an include, because it
 * would be ignored beside `all` (RFC 7208 §6.1).
 */
export function withSoftFail(record: string): string {
  const terms = parseSpfTerms(record);
  const hasAll = terms.some(isAll);
  const kept = terms.filter((term) => !isAll(term) && !(hasAll && isRedirect(term)));
  return ['v=spf1', ...kept.map(redirectAsInclude), '~all'].join(' ');
}

const redirectAsInclude = (term: SpfTerm): string =>
  isRedirect(term) ? `include:${term.target}` : term.text;

/** Whether any sender can pass. */
export const allowsSenders = (record: string): boolean =>
  parseSpfTerms(record).some(
    (term) => isRedirect(term) || (!term.isModifier && term.qualifier === '+'),
  );

/** Adds `a` and `mx` to a record that no sender can pass; returns any other record unchanged. */
export const withDefaultSenders = (record: string): string =>
  allowsSenders(record) ? record : record.replace(/^v=spf1/i, '$& a mx');

/**
 * One record with the terms of several, each once, and the strictest `all` of them, if any has one. Redirects become
 * includes, because they would be ignored beside `all` (RFC 7208 §6.1). Null if more than one refuses some senders: each
 * would then refuse senders of the other.
 */
export function joinTerms(records: SpfTerm[][]): string | null {
  const refuses = (terms: SpfTerm[]) =>
    terms.some((term) => !term.isModifier && !isAll(term) && term.qualifier !== '+');
  const [open, refusing] = [records.filter((terms) => !refuses(terms)), records.filter(refuses)];
  if (refusing.length > 1) return null;
  const terms = [...open, ...refusing].flat();
  const explanation = terms.find(({ name, isModifier }) => isModifier && name === 'exp');
  const texts = terms
    .filter(
      (term) => !isAll(term) && !(term.isModifier && term.name === 'exp' && term !== explanation),
    )
    .map(redirectAsInclude);
  const strictest = [...'-~?+'].flatMap((sign) =>
    terms.filter((term) => isAll(term) && term.qualifier === sign),
  )[0];
  return ['v=spf1', ...new Set([...texts, ...(strictest ? [strictest.text] : [])])].join(' ');
}
