/**
 * Splits the raw message into its MIME parts in one pass and within the limits.
 *
 * Why not a library: postal-mime needs gigabytes of memory for a hostile message of a few megabytes.
 */

import { formatSize } from '../../lib/durations.ts';
import {
  type HeaderBlock,
  parseStructuredField,
  readFields,
  type StructuredField,
} from './headers.ts';
import { type Entity, type HeaderField, LIMITS, type Multipart } from './message.ts';

/** A part without children. `start` and `end` are the offsets of its encoded body. */
export interface Leaf extends Entity {
  type: StructuredField;
}

interface OpenMultipart extends Leaf, Multipart {}

interface WalkState {
  bytes: Buffer;
  leaves: Leaf[];
  /** In the order in which they end. */
  multiparts: OpenMultipart[];
  /** Outermost first. */
  open: OpenMultipart[];
  boundaries: OpenBoundaries;
  partCount: number;
  partHeaderBytes: number;
  limits: Set<string>;
}

// Parts beyond the limit are only counted, up to this number.
const MAX_COUNTED = 100_000;

interface SplitMessage {
  /** In order. */
  leaves: Leaf[];
  multiparts: Multipart[];
  /** A description of each exceeded limit. */
  limits: string[];
}

/** Never throws. */
export function splitParts(raw: Uint8Array, block: HeaderBlock): SplitMessage {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const walk: WalkState = {
    bytes,
    leaves: [],
    multiparts: [],
    open: [],
    boundaries: new Map(),
    partCount: 0,
    partHeaderBytes: 0,
    limits: new Set(),
  };
  let position = block.bodyStart;
  let leaf = openEntity(walk, block.headers, position);
  while (walk.partCount < MAX_COUNTED && walk.partHeaderBytes <= LIMITS.headerBytes) {
    const delimiter = findDelimiter(bytes, position, walk.boundaries);
    if (!delimiter) break;
    const end = withoutLineEnd(bytes, delimiter.start, position);
    if (leaf) addLeaf(walk, { ...leaf, end });
    const multipart = walk.open[delimiter.level]!;
    multipart.closed = delimiter.closes;
    multipart.firstDelimiter ??= delimiter.start;
    closeFrom(walk, delimiter.closes ? delimiter.level : delimiter.level + 1, end);
    position = delimiter.next;
    leaf = null;
    if (!delimiter.closes) ({ leaf, position } = openChild(walk, position));
  }
  if (leaf) addLeaf(walk, { ...leaf, end: bytes.length });
  closeFrom(walk, 0, bytes.length);
  const { leaves, multiparts } = walk;
  return { leaves, multiparts, limits: describeLimits(walk) };
}

/** Opens a multipart and returns null, or returns the leaf that starts here. */
function openEntity(walk: WalkState, fields: HeaderField[], start: number): Leaf | null {
  const parent = walk.open.at(-1);
  const declaredType = fields.find((field) => field.key === 'content-type')?.value;
  // RFC 2046 §5.1.5: the default type in a digest is a message.
  const defaultType = parent?.type.value === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  const type = parseStructuredField(declaredType || defaultType);
  const entity: Leaf = { fields, type, start, end: start };
  const boundary = type.params.get('boundary');
  if (!type.value.startsWith('multipart/') || !boundary) return entity;
  if (walk.open.length >= LIMITS.depth) {
    walk.limits.add(`MIME parts nested more than ${LIMITS.depth} deep`);
    return entity;
  }
  // The value was read as UTF-8, but is compared with lines read as Latin-1.
  const octets = Buffer.from(boundary, 'utf8').toString('latin1').trimEnd();
  walk.boundaries.set(octets, walk.open.length);
  walk.open.push({
    ...entity,
    boundary: octets,
    children: 0,
    level: walk.open.length,
    closed: false,
    firstDelimiter: null,
  });
  return null;
}

/** Reads the header of the part after a delimiter, up to an empty line or the next delimiter. */
function openChild(walk: WalkState, from: number): { leaf: Leaf | null; position: number } {
  walk.open.at(-1)!.children++;
  walk.partCount++;
  const { bytes } = walk;
  let end = from;
  let bodyStart = bytes.length;
  while (end < bytes.length) {
    if (delimiterAt(bytes, end, walk.boundaries)) {
      bodyStart = end;
      break;
    }
    const lf = bytes.indexOf(0x0a, end);
    const next = lf < 0 ? bytes.length : lf + 1;
    if (next - end <= 2 && isEmptyLine(bytes, end)) {
      bodyStart = next;
      break;
    }
    end = next;
  }
  walk.partHeaderBytes += end - from;
  if (walk.partHeaderBytes > LIMITS.headerBytes) return { leaf: null, position: bytes.length };
  return { leaf: openEntity(walk, readFields(bytes, from, end), bodyStart), position: bodyStart };
}

function isEmptyLine(bytes: Buffer, start: number): boolean {
  return bytes[start] === 0x0a || (bytes[start] === 0x0d && bytes[start + 1] === 0x0a);
}

/** The line break before a delimiter belongs to the delimiter (RFC 2046 §5.1.1). */
function withoutLineEnd(bytes: Buffer, delimiter: number, bodyStart: number): number {
  if (delimiter <= bodyStart) return bodyStart;
  const end = delimiter - 1;
  return end > bodyStart && bytes[end - 1] === 0x0d ? end - 1 : end;
}

/** Closes all multiparts from `level` inwards. A multipart without parts becomes a leaf. */
function closeFrom(walk: WalkState, level: number, end: number): void {
  const closed = walk.open.splice(level);
  if (closed.length === 0) return;
  walk.boundaries = new Map(walk.open.map(({ boundary }, index) => [boundary, index]));
  for (const multipart of closed.reverse()) {
    const ended = { ...multipart, end: Math.max(end, multipart.start) };
    if (walk.multiparts.length < LIMITS.parts) walk.multiparts.push(ended);
    if (multipart.children === 0) addLeaf(walk, ended);
  }
}

function addLeaf(walk: WalkState, leaf: Leaf): void {
  if (walk.leaves.length < LIMITS.parts) walk.leaves.push(leaf);
}

function describeLimits(walk: WalkState): string[] {
  const limits = [...walk.limits];
  if (walk.partCount > LIMITS.parts) {
    const count = walk.partCount.toLocaleString('en');
    const atLeast = walk.partCount >= MAX_COUNTED ? 'at least ' : '';
    limits.push(
      `${atLeast}${count} MIME parts, of which ${LIMITS.parts.toLocaleString('en')} were read`,
    );
  }
  if (walk.partHeaderBytes > LIMITS.headerBytes)
    limits.push(`more than ${formatSize(LIMITS.headerBytes)} of header fields in its MIME parts`);
  return limits;
}

// Delimiter lines of the open multiparts (RFC 2046 §5.1.1).

const LF = 0x0a;
const LINE_START = Buffer.from('\n--');

// RFC 2046 allows boundaries of up to 70 characters.
const MAX_DELIMITER_LENGTH = 250;

interface Delimiter {
  /** The index of its multipart among the open ones, from the outermost. */
  level: number;
  /** `--boundary--` ends the multipart. */
  closes: boolean;
  start: number;
  /** The start of the next line. */
  next: number;
}

/** The level of each open multipart by its boundary; the innermost of equal boundaries. */
type OpenBoundaries = Map<string, number>;

/** The next delimiter line at or after `from`, which must be the start of a line; null if none. */
function findDelimiter(bytes: Buffer, from: number, open: OpenBoundaries): Delimiter | null {
  if (open.size === 0) return null;
  // At the start of a part, LINE_START begins with the line break before it.
  let at = bytes.indexOf(LINE_START, Math.max(from - 1, 0));
  while (at >= 0) {
    const delimiter = delimiterAt(bytes, at + 1, open);
    if (delimiter) return delimiter;
    at = bytes.indexOf(LINE_START, at + 1);
  }
  return null;
}

/** The delimiter in the line at `start`, or null. A boundary may itself end with `--`. */
function delimiterAt(bytes: Buffer, start: number, open: OpenBoundaries): Delimiter | null {
  if (bytes[start] !== 0x2d || bytes[start + 1] !== 0x2d) return null;
  const lf = bytes.indexOf(LF, start);
  const next = lf < 0 ? bytes.length : lf + 1;
  if (next - start > MAX_DELIMITER_LENGTH) return null;
  const text = bytes.toString('latin1', start + 2, next).trimEnd();
  const level = open.get(text);
  if (level !== undefined) return { level, closes: false, start, next };
  const closedLevel = text.endsWith('--') ? open.get(text.slice(0, -2)) : undefined;
  return closedLevel === undefined ? null : { level: closedLevel, closes: true, start, next };
}
