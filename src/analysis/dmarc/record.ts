/** Parses DMARC records (RFC 9989 §4.7), reports their faults, and changes or repairs them. */

import type { Fix } from '../check.ts';

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

/** Whether a TXT record looks like a DMARC record, valid or not. */
export function resemblesDmarc(text: string): boolean {
  return /^[\s"']*v\s*=\s*dmarc/i.test(text);
}

/** Whether it is a valid value of `p`, `sp` and `np`. */
export const isPolicy = (value: string | undefined): boolean =>
  /^(?:none|quarantine|reject)$/i.test(value ?? '');

export function parseDmarcTags(record: string): DmarcTags {
  const found: DmarcTags = {
    tags: new Map(),
    faults: [],
    duplicates: [],
    obsolete: [],
    unknown: [],
  };
  const parts = record.split(';').map((part) => part.trim());
  for (const [index, part] of parts.entries()) {
    if (part !== '') readTag(part, index, found);
  }
  return found;
}

function readTag(part: string, index: number, found: DmarcTags): void {
  const equals = part.indexOf('=');
  if (equals <= 0) {
    found.faults.push(`"${part.slice(0, 60)}" is not a tag in the form name=value.`);
    return;
  }
  const rawName = part.slice(0, equals).trim();
  // Names are case-sensitive (RFC 6376 §3.2), except the version, which the ABNF allows as "V".
  const name = index === 0 ? rawName.toLowerCase() : rawName;
  const value = part.slice(equals + 1).trim();
  if (found.tags.has(name)) {
    found.duplicates.push(name);
    return;
  }
  found.tags.set(name, value);
  if (OBSOLETE.has(name)) found.obsolete.push(name);
  else if (!KNOWN.has(name)) found.unknown.push(name.slice(0, 60));
  if (VALUES[name] && !VALUES[name].test(value))
    found.faults.push(`"${name}=${value.slice(0, 60)}" is not a valid value.`);
}

/** The record with one tag set, in its place or after `p`; the rest is unchanged. */
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

/** A well-formed record made from an unusable one: the version first, each tag once. */
export function repairedRecord(record: string): string {
  // Without its semicolon, the version would swallow the first tag.
  const text = record.replace(/["']/g, '').replace(/^\s*v\s*=\s*dmarc1[\s,]+/i, 'v=DMARC1; ');
  const { tags } = parseDmarcTags(text);
  const rest = [...tags].filter(([name]) => name.toLowerCase() !== 'v');
  const parts = rest.map(([name, value]) => `${name.toLowerCase()}=${value}`);
  if (!parts.some((part) => part.startsWith('p='))) parts.unshift('p=none');
  return ['v=DMARC1', ...parts].join('; ');
}

/** A fix that publishes a DMARC record for the domain. */
export function dmarcFix(text: string, domain: string, value: string): Fix {
  return { text, record: { type: 'TXT', name: `_dmarc.${domain}`, value } };
}
