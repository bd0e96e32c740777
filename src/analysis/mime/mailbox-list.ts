/** Judges a list of mailboxes by RFC 5322 §3.4 as receivers do: lenient readers are not the measure. */

import { normalizeDomain } from '../../lib/domain-names.ts';

// RFC 5322 §3.2.3 with the octets above 127 that RFC 6532 adds. QUOTED stands for a quoted string.
const QUOTED = '\u0001';
const ATEXT = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-\\u0080-\\uffff";
const LOCAL_PART = new RegExp(`^(?:[${ATEXT}]+(?:\\.[${ATEXT}]+)*|${QUOTED})$`);
// The dot is obsolete in a phrase (§4.1) but everywhere: "John Q. Public".
const PHRASE = new RegExp(`^[${ATEXT}${QUOTED}.\\s]*$`);

/** The entries between commas, comments dropped and quoted strings as `"…"`; empty ones left out. */
export function listEntries(value: string): string[] {
  return entriesOf(value).entries.map(shown);
}

/**
 * What is wrong with the field's first faulty entry, as the end of "… is not valid: "; null for a
 * list of full addresses. A group has no address to answer to and counts as a fault.
 */
export function mailboxListProblem(value: string): string | null {
  const { entries, unclosed } = entriesOf(value);
  if (unclosed) return `it has a ${unclosed} that is never closed`;
  if (entries.length === 0) return 'it has no address';
  for (const entry of entries) {
    const problem = entryProblem(entry);
    if (problem) return problem;
  }
  return null;
}

const shown = (entry: string): string => entry.replaceAll(QUOTED, '"…"');

function entriesOf(value: string): { entries: string[]; unclosed: string | null } {
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
  const name = shown(entry.length > 80 ? `${entry.slice(0, 80)}…` : entry);
  const angle = entry.indexOf('<');
  const spec = angle < 0 ? entry : entry.slice(angle + 1, -1).trim();
  if (angle >= 0 && !entry.endsWith('>')) return `"${name}" does not end with the address in < >`;
  if (angle >= 0 && !PHRASE.test(entry.slice(0, angle)))
    return `the name in "${name}" has characters that need quotation marks`;
  if (angle < 0 && /[:;]/.test(entry)) return `"${name}" is a group, not an address`;
  if (angle < 0 && /\s/.test(entry) && entry.includes('@'))
    return `"${name}" has its address without < >`;
  return addressProblem(spec, name);
}

function addressProblem(spec: string, name: string): string | null {
  const at = spec.lastIndexOf('@');
  if (at < 0) return `"${name}" has no address`;
  if (!LOCAL_PART.test(spec.slice(0, at))) return `"${name}" is not an address`;
  const domain = spec.slice(at + 1);
  if (!domain.includes('.') || domain.endsWith('.') || normalizeDomain(domain) === null)
    return `"${name}" has no full domain name after the @`;
  return null;
}
