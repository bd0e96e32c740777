/** Reads the header block over the bytes exactly as they came, whatever their line ends. */

import { decodeText } from './decode.ts';
import { type HeaderField, LIMITS } from './message.ts';

const LF = 0x0a;
const CR = 0x0d;

// Printable ASCII but the colon (RFC 5322 §2.2); white space before the colon is obsolete and
// accepted (§4.5).
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/;

export interface HeaderBlock {
  headers: HeaderField[];
  /** Octets before the empty line; all of the message where there is none. */
  headerBytes: number;
  bodyStart: number;
  /** More than LIMITS.headerBytes: only the fields within them were read, the last of them cut. */
  truncated: boolean;
}

/**
 * Reads all fields up to the first empty line. A line ends at LF, with or without CR before it; a
 * bare CR is content, as for SMTP. A line that is no field is kept with an empty name; nothing
 * throws.
 */
export function scanHeaders(raw: Uint8Array): HeaderBlock {
  const { headerBytes, bodyStart } = findBody(raw);
  const truncated = headerBytes > LIMITS.headerBytes;
  const headers = readFields(raw, 0, Math.min(headerBytes, LIMITS.headerBytes));
  return { headers, headerBytes, bodyStart, truncated };
}

/** All fields between two offsets: of the message or of a MIME part. */
export function readFields(raw: Uint8Array, from: number, to: number): HeaderField[] {
  // Latin-1 keeps one character for each octet, so that `raw` loses nothing.
  const block = Buffer.from(raw.buffer, raw.byteOffset + from, to - from).toString('latin1');
  const headers: HeaderField[] = [];
  for (let start = 0; start < block.length; ) {
    const next = fieldEnd(block, start);
    headers.push(readField(withoutLineEnd(block.slice(start, next))));
    start = next;
  }
  return headers;
}

/** The empty line: where the header ends and where the body starts. */
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

/** Where the field that starts here ends: after the last line that continues it (folding). */
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

function readValue(folded: string): string {
  let value = folded;
  if (value.includes('\n')) value = value.replace(/\r?\n/g, '');
  if (/[\x00\r\x80-\xff]/.test(value)) {
    value = Buffer.from(value, 'latin1')
      .toString('utf8')
      .replace(/\r/g, ' ')
      .replaceAll('\0', '\ufffd');
  }
  return value.trim();
}

// Reads Content-Type and Content-Disposition: a value with parameters (RFC 2045 §5.1, RFC 2183).

export interface StructuredField {
  /** `text/plain`, lower case, without comments; may be empty. */
  value: string;
  /** By name in lower case; RFC 2231 forms joined and decoded; of two alike the first. */
  params: Map<string, string>;
}

// Longer than any honest one: what a hostile field holds beyond is not looked at.
const MAX_LENGTH = 16 * 1024;

/** Takes the unfolded value apart, leniently; never throws. */
export function parseStructuredField(text: string): StructuredField {
  const [value = '', ...rest] = splitAtSemicolons(text.slice(0, MAX_LENGTH));
  const params = new Map<string, string>();
  for (const item of rest) {
    const equals = item.indexOf('=');
    if (equals < 1) continue;
    const name = item.slice(0, equals).trim().toLowerCase();
    if (!params.has(name)) params.set(name, item.slice(equals + 1).trim());
  }
  return { value: value.trim().toLowerCase(), params: joinContinuations(params) };
}

/** The pieces between semicolons; quoted strings without their quotes, comments dropped. */
function splitAtSemicolons(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let quoted = false;
  let comment = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '\\' && (quoted || comment > 0)) {
      i++;
      if (quoted) piece += text[i] ?? '';
    } else if (comment > 0) {
      if (char === '(') comment++;
      else if (char === ')') comment--;
    } else if (char === '"') quoted = !quoted;
    else if (quoted) piece += char;
    else if (char === '(' && opensComment(piece)) comment = 1;
    else if (char === ';') {
      pieces.push(piece);
      piece = '';
    } else piece += char;
  }
  return [...pieces, piece];
}

/** In `filename=Invoice(1).pdf` the parenthesis is part of the name, as everybody reads it. */
function opensComment(piece: string): boolean {
  return !piece.includes('=') || /[=\s]$/.test(piece);
}

// Parameters in pieces and in character sets: `filename*0*=utf-8''caf%C3%A9; filename*1=.pdf` (RFC 2231).

interface Section {
  index: number;
  value: string;
  encoded: boolean;
}

const CONTINUED = /^([^*]+)\*(?:(\d{1,3})(\*)?)?$/;

/**
 * Joins and decodes what is in pieces; all else is passed on as it is. An extended parameter wins
 * over the plain one of that name, which is there for readers that do not know RFC 2231.
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
  // The octets of one character may lie in two sections: join first, decode once.
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
