/** Validates a mailbox list (RFC 5322 §3.4) as strictly as mailbox providers do. */

import { normalizeDomain } from '../../lib/domain-names.ts';

// RFC 5322 §3.2.3, plus the octets above 127 of RFC 6532. QUOTED replaces a quoted string.
const QUOTED = '\u0001';
const ATEXT = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-\\u0080-\\uffff";
const LOCAL_PART = new RegExp(`^(?:[${ATEXT}]+(?:\\.[${ATEXT}]+)*|${QUOTED})$`);
// The dot is obsolete in a phrase (§4.1), but common: "John Q. Public".
const PHRASE = new RegExp(`^[${ATEXT}${QUOTED}.\\s]*$`);

/** The entries between commas, without comments and empty entries. Quoted strings become `"…"`. */
export function listEntries(value: string): string[] {
  return splitEntries(value).entries.map(display);
}

/**
 * What is wrong with the first invalid entry, continuing "… is not valid: "; null for a list of full
 * addresses. A group is invalid, because it has no address to reply to.
 */
export function mailboxListProblem(value: string): string | null {
  const { entries, unclosed } = splitEntries(value);
  if (unclosed) return `it has an unclosed ${unclosed}`;
  if (entries.length === 0) return 'it has no address';
  for (const entry of entries) {
    const problem = entryProblem(entry);
    if (problem) return problem;
  }
  return null;
}

/** The address of a valid entry, which ends in it. */
export const entryAddress = (entry: string): string =>
  entry
    .slice(entry.lastIndexOf('<') + 1)
    .replace(/>$/, '')
    .trim();

const display = (entry: string): string => entry.replaceAll(QUOTED, '"…"');

function splitEntries(value: string): { entries: string[]; unclosed: string | null } {
  let reduced = '';
  let quoted = false;
  let comment = 0;
  for (let i = 0; i < value.length; i++) {
    const char = value[i]!;
    if (char === '\\' && (quoted || comment > 0)) i++;
    else if (quoted) quoted = char !== '"';
    else if (char === '(') comment++;
    else if (comment > 0) comment -= char === ')' ? 1 : 0;
    else if (char === '"') {
      quoted = true;
      reduced += QUOTED;
    } else reduced += char;
  }
  const entries = reduced.split(',').map((entry) => entry.trim());
  const unclosed = quoted ? 'quotation mark' : comment > 0 ? 'parenthesis' : null;
  return { entries: entries.filter((entry) => entry !== ''), unclosed };
}

function entryProblem(entry: string): string | null {
  const name = display(entry.length > 80 ? `${entry.slice(0, 80)}…` : entry);
  const angle = entry.indexOf('<');
  const address = angle < 0 ? entry : entry.slice(angle + 1, -1).trim();
  if (angle >= 0 && !entry.endsWith('>')) return `"${name}" does not end with an address in < >`;
  if (angle >= 0 && !PHRASE.test(entry.slice(0, angle)))
    return `the name in "${name}" has characters that need quotation marks`;
  if (angle < 0 && /[:;]/.test(entry)) return `"${name}" is a group, not an address`;
  if (angle < 0 && /\s/.test(entry) && entry.includes('@'))
    return `"${name}" has an address without < >`;
  return addressProblem(address, name);
}

function addressProblem(address: string, name: string): string | null {
  const at = address.lastIndexOf('@');
  if (at < 0) return `"${name}" has no address`;
  if (!LOCAL_PART.test(address.slice(0, at))) return `"${name}" is not a valid address`;
  const domain = address.slice(at + 1);
  if (!domain.includes('.') || domain.endsWith('.') || normalizeDomain(domain) === null)
    return `"${name}" has no full domain name after the @`;
  return null;
}
