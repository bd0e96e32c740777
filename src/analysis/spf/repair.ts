/** Reads SPF records as a person does: what was meant by a record that verifiers do not read, or by several. */

import { isIPv6 } from 'node:net';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { pastedAround, plainCharacters, ZONE_LINE } from '../dns/pasted-text.ts';
import { isMistakenModifier, isSpfRecord, joinTerms, parseSpfTerms, slipOf } from './record.ts';

export interface SpfReading {
  /** A valid record with all that was written, and nothing else; null if it is not certain. */
  record: string | null;
  /** Terms that nobody can read with certainty, as written. */
  unreadable: string[];
}

/** `v=spf1` as people write it. Not `v=spf10`, nor `spf2.0` of RFC 4406. */
const VERSION = /^(?:v\s*[=:]*\s*(?:spf|sfp)\s*1?|spf\s*1(?=[\s;,:]|$))(?!\d|\.\d)[\s;,:.]*/i;
const NEXT_VERSION = /(?:^|(?<![\s;,])[\s;,]+|"|(?<=all))v\s*=\s*spf1(?!\d|\.\d)[\s;,:]*/i;

/**
 * The name of the record or of a field, which forms and guides put before a whole record. Anything else may be a comment, or
 * the text of another service.
 */
const PREFIX =
  /^(?:@|(?:txt|spf|value|content|data)(?: (?:record|value))?) ?[=:]? ?(?=v ?= ?spf1(?!\d|\.\d).*(?:all|redirect *=))/i;

/** Longer records are not repaired: nobody means them, and each repair would take long. */
const MAX_REPAIRED = 4096;

/** Whether a TXT record looks like an SPF record, valid or not. */
export const resemblesSpf = (text: string): boolean =>
  VERSION.test(plainText(text.slice(0, MAX_REPAIRED)));

/** Why verifiers do not read the record at all (RFC 7208 §4.5), as the predicate of a sentence; null if they do. */
export function spfDamage(text: string): string | null {
  if (isSpfRecord(text)) return null;
  const around = pastedAround(text);
  if (around !== null) return around;
  const [prefix] = PREFIX.exec(text.replace(/["'\s]+/g, ' ')) ?? [];
  if (prefix !== undefined) return `begins with "${prefix.trim()}" instead of v=spf1`;
  const [, next] = /^v=spf1(.)/isu.exec(text) ?? [];
  if (next !== undefined && /[;,:.\\]/.test(next))
    return `has "${next}" after v=spf1 instead of a space`;
  if (next !== undefined && /^[\x21-\x7e]$/.test(next)) return 'has no space after v=spf1';
  if (next !== undefined) return 'has a character other than a space after v=spf1';
  return /^v\s*=\s*spf1/i.test(text)
    ? 'has spaces around the equals sign of v=spf1'
    : 'does not begin with v=spf1';
}

/** The one record that all of these mean. It does not depend on their order, which is random in DNS. */
export function readSpf(texts: string[]): SpfReading {
  const tooLong = texts.filter(({ length }) => length > MAX_REPAIRED);
  if (tooLong.length > 0) return { record: null, unreadable: tooLong };
  const records = texts.toSorted().flatMap((text) => readOne(text));
  const unreadable = [...new Set(records.flatMap((record) => record.unreadable))];
  if (unreadable.length > 0) return { record: null, unreadable };
  const distinct = [...new Set(records.map(({ terms }) => terms.join(' ')))];
  const [only, ...others] = distinct;
  // As it was written, if nothing in it changes.
  if (others.length === 0 && texts.length === 1 && isSpfRecord(texts[0]!))
    return { record: isAsWritten(texts[0]!, only!) ? texts[0]! : withVersion(only!), unreadable };
  if (others.length === 0) return { record: withVersion(only!), unreadable };
  return {
    record: joinTerms(distinct.map((terms) => parseSpfTerms(withVersion(terms)))),
    unreadable,
  };
}

const withVersion = (terms: string): string => (terms === '' ? 'v=spf1' : `v=spf1 ${terms}`);

const isAsWritten = (text: string, terms: string): boolean =>
  parseSpfTerms(text)
    .map((term) => term.text)
    .join(' ') === terms;

// One record: its words, and the terms that they mean.

interface Terms {
  terms: string[];
  unreadable: string[];
}

/** Several, if a second version shows where the next record begins. */
function readOne(text: string): Terms[] {
  const body = plainText(text).replace(VERSION, '');
  const parts = body.split(NEXT_VERSION).map((part) => part.trim());
  const written = parts.filter((part) => part !== '');
  return (written.length > 0 ? written : ['']).map(readTerms);
}

/** Stands where a string ended whose last word may go on in the next string. */
const CUT = '\u0000';

/** Without what forms, zone files and word processors add. */
const plainText = (text: string): string =>
  plainCharacters(text)
    .replace(/(\S)"\s*"(?=(\S+))/g, (_, last: string, next: string) =>
      isTermLike(next) ? (/^[a-z]+$/i.test(next) ? last + CUT : `${last} `) : last,
    )
    .replace(/["'`\u2018-\u201f\u00ab\u00bb]/g, '')
    .trim()
    .replace(ZONE_LINE, '')
    .replace(/^\((.*)\)$/s, '$1')
    .trim()
    .replace(PREFIX, '');

const NAME = '(?:ipv?[46]?|includes?|a|mx|ptr|exists|redirect|exp)';
/** A mechanism that nothing or a value follows. */
const TERM = new RegExp(`^[+\\-?~]?(?:${NAME}(?:[:=/]|$)|all$)`, 'i');
const isTermLike = (word: string): boolean => TERM.test(word);
const NEEDS_VALUE = /^[+\-?~]?(?:ipv?[46]?|includes?|exists|redirect|exp)$/i;
const IS_CUT_OFF = new RegExp(`^[+\\-?~]?${NAME}[:=]+$`, 'i');
const ALONE = new RegExp(`^[+\\-?~]?${NAME}$`, 'i');

/** Two terms without a space between them. A macro can contain anything. */
const GLUED =
  /(?<=[a-z0-9])(?=(?:ip[46]|include):)|(?<=[a-z0-9])(?=[~?+]all$)|(?=-all$)(?<=\.[a-z]+|[:/.]\d+|^(?:a|mx|ptr))/i;

function readTerms(part: string): Terms {
  const words = part
    .replace(/%\{[^}]*\}|[,;|]+/g, (found) => (found.startsWith('%') ? found : ' , '))
    .split(' ')
    .filter((word) => word !== '')
    .flatMap((word) => word.split(GLUED));
  const read: Terms = { terms: [], unreadable: [] };
  let mechanism = '';
  let isContinued = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === ',') {
      isContinued = true;
      continue;
    }
    const whole = withValue(word, words);
    const term = meantTerm(whole, isContinued ? mechanism : '');
    isContinued = false;
    if (term === null) read.unreadable.push(whole.replaceAll(CUT, '" "'));
    // A modifier that appears twice is an error (§6), also if both say the same.
    else if (!term.includes('=') || !read.terms.includes(term)) read.terms.push(term);
    mechanism = /^([+\-?~]?\w+):/.exec(term ?? '')?.[1] ?? '';
  }
  const faulty = parseSpfTerms(withVersion(read.terms.join(' '))).filter(({ fault }) => fault);
  read.unreadable.push(...faulty.map(({ text }) => text));
  return read;
}

/** The word with the following ones that belong to it: `ip4: 192.0.2.1`, `include : x.example`, `ip4:192.0.2.0 /24`. */
function withValue(word: string, next: string[]): string {
  let whole = word;
  const take = () => next.shift() ?? '';
  if (/^[+\-?~]$/.test(whole) && next[0] !== undefined && isTermLike(next[0])) whole += take();
  if (ALONE.test(whole) && /^[:=]/.test(next[0] ?? '')) whole += take();
  if (NEEDS_VALUE.test(whole) && next[0] === ',') take();
  const value = next[0];
  if (value !== undefined && value !== ',' && !isTermLike(value) && !/^[+\-?~]/.test(value)) {
    if (IS_CUT_OFF.test(whole)) whole += take();
    else if (NEEDS_VALUE.test(whole)) whole += `:${take()}`;
  }
  if (/^\/[\d/]+$/.test(next[0] ?? '') && isTermLike(whole)) whole += take();
  return whole;
}

const PARTS = new RegExp(`^([+\\-?~]?)(${NAME})(?:\\s*[:=]+(.*))?$`, 'i');

/** The valid term that the word means; null if that is not certain. `mechanism` is that of a list which it continues. */
function meantTerm(word: string, mechanism: string): string | null {
  const [asWritten] = parseSpfTerms(`v=spf1 ${word}`);
  if (asWritten && !(asWritten.fault ?? slipOf(asWritten)) && !isMistakenModifier(asWritten))
    return word;
  const all = /^([+\-?~]?all)[.:;]$/i.exec(word)?.[1];
  const meant = all ?? meantMechanism(word, mechanism);
  if (meant === null) return null;
  const [term] = parseSpfTerms(`v=spf1 ${meant}`);
  return term && !(term.fault ?? slipOf(term)) ? meant : null;
}

function meantMechanism(word: string, mechanism: string): string | null {
  const [, sign = '', written = '', text = ''] =
    PARTS.exec(word) ?? PARTS.exec(mechanism ? `${mechanism}:${word}` : `ip:${word}`) ?? [];
  const name = written.toLowerCase().replace(/^includes$/, 'include');
  const value = text
    .replace(/^https?:\/\/([^/]+)\/?$/i, '$1')
    .replace(/^\[([^\]]+)\](?=\/|$)/, '$1')
    .replace(/\/$/, '');
  const network = meantNetwork(value);
  if (network !== null) return /^(?:ip|a$|mx$|include$)/.test(name) ? `${sign}${network}` : null;
  const target = asciiTarget(value);
  if (!target) return null;
  if (name === 'redirect' || name === 'exp') return sign === '' ? `${name}=${target}` : null;
  if (!name.startsWith('ip')) return `${sign}${name}:${target}`;
  // A host where an address stands. Names with an underscore are not those of hosts.
  const isHost = /^[a-z0-9.-]+\.[a-z]{2,}\.?$/i.test(target) && PARTS.test(word);
  return isHost ? `${sign}a:${target}` : null;
}

/** With the prefix length of a netmask. */
function meantNetwork(value: string): string | null {
  const [address = '', length, ...others] = value.replace(/\.(?=\/|$)/, '').split('/');
  if (others.length > 0) return null;
  const prefix = length === undefined ? '' : `/${prefixOf(length)}`;
  if (/^\d+(?:\.\d+){3}$/.test(address)) return `ip4:${address}${prefix}`;
  return isIPv6(address) ? `ip6:${address}${prefix}` : null;
}

function prefixOf(length: string): string {
  if (!/^(?:\d{1,3}\.){3}\d{1,3}$/.test(length)) return length;
  const bits = length
    .split('.')
    .map((octet) => Number(octet).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) ? String(bits.replace(/0/g, '').length) : length;
}

/** The name in A-labels, if it has other Latin letters. Null if other characters got into it, or letters that look like Latin ones. */
function asciiTarget(value: string): string | null {
  if (/^[\x21-\x7e]*$/.test(value)) return value;
  return /^[\p{Script=Latin}\d._-]+\.[a-z]+\.?$/iu.test(value) ? normalizeDomain(value) : null;
}
