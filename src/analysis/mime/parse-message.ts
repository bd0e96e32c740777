/** Parses the raw message once for all checks. */

import { addressParser, decodeWords } from 'postal-mime';
import { formatSize } from '../../lib/durations.ts';
import { decodeText, decodeTransfer } from './decode.ts';
import { type HeaderBlock, parseStructuredField, scanHeaders } from './headers.ts';
import {
  type HeaderField,
  LIMITS,
  type LineFacts,
  MAX_LINE_OCTETS,
  type Message,
  type Part,
} from './message.ts';
import { type Leaf, splitParts } from './split-parts.ts';

// More than any legitimate mailbox list.
const MAX_FROM_LENGTH = 64 * 1024;

/**
 * Parses a message (RFC 5322, RFC 2045–2047). Never rejects, whatever the bytes: `exceededLimits` says what
 * was not read.
 */
export async function parseMessage(raw: Uint8Array): Promise<Message> {
  const block = scanHeaders(raw);
  const { exceededLimits, ...mime } = parseMime(raw, block);
  if (block.truncated) {
    const limit = formatSize(LIMITS.headerBytes);
    exceededLimits.unshift(
      `a header of ${formatSize(block.headerBytes)}, of which ${limit} was read`,
    );
  }
  const firstField = (key: string) => block.headers.find((field) => field.key === key);
  return {
    size: raw.length,
    headers: block.headers,
    headerBytes: block.headerBytes,
    bodyStart: block.bodyStart,
    lines: scanLines(raw, block.headerBytes),
    ...mime,
    exceededLimits,
    from: parseMailboxes(firstField('from')),
    subject: decodeField(firstField('subject')),
  };
}

/** Reads mailboxes leniently; an empty list if the field is missing or empty. */
function parseMailboxes(field: HeaderField | undefined): Message['from'] {
  if (!field?.value) return [];
  return addressParser(field.value.slice(0, MAX_FROM_LENGTH), { flatten: true }).map((mailbox) => ({
    name: mailbox.name,
    address: mailbox.address ?? '',
  }));
}

/** The mailboxes in From of a message or of its beginning. */
export const readFrom = (raw: Uint8Array): Message['from'] =>
  parseMailboxes(scanHeaders(raw).headers.find(({ key }) => key === 'from'));

/** The decoded subject of a message or of its beginning; null if there is none. */
export function readSubject(raw: Uint8Array): string | null {
  return decodeField(scanHeaders(raw).headers.find(({ key }) => key === 'subject'));
}

function decodeField(field: HeaderField | undefined): string | null {
  return field ? decodeWords(field.value) : null;
}

// MIME parts, decoded, and the texts that a reader sees (RFC 2045, RFC 2046).

// Why not a library: postal-mime 4.0.0, the best candidate, keeps an object for each line. 10 MB of empty
// lines take 4 GB of memory, and some inputs of 2 MB of base64 take seconds. It also returns only the
// joined and converted texts, not the parts.

type MimeParts = Pick<
  Message,
  'parts' | 'multiparts' | 'text' | 'html' | 'htmlSize' | 'exceededLimits'
>;

/** Also for attached messages. Never throws. Runs in linear time. */
export function parseMime(raw: Uint8Array, block: HeaderBlock): MimeParts {
  const { leaves, multiparts, limits: exceededLimits } = splitParts(raw, block);
  const parts = leaves.map((leaf) => readPart(raw, leaf));
  const texts = parts.filter((part) => isInline(part, 'text/plain'));
  const html = parts.filter((part) => isInline(part, 'text/html'));
  return {
    parts,
    multiparts,
    text: textOf(texts),
    html: textOf(html),
    htmlSize: sizeOf(html),
    exceededLimits: [
      ...exceededLimits,
      ...textLimit(sizeOf(texts), 'text'),
      ...textLimit(sizeOf(html), 'HTML'),
    ],
  };
}

const sizeOf = (parts: Part[]): number => parts.reduce((sum, part) => sum + part.size, 0);

const textLimit = (size: number, kind: string): string[] =>
  size > LIMITS.textBytes
    ? [`${formatSize(size)} of ${kind}, of which ${formatSize(LIMITS.textBytes)} was read`]
    : [];

const isInline = (part: Part, type: string): boolean =>
  part.type === type && part.disposition !== 'attachment';

function textOf(parts: Part[]): string | null {
  if (parts.length === 0) return null;
  let remaining: number = LIMITS.textBytes;
  const texts: string[] = [];
  for (const { content, charset } of parts) {
    const read = content.subarray(0, remaining);
    remaining -= read.length;
    texts.push(withLf(decodeText(read, charset)));
  }
  return texts.join('\n');
}

/** Long enough to be fast. */
const SLICE_LENGTH = 1024 * 1024;

/** Converts line ends slice by slice: the engine keeps a list of all matches of one replacement. */
function withLf(text: string): string {
  if (text.length <= SLICE_LENGTH) return text.replaceAll('\r\n', '\n');
  const slices: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + SLICE_LENGTH;
    // Never between CR and LF.
    if (text[end - 1] === '\r') end += 1;
    slices.push(text.slice(start, end).replaceAll('\r\n', '\n'));
    start = end;
  }
  return slices.join('');
}

function readPart(raw: Uint8Array, { fields, type, start, end }: Leaf): Part {
  const value = (key: string) => fields.find((field) => field.key === key)?.value ?? '';
  const encoding = parseStructuredField(value('content-transfer-encoding')).value || null;
  const disposition = parseStructuredField(value('content-disposition'));
  const filename = disposition.params.get('filename') || type.params.get('name');
  const content = decodeTransfer(raw.subarray(start, end), encoding);
  return {
    fields,
    // RFC 2045 §5.2: an invalid type means plain text.
    type: /^[^\s/]+\/[^\s/]+$/.test(type.value) ? type.value : 'text/plain',
    charset: type.params.get('charset')?.toLowerCase() || null,
    encoding,
    disposition: disposition.value || null,
    filename: filename ? decodeWords(filename) : null,
    contentId: value('content-id').replace(/^<|>$/g, '') || null,
    size: content.length,
    content,
    start,
    end,
  };
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Collects facts about lines and 8-bit bytes in one pass. A line ends at LF. A CR right before it
 * belongs to the line end, any other CR to the line. `headerBytes` separates header and body.
 */
function scanLines(raw: Uint8Array, headerBytes: number): LineFacts {
  const facts: LineFacts = {
    count: 0,
    longest: 0,
    longestLine: 0,
    over998: 0,
    bareCr: 0,
    bareLf: 0,
    nul: 0,
    eightBitHeader: 0,
    eightBitBody: 0,
  };
  let start = 0;
  let carriageReturns = 0;
  let crlfCount = 0;
  for (let i = 0; i < raw.length; i++) {
    const octet = raw[i]!;
    // Fast path: nearly every byte is plain ASCII text.
    if (octet > 0x0d && octet < 0x80) continue;
    if (octet === LF) {
      const afterCr = i > start && raw[i - 1] === CR;
      if (afterCr) crlfCount++;
      else facts.bareLf++;
      endLine(facts, i - start - (afterCr ? 1 : 0));
      start = i + 1;
    } else if (octet === CR) carriageReturns++;
    else if (octet === 0) facts.nul++;
    else if (octet >= 0x80) {
      if (i < headerBytes) facts.eightBitHeader++;
      else facts.eightBitBody++;
    }
  }
  if (start < raw.length) endLine(facts, raw.length - start);
  facts.bareCr = carriageReturns - crlfCount;
  return facts;
}

function endLine(facts: LineFacts, length: number): void {
  facts.count++;
  if (length > MAX_LINE_OCTETS) facts.over998++;
  if (length > facts.longest) {
    facts.longest = length;
    facts.longestLine = facts.count;
  }
}
