/** What in the message shows a finding, in short: a few names and values. */

import type { Json } from '../../analysis/check.ts';
import { shown } from './shown-text.ts';

const MAX_ROWS = 8;
const MAX_VALUE = 220;
const MAX_DEPTH = 3;

interface EvidenceRow {
  name: string;
  value: string;
}

/** What says nothing (null, an empty list) is left out; so is what is beyond the first few. */
export function evidenceRows(evidence: { [key: string]: Json }): EvidenceRow[] {
  const rows: EvidenceRow[] = [];
  for (const [key, value] of Object.entries(evidence)) {
    if (rows.length === MAX_ROWS) break;
    const text = inWords(value, 0, MAX_VALUE + 1);
    if (text !== '') rows.push({ name: nameOf(key), value: shown(text, MAX_VALUE) });
  }
  return rows;
}

const ABBREVIATION = /\b(arc|bimi|dkim|dmarc|dns|dnssec|helo|html|id|ip|mx|ptr|spf|tls|ttl|url)\b/g;

/** `client_ip` as `Client IP`. */
function nameOf(key: string): string {
  const words = shown(key.replaceAll('_', ' '), 40);
  const named = words.replace(ABBREVIATION, (word) => word.toUpperCase());
  return named.charAt(0).toUpperCase() + named.slice(1);
}

/** A value as text of about `room` characters at most; empty where it says nothing. */
function inWords(value: Json, depth: number, room: number): string {
  if (value === null || depth > MAX_DEPTH) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value).slice(0, room);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let used = 0;
  for (const key in value) {
    if (used > room) break;
    const text = inWords((value as Record<string, Json>)[key]!, depth + 1, room - used);
    if (text === '') continue;
    parts.push(isList ? text : `${key.slice(0, 40).replaceAll('_', ' ')} ${text}`);
    used += parts.at(-1)!.length + 2;
  }
  return parts.join(isList && depth === 0 ? '; ' : ', ');
}
