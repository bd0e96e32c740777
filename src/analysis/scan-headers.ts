/** Reads the header block over the bytes exactly as they came, whatever their line ends. */

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
