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

/**
 * The record with the terms corrected whose meaning is clear, such as `ipv4:192.0.2.1`; null if an invalid
 * term remains.
 */
export function repairedSpf(record: string): string | null {
  const terms = parseSpfTerms(record).flatMap((term) =>
    term.fault === null && !isMistakenModifier(term) ? term.text : repairedTerms(term.text),
  );
  const repaired = ['v=spf1', ...new Set(terms)].join(' ');
  return parseSpfTerms(repaired).every(({ fault }) => fault === null) ? repaired : null;
}

const MECHANISMS = new Set(['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists']);

/** A mechanism with `=`, which verifiers ignore as an unknown modifier (§6): `include=example.com`. */
export const isMistakenModifier = ({ name, isModifier, fault }: SpfTerm): boolean =>
  isModifier && fault === null && MECHANISMS.has(name);

/** The terms that a misspelled term stands for. */
function repairedTerms(text: string): string[] {
  return (
    text
      // A comma or semicolon in place of a space, and two strings of a record that were joined without one.
      .split(/[,;]+|(?<=[a-z0-9])(?=(?:ip[46]|include):)/i)
      .map((part) => part.replace(/["']/g, '').trim())
      .filter((part) => part !== '')
      .map((part) =>
        part
          .replace(/^([+\-?~]?)ipv([46])(?=[:=])/i, '$1ip$2')
          .replace(/^([+\-?~]?)includes(?=[:=])/i, '$1include')
          .replace(/^([+\-?~]?)ip[46]?[:=](?=[\d.]+(?:\/|$))/i, '$1ip4:')
          .replace(/^([+\-?~]?)ip[46]?[:=](?=[\da-f]*:)/i, '$1ip6:')
          .replace(/^([+\-?~]?)(include|a|mx|exists)=/i, '$1$2:')
          .replace(/^redirect:/i, 'redirect=')
          .replace(
            /^([+\-?~]?)(include|a|mx|exists|redirect)([:=])https?:\/\/([^/]+)\/?$/i,
            '$1$2$3$4',
          )
          .replace(/^[\u2010-\u2015](?=all$)/, '-')
          .replace(/^([+\-?~]?)(all)\.$/i, '$1$2'),
      )
  );
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

/** The record without these terms. Adds `~all` if neither `all` nor a redirect remains. */
export function withoutTerms(record: string, unwanted: string[]): string {
  const terms = parseSpfTerms(record).filter(({ text }) => !unwanted.includes(text));
  const texts = terms.map(({ text }) => text);
  const hasEnd = terms.some((term) => isAll(term) || isRedirect(term));
  return ['v=spf1', ...texts, ...(hasEnd ? [] : ['~all'])].join(' ');
}

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

/** Adds `a` and `mx` to a record that no sender can pass; returns any other record unchanged. */
export function withDefaultSenders(record: string): string {
  const terms = parseSpfTerms(record);
  if (terms.some((term) => isRedirect(term) || (!term.isModifier && term.qualifier === '+')))
    return record;
  return ['v=spf1', 'a', 'mx', ...terms.map(({ text }) => text)].join(' ');
}

/**
 * Merges several records into one with each term once and the last `all`, or `~all`. Redirects become
 * includes, because they would be ignored beside `all` (RFC 7208 §6.1).
 */
export function mergeRecords(records: string[]): string {
  const terms = records.flatMap(parseSpfTerms).filter((term) => term.fault === null);
  const explanation = terms.find(({ name, isModifier: modifier }) => modifier && name === 'exp');
  const texts = terms
    .filter(
      (term) => !isAll(term) && !(term.isModifier && term.name === 'exp' && term !== explanation),
    )
    .map(redirectAsInclude);
  const lastAll = terms.findLast((term) => isAll(term) && term.qualifier !== '+');
  return ['v=spf1', ...new Set(texts), lastAll?.text ?? '~all'].join(' ');
}
