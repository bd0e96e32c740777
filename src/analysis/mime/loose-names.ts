/** Every file name that some email client could read in a header field. */

import { decodeWords } from 'postal-mime';
import { parseStructuredField } from './headers.ts';

/** Longer than any legitimate field. */
const MAX_VALUE = 4096;
const MAX_NAMES = 20;

/** `name`, `filename`, and their RFC 2231 forms, with or without asterisks. */
const PARAMETER = /(?:file)?name\s*\**\s*(\d{0,4})\s*\**\s*=\s*/gi;

/**
 * The file names in the unfolded value of a Content-Type or Content-Disposition field: by the standards,
 * and by the shortcuts and errors known from email clients. Duplicates, empty and cut values included.
 */
export function looseNames(value: string): string[] {
  const text = value.slice(0, MAX_VALUE);
  const pieces = parameterValues(text);
  const inOrder = pieces.toSorted((a, b) => a.index - b.index).map((piece) => piece.value);
  const { params } = parseStructuredField(text);
  const whole = [
    inOrder.join(''),
    inOrder.map(withoutQuotes).join(''),
    params.get('filename') ?? '',
    params.get('name') ?? '',
  ];
  return distinct([
    ...pieces.flatMap((piece) => readings(piece.value, piece.isQuoted)),
    ...whole.flatMap((name) => readings(name, true)),
  ]);
}

/** The names in a value that is a name as a whole, such as Content-Description. */
export const wholeName = (value: string): string[] =>
  distinct(readings(value.slice(0, MAX_VALUE), true));

const distinct = (names: string[]): string[] =>
  [...new Set(names.map((name) => name.trim()))].filter((name) => name !== '').slice(0, 200);

interface Piece {
  index: number;
  value: string;
  isQuoted: boolean;
}

function parameterValues(text: string): Piece[] {
  return [...text.matchAll(PARAMETER)].slice(0, MAX_NAMES).map((match) => {
    const rest = text.slice(match.index + match[0].length);
    return { index: Number(match[1] || 0), value: valueAt(rest), isQuoted: rest.startsWith('"') };
  });
}

/** A quoted value up to its end or the end of the field; another one up to the semicolon. */
function valueAt(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"?(.*)$/s.exec(text);
  if (!quoted) return text.split(';')[0]!;
  // Text right after the quotation mark continues the name for some programs: "a.j"s.
  const rest = /^[^;\s]*/.exec(quoted[2]!)![0];
  return quoted[1]! + rest;
}

const withoutQuotes = (text: string): string => text.replace(/["']/g, '');

/** All programs read it the same way. */
const UNAMBIGUOUS = /^[\w.-]*$/;

/** One written name as different programs read it. White space ends a name without quotation marks. */
function readings(written: string, isQuoted: boolean): string[] {
  if (UNAMBIGUOUS.test(written)) return [written];
  const plain = [
    written,
    written.replace(/\\(.)/g, '$1'),
    withoutQuotes(written),
    written.replace(/\([^()]*\)/g, ''),
    written.replace(/^[^']{0,40}'[^']{0,40}'/, ''),
    joinWords(written),
  ];
  const decoded = plain.flatMap((text) => [
    text,
    percentDecoded(text),
    decodeWords(joinWords(text)),
  ]);
  const ends = isQuoted ? [/[\x00\r\n\ufffd]/, /;/] : [/[\x00\r\n\ufffd]/, /;/, /\s/];
  return [...new Set(decoded)].flatMap((text) => [
    text,
    text.replace(/[\x00-\x1f\ufffd]/g, ''),
    ...ends.map((end) => text.split(end)[0]!),
    text.replace(/\s+/g, ''),
  ]);
}

/** Adjacent encoded words without the white space between them, and words within other text. */
const joinWords = (text: string): string =>
  text
    .replace(/\?=\s+(?==\?)/g, '?=')
    .replace(/([^\s=])(=\?)/g, '$1 $2')
    .replace(/ (=\?[^?\s]{1,40}\?[bq]\?[^?]*\?=)/gi, (_, word: string) => decodeWords(word));

function percentDecoded(text: string): string {
  return text
    .replace(/^[^']{0,40}'[^']{0,40}'/, '')
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
