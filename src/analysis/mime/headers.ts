/** Reads header fields from the raw bytes, with any line endings, and parses structured values. */

import { decodeText } from './decode.ts';
import { type HeaderField, LIMITS } from './message.ts';

const LF = 0x0a;
const CR = 0x0d;

// Printable ASCII except the colon (RFC 5322 §2.2). White space before the colon is obsolete, but
// accepted (§4.5), and so is a fold there: verifiers of DKIM read such a field.
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t\r]*(?:\n[ \t\r]+)?:/;

export interface HeaderBlock {
  headers: HeaderField[];
  /** Bytes before the empty line; the size of the message without one. */
  headerBytes: number;
  bodyStart: number;
  /** Longer than LIMITS.headerBytes: fields beyond the limit are missing, and the last one is cut. */
  truncated: boolean;
}

/**
 * Reads all fields up to the first empty line. A line ends at LF, with or without a CR before it. A
 * bare CR is content, as in SMTP. Keeps lines that are not fields, with an empty name. Never throws.
 */
export function scanHeaders(raw: Uint8Array): HeaderBlock {
  const { headerBytes, bodyStart } = findBody(raw);
  const truncated = headerBytes > LIMITS.headerBytes;
  const headers = readFields(raw, 0, Math.min(headerBytes, LIMITS.headerBytes));
  return { headers, headerBytes, bodyStart, truncated };
}

/** Reads all fields between two offsets, of the message or a MIME part. */
export function readFields(raw: Uint8Array, from: number, to: number): HeaderField[] {
  // Latin-1 maps each octet to one character, so `raw` is lossless.
  const block = Buffer.from(raw.buffer, raw.byteOffset + from, to - from).toString('latin1');
  const headers: HeaderField[] = [];
  for (let start = 0; start < block.length; ) {
    const next = fieldEnd(block, start);
    headers.push(readField(withoutLineEnd(block.slice(start, next))));
    start = next;
  }
  return headers;
}

/** The offsets before and after the empty line. */
function findBody(raw: Uint8Array): { headerBytes: number; bodyStart: number } {
  for (let start = 0; start < raw.length; ) {
    const first = raw[start];
    if (first === LF) return { headerBytes: start, bodyStart: start + 1 };
    if (first === CR && raw[start + 1] === LF) return { headerBytes: start, bodyStart: start + 2 };
    const end = raw.indexOf(LF, start);
    if (end < 0) break;
    start = end + 1;
  }
  return { headerBytes: raw.length, bodyStart: raw.length };
}

/** The end of the field at `start`, including its folded lines. */
function fieldEnd(block: string, start: number): number {
  let end = start;
  do {
    const lf = block.indexOf('\n', end);
    if (lf < 0) return block.length;
    end = lf + 1;
  } while (block[end] === ' ' || block[end] === '\t');
  return end;
}

function withoutLineEnd(text: string): string {
  if (text.endsWith('\r\n')) return text.slice(0, -2);
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

function readField(raw: string): HeaderField {
  const match = FIELD.exec(raw);
  const name = match?.[1] ?? '';
  return {
    name,
    key: name.toLowerCase(),
    value: readValue(raw.slice(match?.[0].length ?? 0)),
    raw,
  };
}

const NOT_PLAIN = /[\x00\r\x80-\xff]/;

function readValue(folded: string): string {
  let value = folded;
  if (value.includes('\n')) value = value.replace(/\r?\n/g, '');
  if (NOT_PLAIN.test(value)) {
    value = Buffer.from(value, 'latin1')
      .toString('utf8')
      .replace(/\r/g, ' ')
      .replaceAll('\0', '\ufffd');
  }
  return value.trim();
}

// Content-Type and Content-Disposition: a value with parameters (RFC 2045 §5.1, RFC 2183).

export interface StructuredField {
  /** `text/plain`: in lower case, without comments. May be empty. */
  value: string;
  /** By lower-case name, with RFC 2231 joined and decoded. The first of duplicates counts. */
  params: Map<string, string>;
}

// Longer than any legitimate field. The rest of a hostile one is not read.
const MAX_LENGTH = 16 * 1024;

/** Parses an unfolded value leniently. Never throws. */
export function parseStructuredField(text: string): StructuredField {
  const [value = '', ...parameters] = splitAtSemicolons(text.slice(0, MAX_LENGTH));
  const params = new Map<string, string>();
  for (const item of parameters) {
    const equals = item.indexOf('=');
    if (equals < 1) continue;
    const name = item.slice(0, equals).trim().toLowerCase();
    if (!params.has(name)) params.set(name, item.slice(equals + 1).trim());
  }
  const isContinued = text.includes('*');
  return {
    value: value.trim().toLowerCase(),
    params: isContinued ? joinContinuations(params) : params,
  };
}

/** The pieces between semicolons, without quotation marks and comments. */
function splitAtSemicolons(text: string): string[] {
  if (!/["(]/.test(text)) return text.split(';');
  const pieces: string[] = [];
  let piece = '';
  /** Where the text begins that is not yet in `piece`. */
  let start = 0;
  let quoted = false;
  let comment = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (comment > 0) {
      if (char === '\\') i++;
      else if (char === '(') comment++;
      else if (char === ')') comment--;
      start = i + 1;
    } else if (quoted ? char === '\\' || char === '"' : SPECIAL.includes(char)) {
      piece += text.slice(start, i);
      start = i + 1;
      if (char === '\\') i++;
      else if (char === '"') quoted = !quoted;
      else if (char === ';') {
        pieces.push(piece);
        piece = '';
      } else if (opensComment(piece)) comment = 1;
      else start = i;
    }
  }
  return [...pieces, piece + text.slice(start)];
}

/** Outside quotation marks. */
const SPECIAL = '"(;';

/** In `filename=Invoice(1).pdf` the parenthesis is part of the name, as in every email client. */
function opensComment(piece: string): boolean {
  return !piece.includes('=') || /[=\s]$/.test(piece);
}

// Continued and encoded parameters: `filename*0*=utf-8''caf%C3%A9; filename*1=.pdf` (RFC 2231).

interface Section {
  index: number;
  value: string;
  encoded: boolean;
}

const CONTINUED = /^([^*]+)\*(?:(\d{1,3})(\*)?)?$/;

/**
 * Joins and decodes RFC 2231 parameters; keeps all others. An extended parameter replaces a plain one
 * with the same name, which is meant for readers without support for RFC 2231.
 */
function joinContinuations(params: Map<string, string>): Map<string, string> {
  const joined = new Map<string, string>();
  const continued = new Map<string, Section[]>();
  for (const [key, value] of params) {
    const match = CONTINUED.exec(key);
    if (!match) {
      joined.set(key, value);
      continue;
    }
    const name = match[1]!;
    const section = {
      index: Number(match[2] ?? 0),
      value,
      encoded: match[2] === undefined || match[3] !== undefined,
    };
    continued.set(name, [...(continued.get(name) ?? []), section]);
  }
  for (const [name, sections] of continued) joined.set(name, decodeSections(sections));
  return joined;
}

function decodeSections(sections: Section[]): string {
  sections.sort((a, b) => a.index - b.index);
  const first = sections[0]!;
  const prefix = first.encoded ? /^([^']*)'[^']*'/.exec(first.value) : null;
  if (prefix) first.value = first.value.slice(prefix[0].length);
  // A character may be split across sections, so join before decoding.
  const octets = sections.map(({ value, encoded }) =>
    encoded ? percentDecoded(value) : Buffer.from(value, 'utf8'),
  );
  return decodeText(Buffer.concat(octets), prefix?.[1] || null);
}

function percentDecoded(text: string): Buffer {
  const octets = text.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(octets, 'latin1');
}
