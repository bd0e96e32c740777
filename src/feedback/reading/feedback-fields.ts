/** Fields of `message/feedback-report` (RFC 5965 §3) and of `message/delivery-status` (RFC 3464 §2). */

import { readFields } from '../../analysis/mime/headers.ts';
import { parseMailDate, withoutComments } from '../../analysis/mime/mail-date.ts';
import type { Notes } from './notes.ts';
import { isoMs, shortText } from './values.ts';

/** Values by field name in lower case. */
export type FieldMap = Map<string, string[]>;

const MAX_BYTES = 64 * 1024;
const MAX_FIELDS = 200;

/** All fields of a part. Empty lines within do not end them: some reports begin with one. */
export function readFieldMap(content: Uint8Array): FieldMap {
  const map: FieldMap = new Map();
  for (const { key, value } of readFields(content, 0, Math.min(content.length, MAX_BYTES)).slice(
    0,
    MAX_FIELDS,
  )) {
    if (key === '') continue;
    const values = map.get(key);
    if (values) values.push(value);
    else map.set(key, [value]);
  }
  return map;
}

/** The first value without comments; null if it is missing or empty. */
export const fieldOf = (map: FieldMap, name: string, max = 500): string | null =>
  shortText(withoutComments(map.get(name)?.[0] ?? ''), max);

export const fieldsOf = (map: FieldMap, name: string, max = 500): string[] =>
  (map.get(name) ?? []).flatMap((value) => shortText(withoutComments(value), max) ?? []);

/** A whole positive number; 1 if it is missing or something else (RFC 5965 §3.2). */
export function incidentsOf(map: FieldMap, notes: Notes): number {
  const text = fieldOf(map, 'incidents');
  if (text !== null && /^[1-9]\d{0,8}$/.test(text)) return Number(text);
  if (text !== null) notes.addValue('an invalid number of incidents, which counts as 1', text);
  return 1;
}

/** In milliseconds; null if it is not a date. */
export function dateOf(text: string | null): number | null {
  if (text === null) return null;
  return parseMailDate(text)?.ms ?? isoMs(text);
}

/** The first of these fields with a valid value. Notes invalid values. */
export function readField<Value>(
  map: FieldMap,
  names: string[],
  read: (text: string) => Value | null,
  notes: Notes,
): Value | null {
  for (const name of names) {
    const text = fieldOf(map, name);
    if (text === null) continue;
    const value = read(text);
    if (value !== null) return value;
    notes.addValue(`an invalid field ${name}`, text);
  }
  return null;
}

/** Fields that may occur only once (RFC 5965 §3.1 and §3.2). */
const SINGLE =
  'feedback-type user-agent version original-envelope-id original-mail-from arrival-date received-date source-ip incidents delivery-result'.split(
    ' ',
  );

export function noteRepeatedFields(map: FieldMap, notes: Notes): void {
  for (const name of SINGLE) {
    const values = new Set((map.get(name) ?? []).map((value) => value.trim()));
    if (values.size > 1) notes.addValue('a repeated field, of which only the first counts', name);
  }
}

/** Without the type before the semicolon: `rfc822; user@example.com`, `dns; mx.example.com`, `smtp; 550 …`. */
export const withoutType = (text: string | null): string | null =>
  text === null ? null : shortText(text.replace(/^[\w-]+\s*;\s*/, ''), 1000);
