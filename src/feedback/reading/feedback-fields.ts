/** Fields of `message/feedback-report` (RFC 5965 §3) and of `message/delivery-status` (RFC 3464 §2). */

import { readFields } from '../../analysis/mime/headers.ts';
import { parseMailDate, withoutComments } from '../../analysis/mime/mail-date.ts';
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
export function incidentsOf(map: FieldMap): number {
  const text = fieldOf(map, 'incidents') ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
}

/** In milliseconds; null if it is not a date. */
export function dateOf(text: string | null): number | null {
  if (text === null) return null;
  return parseMailDate(text)?.ms ?? isoMs(text);
}

/** Without the type before the semicolon: `rfc822; user@example.com`, `dns; mx.example.com`, `smtp; 550 …`. */
export const withoutType = (text: string | null): string | null =>
  text === null ? null : shortText(text.replace(/^[\w-]+\s*;\s*/, ''), 1000);
