/** A DMARC record taken apart, with what is wrong with its tags (RFC 9989 §4.7), and put together again. */

import type { Fix } from '../check.ts';

export interface DmarcTags {
  /** In the order of the record; of a name that stands there twice, the first. */
  tags: Map<string, string>;
  /** What receivers overlook or may stumble over, one sentence each; the policy tags aside. */
  faults: string[];
  /** Names that stand there twice: the whole record is void then (RFC 6376 §3.2). */
  doubled: string[];
  /** Tags of RFC 7489 that RFC 9989 no longer has: harmless. */
  obsolete: string[];
  unknown: string[];
}

const OBSOLETE = new Set(['pct', 'rf', 'ri']);

/** The tags with a fixed set of values; those of the policy have a check of their own. */
const VALUES: Record<string, RegExp> = {
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
  t: /^[yn]$/i,
  psd: /^[ynu]$/i,
};

const KNOWN = new Set(['v', 'p', 'sp', 'np', 'rua', 'ruf', ...Object.keys(VALUES)]);

/** Whether a TXT record is a DMARC record at all: the version comes first, exactly so (§4.7 "v"). */
export function isDmarcRecord(text: string): boolean {
  return /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text.trim());
}

/** Whether it was meant to be one. */
export function resemblesDmarc(text: string): boolean {
  return /^[\s"']*v\s*=\s*dmarc/i.test(text);
}

/** Whether it is one of the three words that `p`, `sp` and `np` may have. */
export const isPolicy = (value: string | undefined): boolean =>
  /^(?:none|quarantine|reject)$/i.test(value ?? '');

export function parseDmarcTags(record: string): DmarcTags {
  const found: DmarcTags = { tags: new Map(), faults: [], doubled: [], obsolete: [], unknown: [] };
  const parts = record.split(';').map((part) => part.trim());
  for (const [index, part] of parts.entries()) {
    if (part !== '') readTag(part, index, found);
  }
  return found;
}

function readTag(part: string, index: number, found: DmarcTags): void {
  const equals = part.indexOf('=');
  if (equals <= 0) {
    found.faults.push(`"${part.slice(0, 60)}" is not a tag: a tag is a name, "=" and a value.`);
    return;
  }
  const written = part.slice(0, equals).trim();
  // Names are case-sensitive (RFC 6376 §3.2) but for the version, which the ABNF lets be "V".
  const name = index === 0 ? written.toLowerCase() : written;
  const value = part.slice(equals + 1).trim();
  if (found.tags.has(name)) {
    found.doubled.push(name);
    return;
  }
  found.tags.set(name, value);
  if (OBSOLETE.has(name)) found.obsolete.push(name);
  else if (!KNOWN.has(name)) found.unknown.push(name.slice(0, 60));
  if (VALUES[name] && !VALUES[name].test(value))
    found.faults.push(`"${name}=${value.slice(0, 60)}" is not a value that DMARC knows.`);
}

/** The record with one tag set, in its place or behind `p`, and the rest as it was. */
export function withTag(record: string, name: string, value: string): string {
  const { tags } = parseDmarcTags(record);
  if (tags.has(name)) tags.set(name, value);
  const parts = [...tags].map(([key, text]) => `${key}=${text}`);
  if (!tags.has(name)) {
    const after = parts.findIndex((part) => part.startsWith('p='));
    parts.splice(after < 0 ? 1 : after + 1, 0, `${name}=${value}`);
  }
  return parts.join('; ');
}

/** A well-formed record out of one that receivers discard: the version first, each tag once. */
export function repairedRecord(record: string): string {
  // A version without its semicolon would take the first tag with it.
  const text = record.replace(/["']/g, '').replace(/^\s*v\s*=\s*dmarc1[\s,]+/i, 'v=DMARC1; ');
  const { tags } = parseDmarcTags(text);
  const rest = [...tags].filter(([name]) => name.toLowerCase() !== 'v');
  const parts = rest.map(([name, value]) => `${name.toLowerCase()}=${value}`);
  if (!parts.some((part) => part.startsWith('p='))) parts.unshift('p=none');
  return ['v=DMARC1', ...parts].join('; ');
}

/** A DNS record that holds a DMARC record for the domain. */
export function dmarcFix(text: string, domain: string, value: string): Fix {
  return { text, record: { type: 'TXT', name: `_dmarc.${domain}`, value } };
}
