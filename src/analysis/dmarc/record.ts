/** Parses DMARC records (RFC 9989 §4.7), reports their faults, and changes or repairs them. */

import { normalizeDomain } from '../../lib/domain-names.ts';
import type { Fix } from '../check.ts';
import { withoutBrackets, ZONE_LINE } from '../dns/pasted-text.ts';

export interface DmarcTags {
  /** In the order of the record; the first value of a duplicate tag. */
  tags: Map<string, string>;
  /** What mailbox providers ignore or may reject, one sentence each. Does not cover the policy tags. */
  faults: string[];
  /** Duplicate names, which make the whole record invalid (RFC 6376 §3.2). */
  duplicates: string[];
  /** Tags of RFC 7489 that RFC 9989 dropped: harmless. */
  obsolete: string[];
  unknown: string[];
}

const OBSOLETE = new Set(['pct', 'rf', 'ri']);

/** Tags with a fixed set of values, except the policy tags, which have their own check. */
const VALUES: Record<string, RegExp> = {
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
  t: /^[yn]$/i,
  psd: /^[ynu]$/i,
};

const KNOWN = new Set(['v', 'p', 'sp', 'np', 'rua', 'ruf', ...Object.keys(VALUES)]);

/** Whether a TXT record is a DMARC record: it must begin with exactly this version (§4.7 "v"). */
export function isDmarcRecord(text: string): boolean {
  return /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text.trim());
}

/** Whether a TXT record looks like a DMARC record, valid or not: by its version, or by a policy at its beginning. */
export function resemblesDmarc(text: string): boolean {
  return /^dmarc1\s*[;,]|(?:^|[^a-z\d])v\s*[=:]\s*dmarc|^p\s*[=:]\s*(?:none|quarantine|reject)\s*(?:[;,]|$)/i.test(
    plainText(text),
  );
}

/** Whether it is a valid value of `p`, `sp` and `np`. */
export const isPolicy = (value: string | undefined): boolean =>
  /^(?:none|quarantine|reject)$/i.test(value ?? '');

/**
 * The share of failing mail to which receivers that follow RFC 7489 §6.6.4 apply the policy, in percent. RFC 9989 removed the tag,
 * so others apply it to all.
 */
export function percentOf(tags: Map<string, string>): number {
  const pct = tags.get('pct') ?? '';
  return /^\d{1,3}$/.test(pct) ? Math.min(100, Number(pct)) : 100;
}

/** Test mode, in which receivers apply the next weaker policy (RFC 9989 §4.7). */
export const isTestMode = (tags: Map<string, string>): boolean => /^y$/i.test(tags.get('t') ?? '');

export function parseDmarcTags(record: string): DmarcTags {
  const parsed: DmarcTags = {
    tags: new Map(),
    faults: [],
    duplicates: [],
    obsolete: [],
    unknown: [],
  };
  const parts = record.split(';').map((part) => part.trim());
  for (const [index, part] of parts.entries()) {
    if (part !== '') readTag(part, index, parsed);
  }
  return parsed;
}

function readTag(part: string, index: number, parsed: DmarcTags): void {
  const equals = part.indexOf('=');
  if (equals <= 0) {
    parsed.faults.push(`"${part.slice(0, 60)}" is not a tag in the form name=value.`);
    return;
  }
  const rawName = part.slice(0, equals).trim();
  // Names are case-sensitive (RFC 6376 §3.2), except the version, which the ABNF allows as "V".
  const name = index === 0 ? rawName.toLowerCase() : rawName;
  const value = part.slice(equals + 1).trim();
  if (parsed.tags.has(name)) {
    parsed.duplicates.push(name);
    return;
  }
  parsed.tags.set(name, value);
  if (OBSOLETE.has(name)) parsed.obsolete.push(name);
  else if (!KNOWN.has(name)) parsed.unknown.push(name.slice(0, 60));
  if (VALUES[name] && !VALUES[name].test(value))
    parsed.faults.push(`"${name}=${value.slice(0, 60)}" is not a valid value.`);
}

/** The record with one tag set, in its place or after `p`; the rest is unchanged. */
export function withTag(record: string, name: string, value: string): string {
  const { tags } = parseDmarcTags(record);
  if (tags.has(name)) tags.set(name, value);
  const parts = [...tags].map(([key, text]) => `${key}=${text}`);
  if (!tags.has(name)) {
    const policyIndex = parts.findIndex((part) => part.startsWith('p='));
    parts.splice(policyIndex < 0 ? 1 : policyIndex + 1, 0, `${name}=${value}`);
  }
  return parts.join('; ');
}

/** The record without a tag. */
export function withoutTag(record: string, name: string): string {
  const { tags } = parseDmarcTags(record);
  tags.delete(name);
  return [...tags].map(([key, text]) => `${key}=${text}`).join('; ');
}

// Repairs a record whose owner meant something that mailbox providers do not read.

/**
 * A tag name before `=`, or before `:` by mistake, with whatever separates it from the previous value. Each run of separators
 * is read once, from its start: the work must stay linear on a hostile record.
 */
const TAG_START = new RegExp(
  `(?:^|(?<![\\s,;])[\\s,;]+)(${[...KNOWN, ...OBSOLETE, 'policy'].join('|')})[ \\t]*(?:=|:(?!//))`,
  'gi',
);

/** The tag that a name stands for: `policy`, and `ra` or the like before an address. */
const meantName = (name: string, part: string): string => {
  if (name === 'policy') return 'p';
  return /^(?!rua$)[rua]{2,4}$/.test(name) && /= ?mailto ?:/i.test(part) ? 'rua' : name;
};

/** From the weakest. */
export const STRENGTH = ['none', 'quarantine', 'reject'];

/** What to keep of a tag that is there twice. Receivers discard such a record, so nothing stricter may begin at once. */
function weaker(name: string, first: string | undefined, second: string): string {
  if (first === undefined) return second;
  if (name === 'rua' || name === 'ruf') return `${first},${second}`;
  if (name === 't') return [first, second].find((value) => /^y$/i.test(value)) ?? first;
  const order = name === 'adkim' || name === 'aspf' ? ['r', 's'] : STRENGTH;
  return order.find((value) => value === first || value === second) ?? first;
}

const TAG_NAME = /^\s*[a-z]+\s*=/i;

/**
 * A well-formed record that keeps what the owner meant: the version first, each tag once, with valid values, the
 * weakest of several.
 * Repairs missing or wrong separators, quotation marks, and escaped characters. A valid record is unchanged,
 * apart from spaces.
 */
export function repairedRecord(record: string): string {
  const text = plainText(record).replace(TAG_START, ';$1=');
  const tags = new Map<string, string>();
  let lastList: string | null = null;
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    const rawName = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    const name = meantName(rawName, part);
    const value = repairedValue(name, part.slice(equals + 1).trim());
    if (value !== null) tags.set(name, weaker(name, tags.get(name), value));
    // A semicolon between two addresses.
    const list = lastList ?? (/^\s*mailto ?:/i.test(part) ? 'rua' : null);
    const more = list === null || TAG_NAME.test(part) ? null : repairedAddresses(part);
    if (list !== null && more !== null)
      tags.set(list, [tags.get(list) ?? [], more].flat().join(','));
    else if (part.trim() !== '') lastList = name === 'rua' || name === 'ruf' ? name : null;
  }
  const { p = 'none', ...others } = Object.fromEntries(tags);
  const parts = Object.entries({ v: 'DMARC1', p, ...others });
  return parts.map(([name, value]) => `${name}=${value}`).join('; ');
}

/** Invisible characters, and quotation marks that were read in another encoding: copying a record adds them. */
const ADDED =
  /[\u00ad\u200b-\u200d\u2060\ufeff]|\u00e2[\u20ac\u0080][\u0153\u009c\u009d\u2122\u0099\u02dc\u0098]?/g;
/** Quotation marks and backslashes around a value or before a separator. Inside a word they belong to it. */
const QUOTES = /(?<!\w)["'`\\\u2018-\u201f\u00ab\u00bb]+|["'`\\\u2018-\u201f\u00ab\u00bb]+(?!\w)/g;

const ADDRESS_DOMAIN = /(?<=@)[^\s,;!@]{1,253}/g;

/** The A-labels of a name in Latin letters. Another letter, or one in the last label, may have been damaged. */
const asciiDomain = (name: string): string =>
  /^[\p{Script=Latin}\d.-]+\.[a-z]+$/iu.test(name) ? (normalizeDomain(name) ?? name) : name;

/** Without what copying adds. Other characters that a record cannot have make an address or a value invalid. */
const plainText = (record: string): string =>
  withoutBrackets(
    record
      .replace(/\s+/g, ' ')
      .replace(ADDED, '')
      .replace(QUOTES, '')
      .replace(ADDRESS_DOMAIN, asciiDomain)
      .replace(/[^\x20-\x7e]/g, '?')
      .replace(/\b(rua|ruf) (?=mailto ?:)/gi, '$1=')
      .replace(/dmarc1(?=[a-z]+ *=)/i, 'DMARC1;')
      .trim()
      .replace(ZONE_LINE, '')
      .replace(PREFIX, ''),
  );

/** What a form left before the version, such as the name of the record. No tag: that has another `=` before its value. */
const PREFIX = /^(?![([])[^;,=]{0,80}=?(?<![a-z\d]) ?(?=v ?= ?dmarc1)/i;

/** The value if it is valid or can be made valid; null for any other, and for an unknown tag. */
function repairedValue(name: string, value: string): string | null {
  if (name === 'p' || name === 'sp' || name === 'np') return repairedPolicy(value);
  if (name === 'rua' || name === 'ruf') return repairedAddresses(value);
  // Receivers ignore any other value, so alignment is relaxed today.
  if (name === 'adkim' || name === 'aspf')
    return /^s$/i.test(value) ? 's' : /^[rs]/i.test(value) ? 'r' : null;
  if (OBSOLETE.has(name)) return /^[\w:.-]+$/.test(value) ? value : null;
  return VALUES[name]?.test(value) ? value : null;
}

function repairedPolicy(value: string): string {
  const meant = /^(?:q|rej|n)/i.exec(value)?.[0].toLowerCase() ?? '';
  return { q: 'quarantine', rej: 'reject' }[meant] ?? 'none';
}

// Addresses for reports.

/** A mailbox, with the obsolete size limit that a report address may have (`!10m`). */
const MAILBOX = /^([\w.+=~$&*%'-]+)@([a-z0-9.-]+)(?:!\d+[kmgt]?)?$/i;

/** The normalized domain of a mailbox to which reports can be sent; null for any other text. */
export function mailboxDomain(text: string): string | null {
  const [, local = '', domain = ''] = MAILBOX.exec(text) ?? [];
  const hasValidLocal = local !== '' && local.split('.').every((atom) => atom !== '');
  return hasValidLocal && domain.includes('.') ? normalizeDomain(domain) : null;
}

/** `mailto:`, also misspelled. A local part may contain `=`, but hardly `mailto=`. */
const SCHEME = /\b(?:(?:e-?mail|m[ail]{1,4}t?o?)\s*:|mailto\s*=)\s*\/*\s*/gi;

/**
 * The mailboxes that an entry of `rua` or `ruf` means; null if any part of it is no mailbox, because
 * half of an entry might be someone else's. `reports@example.com`, `mailto://reports@example.com` and
 * entries with spaces instead of commas were meant as mailto addresses.
 */
function meantMailboxes(entry: string): string[] | null {
  const texts = entry.replace(/[<>]/g, ' ').replace(SCHEME, ' ').trim().split(/\s+/);
  return texts.every((text) => mailboxDomain(text) !== null) ? texts : null;
}

const entriesOf = (value: string): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

function repairedAddresses(value: string): string | null {
  const addresses = entriesOf(value).flatMap((entry) => meantMailboxes(entry) ?? []);
  return addresses.length > 0 ? addresses.map((address) => `mailto:${address}`).join(',') : null;
}

/** Whether addresses for reports were written, but none can be read. */
export function hasOnlyUnreadableReports(record: string): boolean {
  const { tags } = parseDmarcTags(record);
  return (tags.get('rua') ?? '') !== '' && !parseDmarcTags(repairedRecord(record)).tags.has('rua');
}

/** Whether a repaired record leaves out this entry of `rua` or `ruf`. Before it, a comma may stand for a semicolon. */
export const isDropped = (entry: string): boolean =>
  meantMailboxes(plainText(entry.replace(TAG_START, ''))) === null;

/** What the repaired record leaves out, as a sentence to append; empty if it keeps every address. */
export function droppedAddressNote(record: string): string {
  const { tags } = parseDmarcTags(record.replace(ADDED, '').replace(TAG_START, ';$1='));
  const dropped = ['rua', 'ruf']
    .flatMap((name) => entriesOf(tags.get(name) ?? ''))
    .filter(isDropped)
    .map((entry) => `“${entry.slice(0, 100)}”`);
  if (dropped.length === 0) return '';
  const is =
    dropped.length === 1 ? 'is not a valid report address' : 'are not valid report addresses';
  return ` ${LIST.format(dropped.slice(0, 5))} ${is}, so the record does not contain ${dropped.length === 1 ? 'it' : 'them'}.`;
}

const LIST = new Intl.ListFormat('en-GB');

/**
 * What comes after the proposed record if strict alignment was written so that nobody reads it, as a sentence to append; empty if
 * it was not.
 */
export function strictAlignmentNote(written: string, proposed: string): string {
  const { tags } = parseDmarcTags(plainText(written).replace(TAG_START, ';$1='));
  const read = parseDmarcTags(proposed).tags;
  const meant = [...tags].flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    const isStrict = (lower === 'adkim' || lower === 'aspf') && /^s/i.test(value);
    return isStrict && !/^s$/i.test(read.get(lower) ?? '') ? [`${lower}=s`] : [];
  });
  return meant.length === 0
    ? ''
    : ` Today, alignment is relaxed. Once the reports show that your own mail also passes with strict alignment, set ${meant.join(' and ')}.`;
}

/** A fix that publishes a DMARC record for the domain. */
export function dmarcFix(text: string, domain: string, value: string): Fix {
  return { text, record: { type: 'TXT', name: `_dmarc.${domain}`, value } };
}
