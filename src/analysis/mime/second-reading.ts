/**
 * A second, cautious reading of the raw message: every file that some email client could open.
 *
 * Email clients disagree about broken MIME, so a part that the parser reads as text can be a program for
 * the recipient. This reading does not depend on boundaries, declared encodings or the form of fields. It
 * looks at the start of every line for content that decodes to a file, and at every field for a file name.
 */

import { BLOCKING_PROVIDERS, type BlockingProvider } from '../attachments/blocked-types.ts';
import { type FileContent, readFileContent } from '../attachments/file-content.ts';
import { readFileName } from '../attachments/file-name.ts';
import { memberProblem, nameProblem, typeProblem } from '../attachments/problems.ts';
import { decodeBase64At, decodeUuAt, decodeYencAt, SEXTETS } from './block-decoders.ts';
import { decodeTransfer, quotedOctetAt, SOFT_BREAK } from './decode.ts';
import { looseNames, wholeName } from './loose-names.ts';

export interface HiddenFile {
  /** Where it begins in the message. */
  at: number;
  /** As some program names it; null if found by content alone. */
  name: string | null;
  /** What some program opens, with an article: "a Windows program", "a .exe file". */
  opens: string;
  /** Whether large mailbox providers block it. */
  refused: boolean;
  /** The providers that publish its type as blocked. */
  blockedBy: BlockingProvider[];
  /** How it is written: "base64", "uuencode". */
  how: string;
}

/** How much of all blocks is decoded, and of one: bounds on time and memory. */
const MAX_DECODED = 8 * 1024 * 1024;
const MAX_BLOCK = 512 * 1024;
/** What a block counts as at least: a hostile message begins millions, each of a few octets. */
const MIN_BLOCK = 256;
const MAX_FOUND = 50;
/** Octets outside the alphabet that are skipped before base64 in all lines together. */
const MAX_SKIPPED = 10_000_000;
/** Fields whose names are read. A hostile message has millions. */
const MAX_FIELDS = 5000;
/** Octets of quoted-printable that are decoded to see whether a file begins. */
const MAX_PREFIX = 96;
const MAX_DEPTH = 5;

interface Scan {
  raw: Buffer;
  found: HiddenFile[];
  /** The size of all blocks so far, each at least `MIN_BLOCK`. */
  decoded: number;
  skipped: number;
  fields: number;
  depth: number;
}

/** Never throws. Runs in linear time. */
export function readCautiously(bytes: Uint8Array, depth = 0): HiddenFile[] {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scan: Scan = { raw, found: [], decoded: 0, skipped: 0, fields: 0, depth };
  let line = 0;
  while (line < raw.length && scan.found.length < MAX_FOUND) {
    readLine(scan, line);
    line = nextLine(raw, line);
  }
  readDataUrls(scan);
  return scan.found;
}

const LF = 0x0a;
const CR = 0x0d;

/** The start of the next line. A bare CR ends a line too, as in some programs. */
function nextLine(raw: Buffer, from: number): number {
  for (let i = from; i < raw.length; i++) {
    const octet = raw[i]!;
    if (octet === LF) return i + 1;
    if (octet === CR) return raw[i + 1] === LF ? i + 2 : i + 1;
  }
  return raw.length;
}

function readLine(scan: Scan, line: number): void {
  const { raw } = scan;
  let at = line;
  while (raw[at] === 0x20 || raw[at] === 0x09) at++;
  const first = raw[at]!;
  // An empty line: the next one is looked at by itself.
  if (first === LF || first === CR || at >= raw.length) return;
  // "Content-…", in any case.
  if ((first | 0x20) === 0x63 && isContentField(raw, at)) readField(scan, at);
  else if (first === 0x62 && raw[at + 1] === 0x65 && raw.toString('latin1', at, at + 5) === 'begin')
    readUuencoded(scan, at);
  else if (
    first === EQUALS &&
    raw[at + 1] === 0x79 &&
    raw.toString('latin1', at, at + 8) === '=ybegin '
  )
    readYenc(scan, at);
  readBase64(scan, at, line);
  readPlain(scan, at, line);
}

// Files by name: fields that name a file or a type, wherever they are.

const CONTENT_FIELD = /^content[-_\s]{0,3}(?:type|disposition|description|name|location|id)\s*:?/i;
const MAX_FIELD = 8192;

function isContentField(raw: Buffer, at: number): boolean {
  return (
    (raw[at + 1]! | 0x20) === 0x6f &&
    (raw[at + 2]! | 0x20) === 0x6e &&
    CONTENT_FIELD.test(raw.toString('latin1', at, at + 30))
  );
}

function readField(scan: Scan, at: number): void {
  scan.fields += 1;
  if (scan.fields > MAX_FIELDS) return;
  const { raw } = scan;
  let end = at;
  do end = nextLine(raw, end);
  while ((raw[end] === 0x20 || raw[end] === 0x09) && end - at < MAX_FIELD);
  const latin1 = raw.toString('latin1', at, Math.min(end, at + MAX_FIELD));
  const field = CONTENT_FIELD.exec(latin1)?.[0];
  // The name goes on in a line that is not folded, so it is no field.
  if (field === undefined) return;
  const rest = latin1.slice(field.length);
  const text = /[\x80-\xff]/.test(rest) ? Buffer.from(rest, 'latin1').toString('utf8') : rest;
  const value = text.replace(/\r?\n(?=[ \t])/g, '').replace(/[\r\n]+$/, '');
  const isWhole = /description|name/i.test(field);
  for (const name of isWhole ? wholeName(value) : looseNames(value))
    if (addName(scan, at, name, 'a header field')) return;
  const type = /^[\s"'<]*([\w.+-]+\/[\w.+-]+)/.exec(value.replace(/\([^()]*\)/g, ''))?.[1];
  if (type && typeProblem(type.toLowerCase()))
    add(scan, {
      at,
      name: null,
      opens: `a file of type ${type.toLowerCase()}`,
      refused: true,
      blockedBy: BLOCKING_PROVIDERS,
      how: 'a header field',
    });
}

/** To be called before a block is decoded; false if enough was decoded. */
function mayDecode(scan: Scan): boolean {
  return scan.decoded < MAX_DECODED;
}

function countDecoded(scan: Scan, bytes: Buffer): void {
  scan.decoded += Math.max(bytes.length, MIN_BLOCK);
}

/** Adds the file if its name is that of a program or a document with macros. */
function addName(scan: Scan, at: number, name: string, how: string): boolean {
  const file = readFileName(name);
  const problem = nameProblem(file);
  if (!problem && file.kind !== 'macros') return false;
  return add(scan, {
    at,
    name: name.slice(-100),
    opens: `a .${file.extension} file`,
    refused: true,
    blockedBy: file.blockedBy,
    how,
  });
}

function add(scan: Scan, file: HiddenFile): true {
  scan.found.push(file);
  return true;
}

// Files by content.

const EQUALS = 0x3d;

/** The first two octets of the files that `readFileContent` recognizes; `FIRST` has the first one. */
const FIRST = new Uint8Array(256);
const FIRST_TWO = new Uint8Array(65_536);
for (const pair of [
  'MZ',
  'PK',
  'Ra',
  '7z',
  '\x7fE',
  '\xfe\xed',
  '\xce\xfa',
  '\xcf\xfa',
  '\xca\xfe',
  '\xd0\xcf',
  'L\0',
  'IT',
  'MS',
  '#!',
  'X5',
  '\x1f\x8b',
  'BZ',
  '\xfd7',
  'x\x9f',
]) {
  FIRST[pair.charCodeAt(0)] = 1;
  FIRST_TWO[pair.charCodeAt(0) * 256 + pair.charCodeAt(1)] = 1;
}

/** MZ, PK, Rar!, 7z, ELF, Mach-O, OLE, LNK, CHM, CAB, #!, EICAR, gzip, bzip2, xz, TNEF. */
const MAGIC =
  /^(?:MZ|PK\x03\x04|PK\x05\x06|Rar!\x1a\x07|7z\xbc\xaf|\x7fELF|\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe|\xd0\xcf\x11\xe0|L\x00\x00\x00\x01\x14|ITSF|MSCF\x00|#![ \t]*\/|X5O!P%@A|\x1f\x8b\x08|BZh[1-9]1|\xfd7zXZ|x\x9f>")/;

const startsFile = (bytes: Buffer): boolean =>
  bytes.length >= 4 && FIRST[bytes[0]!] === 1 && MAGIC.test(bytes.toString('latin1', 0, 8));

/** A first, cheap look at one line; most are done after a few octets. */
function readBase64(scan: Scan, at: number, line: number): void {
  const { raw } = scan;
  const maxJunk = scan.skipped < MAX_SKIPPED ? 64 : 0;
  if (!mayStartFile(scan, at, maxJunk) || !mayDecode(scan)) return;
  for (const padding of ['ignored', 'ends-group'] as const) {
    const prefix = decodeBase64At(raw, at, Math.min(raw.length, at + 2048), 8, padding, maxJunk);
    if (!startsFile(prefix.bytes)) {
      countDecoded(scan, prefix.bytes);
      if (prefix.padded) continue;
      return;
    }
    if (continuesBlock(raw, line)) return;
    const bytes = decodeBlock(
      scan,
      at,
      (end, max) => decodeBase64At(raw, at, end, max, padding).bytes,
    );
    if (addContent(scan, at, bytes, 'base64')) return;
    if (!prefix.padded) return;
  }
}

/** Whether the first octets that base64 decodes to can be those of a file. Creates no objects. */
function mayStartFile(scan: Scan, at: number, maxJunk: number): boolean {
  const { raw } = scan;
  let bits = 0;
  let sextets = 0;
  const end = Math.min(raw.length, at + maxJunk + 16);
  for (let i = at; i < end; i++) {
    const octet = raw[i]!;
    const sextet = ALPHABET[octet]!;
    if (sextet !== 255) {
      bits = (bits << 6) | sextet;
      sextets += 1;
      if (sextets === 3) return FIRST_TWO[bits >> 2] === 1;
    } else if (octet === EQUALS && sextets === 2) return FIRST[bits >> 4] === 1;
    // Nothing in this line: the next one is looked at by itself.
    else if (octet === LF && sextets === 0) return false;
    else scan.skipped += 1;
  }
  return false;
}

const ALPHABET = new Uint8Array(256).fill(255);
for (const [i, char] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  ALPHABET[char.charCodeAt(0)] = i;

/** Whether the line before is a full line of base64: then no program begins a file here. */
function continuesBlock(raw: Buffer, line: number): boolean {
  let end = line - 1;
  while (end > 0 && (raw[end] === LF || raw[end] === CR) && line - end < 3) end--;
  let start = end;
  while (start >= 0 && ALPHABET[raw[start]!] !== 255) start--;
  return end - start >= 40 && (start < 0 || raw[start] === LF || raw[start] === CR);
}

/** Octets as they are, or quoted-printable, or base64 in quoted-printable. */
function readPlain(scan: Scan, at: number, line: number): void {
  const { raw } = scan;
  const first = raw[at]!;
  if (first !== EQUALS && FIRST[first] !== 1) return;
  const second = raw[at + 1];
  const isPlain = second !== EQUALS && first !== EQUALS;
  if (isPlain && FIRST_TWO[first * 256 + (second ?? 0)] !== 1) return;
  if (!mayDecode(scan) || (!isPlain && !mayStartQuoted(scan, at))) return;
  const isQuoted = !isPlain || raw.subarray(at, at + 24).includes(EQUALS);
  const start = raw.subarray(at, at + MAX_PREFIX);
  const prefix = isQuoted ? toBuffer(decodeTransfer(start, 'quoted-printable')) : start;
  if (startsFile(prefix)) {
    const bytes = decodeBlock(scan, at, (end, max) => {
      const block = raw.subarray(at, Math.min(end, at + (isQuoted ? max * 3 : max)));
      return isQuoted ? toBuffer(decodeTransfer(block, 'quoted-printable')) : block;
    });
    addContent(scan, at, bytes, isQuoted ? 'quoted-printable' : 'plain bytes');
    return;
  }
  if (isQuoted && first === EQUALS && line === at) {
    const twice = decodeBase64At(prefix, 0, prefix.length, 8, 'ignored').bytes;
    if (!startsFile(twice)) {
      countDecoded(scan, twice);
      return;
    }
    const bytes = decodeBlock(scan, at, (end, max) => {
      const block = toBuffer(decodeTransfer(raw.subarray(at, end), 'quoted-printable'));
      return decodeBase64At(block, 0, block.length, max, 'ignored').bytes;
    });
    addContent(scan, at, bytes, 'base64 in quoted-printable');
  }
}

/**
 * Whether quoted-printable can decode to the first octets of a file, or to base64 of them. Creates no objects. A line that
 * begins with a soft line break is empty: the next one is looked at by itself.
 */
function mayStartQuoted(scan: Scan, at: number): boolean {
  const { raw } = scan;
  let first = SOFT_BREAK;
  let octets = 0;
  let bits = 0;
  let sextets = 0;
  const end = Math.min(raw.length, at + MAX_PREFIX);
  for (let i = at; i < end && scan.skipped < MAX_SKIPPED; ) {
    const step = quotedOctetAt(raw, i);
    i += step >> 9;
    const octet = step & 511;
    if (octet === SOFT_BREAK) {
      if (octets === 0) return false;
      continue;
    }
    octets += 1;
    if (octets === 1) first = octet;
    if (octets === 2 && FIRST_TWO[first * 256 + octet] === 1) return true;
    const sextet = SEXTETS[octet]!;
    if (sextet === 255) {
      scan.skipped += 1;
      continue;
    }
    bits = (bits << 6) | sextet;
    sextets += 1;
    if (sextets === 3) return FIRST_TWO[bits >> 2] === 1;
  }
  return false;
}

const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Decodes up to a delimiter-like line, within the limits. */
function decodeBlock(
  scan: Scan,
  at: number,
  decode: (end: number, maxBytes: number) => Buffer,
): Buffer {
  const max = Math.min(MAX_BLOCK, MAX_DECODED - scan.decoded);
  const limit = Math.min(scan.raw.length, at + max * 2);
  const delimiter = scan.raw.subarray(at, limit).indexOf('\n--');
  const bytes = decode(delimiter < 0 ? limit : at + delimiter, Math.max(max, 4096));
  countDecoded(scan, bytes);
  return bytes;
}

function addContent(scan: Scan, at: number, bytes: Buffer, how: string): boolean {
  const content = readFileContent(bytes);
  const opens = whatOpens(bytes, content);
  if (opens) {
    const member = memberProblem(content.members);
    const refused = content.program !== null || content.macros || member !== null;
    const blockedBy = content.program === null ? (member?.blockedBy ?? []) : BLOCKING_PROVIDERS;
    return add(scan, { at, name: null, opens, refused, blockedBy, how });
  }
  return isTnef(bytes) && addTnefNames(scan, at, bytes);
}

function whatOpens(bytes: Buffer, content: FileContent): string | null {
  const { program, archive, macros, members, encrypted } = content;
  if (bytes[0] === 0x50 && bytes[1] === 0x4b && !looksLikeZip(bytes)) return null;
  // By chance, text can decode to the two letters MZ.
  if (program === 'a Windows program' && !looksLikeMz(bytes)) return null;
  if (program) return program;
  const member = members.find((name) => nameProblem(readFileName(name)));
  if (macros) return 'a document with macros';
  if (archive && member) return `${archive} with a .${readFileName(member).extension} file`;
  if (archive) return encrypted ? `${archive} that is encrypted` : archive;
  if (bytes.toString('hex', 0, 8) === 'd0cf11e0a1b11ae1') return 'an Office document or installer';
  return null;
}

/** The header of a program has small numbers in its first fields, and a second header or the usual text. */
function looksLikeMz(bytes: Buffer): boolean {
  const zeros = bytes.subarray(0, 64).filter((octet) => octet === 0).length;
  return zeros >= 16 || bytes.subarray(0, 512).includes('DOS mode');
}

/** By chance, text can decode to the four octets of its mark: the method and the name must be possible. */
function looksLikeZip(bytes: Buffer): boolean {
  if (bytes.length < 31 || bytes[2] !== 3) return false;
  const length = bytes.readUInt16LE(26);
  const name = bytes.toString('latin1', 30, 30 + Math.min(length, 60));
  return bytes.readUInt16LE(8) < 100 && length > 0 && length < 1000 && !/[\x00-\x1f]/.test(name);
}

function readUuencoded(scan: Scan, at: number): void {
  const { raw } = scan;
  if (!mayDecode(scan)) return;
  const next = nextLine(raw, at);
  const text = raw.toString('latin1', at, Math.min(next, at + 400));
  const match = /^begin(-base64)?\s+[0-7]{3,5}\s*(.*?)\s*$/i.exec(text);
  if (!match) return;
  const how = 'uuencode';
  if (addName(scan, at, match[2]!, how)) return;
  const max = Math.min(MAX_BLOCK, MAX_DECODED - scan.decoded);
  const bytes = match[1]
    ? decodeBase64At(raw, next, raw.length, max, 'ignored').bytes
    : decodeUuAt(raw, next, raw.length, max);
  countDecoded(scan, bytes);
  if (startsFile(bytes)) addContent(scan, at, bytes, how);
}

function readYenc(scan: Scan, at: number): void {
  const { raw } = scan;
  if (!mayDecode(scan)) return;
  let next = nextLine(raw, at);
  const text = raw.toString('latin1', at, Math.min(next, at + 400));
  const name = /\bname=(.*?)\s*$/.exec(text)?.[1] ?? '';
  if (addName(scan, at, name, 'yEnc')) return;
  if (raw.toString('latin1', next, next + 7) === '=ypart ') next = nextLine(raw, next);
  const max = Math.min(MAX_BLOCK, MAX_DECODED - scan.decoded);
  const bytes = decodeYencAt(raw, next, raw.length, max);
  countDecoded(scan, bytes);
  if (startsFile(bytes)) addContent(scan, at, bytes, 'yEnc');
}

/** Files in `data:` URLs, which scripts offer as downloads. */
function readDataUrls(scan: Scan): void {
  const { raw } = scan;
  let at = raw.indexOf(';base64,');
  for (let i = 0; at >= 0 && i < MAX_FIELDS; i++) {
    const start = at + ';base64,'.length;
    const { bytes } = decodeBase64At(
      raw,
      start,
      Math.min(raw.length, start + 400),
      256,
      'ignored',
      0,
    );
    const content = startsFile(bytes) ? readFileContent(bytes) : null;
    if (content?.program) addContent(scan, at, bytes, 'a data: URL');
    at = raw.indexOf(';base64,', start);
  }
}

// TNEF (winmail.dat, [MS-OXTNEF]): the file names of its attachments.

const isTnef = (bytes: Buffer): boolean => bytes.toString('hex', 0, 4) === '789f3e22';

const ATTACH_TITLE = 0x00018010;
const ATTACH_DATA = 0x0006800f;

/** Attributes follow each other: level (1), id (4), length (4), data, checksum (2). */
function addTnefNames(scan: Scan, start: number, bytes: Buffer): boolean {
  for (let at = 6; at + 9 <= bytes.length; ) {
    const id = bytes.readUInt32LE(at + 1);
    const length = bytes.readUInt32LE(at + 5);
    const data = bytes.subarray(at + 9, at + 9 + length);
    if (id === ATTACH_TITLE) {
      const name = data.toString('latin1').split('\0')[0]!;
      if (addName(scan, start, name, 'winmail.dat')) return true;
    }
    if (id === ATTACH_DATA && startsFile(data) && addContent(scan, start, data, 'winmail.dat'))
      return true;
    at += 9 + length + 2;
  }
  return longTnefNames(bytes).some((name) => addName(scan, start, name, 'winmail.dat'));
}

/** The property PR_ATTACH_LONG_FILENAME (0x3707): type, id, count, length, text. */
function longTnefNames(bytes: Buffer): string[] {
  const names: string[] = [];
  for (const [mark, charset] of [
    ['1f000737', 'utf16le'],
    ['1e000737', 'latin1'],
  ] as const) {
    const at = bytes.indexOf(mark, 0, 'hex');
    if (at < 0 || at + 12 > bytes.length) continue;
    const length = Math.min(bytes.readUInt32LE(at + 8), 600);
    names.push(bytes.toString(charset, at + 12, at + 12 + length).split('\0')[0]!);
  }
  return names;
}

/** Reads the decoded content of a part that can contain a message or TNEF. */
export function readContent(content: Uint8Array, depth: number): HiddenFile[] {
  if (depth >= MAX_DEPTH) return [];
  return readCautiously(content, depth + 1);
}
