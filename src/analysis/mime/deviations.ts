/** How the MIME structure of a message deviates from the standards, so that email clients disagree about it. */

import { isUtf8 } from 'node:buffer';
import { decodeWords } from 'postal-mime';
import type { PartTree } from './attached-messages.ts';
import { isKnownCharset } from './decode.ts';
import { parseStructuredField } from './headers.ts';
import type { HeaderField, Multipart, Part } from './message.ts';

/** The name of each deviation, in evidence. `encoding` has the texts. */
export type DeviationKind =
  | 'encoding_unknown'
  | 'encoding_syntax'
  | 'encoding_of_multipart'
  | 'field_repeated'
  | 'field_syntax'
  | 'field_fold'
  | 'field_missing_end'
  | 'mime_version'
  | 'type_syntax'
  | 'parameter_syntax'
  | 'parameter_repeated'
  | 'parameter_comment'
  | 'parameter_encoded_word'
  | 'parameter_continued'
  | 'boundary_missing'
  | 'boundary_form'
  | 'boundary_unused'
  | 'boundary_unclosed'
  | 'boundary_shared'
  | 'boundary_prefix'
  | 'delimiter_altered'
  | 'delimiter_undeclared'
  | 'parts_outside'
  | 'base64_not'
  | 'base64_invalid'
  | 'quoted_printable_invalid'
  | 'charset_ascii'
  | 'charset_invalid'
  | 'charset_unknown'
  | 'charset_missing'
  | 'names_disagree'
  | 'name_characters'
  | 'message_partial'
  | 'message_external'
  | 'file_in_text';

export interface Deviation {
  kind: DeviationKind;
  /** Where in the message. */
  at: number;
}

/** Deviations of these parts beyond this number are not looked for. */
const MAX_PARTS = 300;

/** Each kind once, where it first occurs. Never throws. Runs in linear time. */
export function findDeviations(
  raw: Uint8Array,
  tree: PartTree,
  header: HeaderField[],
): Deviation[] {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const found = new Map<DeviationKind, number>();
  const add = (kind: DeviationKind, at: number) => {
    if (!found.has(kind)) found.set(kind, at);
  };
  const leaves = tree.parts.slice(0, MAX_PARTS);
  const multiparts = tree.multiparts.slice(0, MAX_PARTS);
  const entities = [...multiparts, ...leaves.filter(({ type }) => !type.startsWith('multipart/'))];
  const isMime = header.some(({ key }) => key === 'content-type' || key === ENCODING);
  if (isMime && !header.some(({ key }) => key === 'mime-version')) add('mime_version', 0);
  for (const { fields, start } of [{ fields: header, start: 0 }, ...entities])
    for (const kind of headerDeviations(fields, fields === header)) add(kind, start);
  for (const multipart of multiparts)
    for (const kind of multipartDeviations(bytes, multipart, multiparts))
      add(kind, multipart.start);
  for (const part of leaves) for (const kind of partDeviations(bytes, part)) add(kind, part.start);
  return [...found].map(([kind, at]) => ({ kind, at }));
}

// Header fields of the message and its parts.

const ENCODING = 'content-transfer-encoding';
const TYPE = 'content-type';
const DISPOSITION = 'content-disposition';
const STRUCTURED = [TYPE, DISPOSITION];

const KNOWN_ENCODINGS = /^(?:7bit|8bit|binary|quoted-printable|base64)$/;

function headerDeviations(fields: HeaderField[], isMessage: boolean): DeviationKind[] {
  const kinds: DeviationKind[] = [];
  const ofParts = fields.filter(({ key }) => key.startsWith('content-') || key === 'mime-version');
  const of = (key: string) => ofParts.filter((field) => field.key === key);
  for (const key of [TYPE, DISPOSITION, ENCODING, 'mime-version', 'content-id'])
    if (of(key).length > 1) kinds.push('field_repeated');
  for (const field of of(ENCODING)) kinds.push(...encodingDeviations(field));
  for (const field of STRUCTURED.flatMap(of)) kinds.push(...structuredDeviations(field));
  kinds.push(...nameDeviations(of(TYPE)[0], of(DISPOSITION)[0]));
  if (fields.some(({ raw }) => BAD_FOLD.test(raw))) kinds.push('field_fold');
  if (fields.some(({ raw }) => SPACE_BEFORE_COLON.test(raw))) kinds.push('field_syntax');
  if (!isMessage && fields.some(({ name }) => name === '')) kinds.push('field_missing_end');
  // A misspelt field, or one without its colon.
  if (fields.some(({ name, raw }) => MISSPELT.test(name || raw.slice(0, 60))))
    kinds.push('field_syntax');
  return kinds;
}

const BAD_FOLD = /\n[ \t]+(?:\r?\n|$)|^[ \t]|\r(?!\n)|\0/;
const SPACE_BEFORE_COLON = /^[\w-]{1,60}[ \t]+:/;
const MISSPELT =
  /^\s*(?:content[_ ]+(?:type|disposition|transfer)|contenttype|content--?transfer[_ ]?encoding(?<!content-transfer-encoding)|content-encoding|content-type[^:]{1,20}$|content-disposition[^:]{1,20}$|content-transfer-encoding[^:]{1,20}$)/i;

function encodingDeviations({ value }: HeaderField): DeviationKind[] {
  const plain = value.trim().toLowerCase();
  if (KNOWN_ENCODINGS.test(plain)) return [];
  const cleaned = parseStructuredField(decodeWords(plain)).value;
  return KNOWN_ENCODINGS.test(cleaned) ? ['encoding_syntax'] : ['encoding_unknown'];
}

/** A token or quoted string after `=`, as RFC 2045 §5.1 requires. */
const PARAMETER = /^\s*[!#$%&'*+\-.^_`|~\w]+=(?:"(?:[^"\\\r\n]|\\.)*"|[!#$%&'*+\-.^_`{|}~\w]+)\s*$/;

function structuredDeviations({ key, value }: HeaderField): DeviationKind[] {
  const kinds: DeviationKind[] = [];
  const [first = '', ...parameters] = splitOutsideQuotes(value.slice(0, 4096));
  const withoutComment = value.includes('(') ? first.replace(/\([^()]*\)/g, '') : first;
  const isValid =
    key === TYPE
      ? /^\s*[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*$/.test(withoutComment)
      : /^\s*[\w-]+\s*$/.test(withoutComment);
  if (!isValid) kinds.push('type_syntax');
  if (withoutComment !== first) kinds.push('parameter_comment');
  const names = new Set<string>();
  for (const [index, parameter] of parameters.entries()) {
    // A final semicolon is a common and harmless mistake.
    if (parameter.trim() === '') {
      if (index < parameters.length - 1) kinds.push('parameter_syntax');
      continue;
    }
    const name = parameter.split('=')[0]!.trim().toLowerCase();
    if (names.has(name)) kinds.push('parameter_repeated');
    names.add(name);
    kinds.push(...parameterDeviations(parameter, name));
  }
  return kinds;
}

function parameterDeviations(parameter: string, name: string): DeviationKind[] {
  if (/=\?[^?\s]+\?[bq]\?/i.test(parameter)) return ['parameter_encoded_word'];
  if (/^boundary\*/.test(name)) return ['boundary_form'];
  if (name.includes('*')) return ['parameter_continued'];
  if (PARAMETER.test(parameter)) return [];
  const unquoted = parameter.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  if (/\([^()]*\)/.test(unquoted) && PARAMETER.test(unquoted.replace(/\([^()]*\)/g, '')))
    return ['parameter_comment'];
  // 8-bit names and names with spaces: common, and another finding reports the bytes.
  if (/^\s*(?:file)?name\s*=\s*[^"'\\();=]+$/i.test(parameter)) return [];
  return ['parameter_syntax'];
}

function splitOutsideQuotes(text: string): string[] {
  return (
    text
      .match(/(?:"(?:[^"\\]|\\.)*"|[^;"]|"(?!(?:[^"\\]|\\.)*"))*(?:;|$)/gs)
      ?.slice(0, 200)
      .filter((piece, i, all) => piece !== '' || i < all.length - 1)
      .map((piece) => piece.replace(/;$/, '')) ?? [text]
  );
}

function nameDeviations(type?: HeaderField, disposition?: HeaderField): DeviationKind[] {
  const read = (field: HeaderField | undefined, key: string) =>
    field ? decodeWords(parseStructuredField(field.value).params.get(key) ?? '').trim() : '';
  const [name, filename] = [read(type, 'name'), read(disposition, 'filename')];
  const kinds: DeviationKind[] = [];
  if (name !== '' && filename !== '' && name.toLowerCase() !== filename.toLowerCase())
    kinds.push('names_disagree');
  if (
    /[\x00-\x1f\x7f\ufffd<>:"|?*\\/]|%[0-9a-f]{2}|[. ]$/i.test(name) ||
    /[\x00-\x1f\x7f\ufffd<>:"|?*\\/]|%[0-9a-f]{2}|[. ]$/i.test(filename)
  )
    kinds.push('name_characters');
  return kinds;
}

// Multiparts and their boundaries.

/** RFC 2046 §5.1.1. A space must not be last. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;

function multipartDeviations(
  bytes: Buffer,
  multipart: Multipart,
  all: Multipart[],
): DeviationKind[] {
  const { boundary, children, closed, level, start, end, firstDelimiter, fields } = multipart;
  const kinds: DeviationKind[] = [];
  const written = fields.find(({ key }) => key === TYPE)?.value ?? '';
  if (!BOUNDARY.test(boundary) || /boundary\s*=\s*"[^"]*\s"/i.test(written))
    kinds.push('boundary_form');
  if (children === 0) kinds.push('boundary_unused');
  else if (!closed) kinds.push('boundary_unclosed');
  if (encodes(fields)) kinds.push('encoding_of_multipart');
  const around = all.filter(
    (other) =>
      other !== multipart && other.level < level && other.start <= start && end <= other.end,
  );
  if (around.some((other) => other.boundary === boundary)) kinds.push('boundary_shared');
  else if (around.some((other) => isPrefix(other.boundary, boundary)))
    kinds.push('boundary_prefix');
  if (hasAlteredDelimiter(bytes, multipart, all)) kinds.push('delimiter_altered');
  const preamble = bytes.subarray(start, Math.max(start, firstDelimiter ?? start));
  const epilogue = level === 0 ? bytes.subarray(end, end + MAX_OUTSIDE) : bytes.subarray(0, 0);
  if (hasPart(preamble) || hasPart(epilogue)) kinds.push('parts_outside');
  return kinds;
}

const isPrefix = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);

const encodes = (fields: HeaderField[]): boolean =>
  fields.some(({ key, value }) => key === ENCODING && /base64|quoted|uu/i.test(value));

const MAX_OUTSIDE = 1024 * 1024;
const MAX_LOOKS = 2000;

/** A line that begins with the boundary but is no delimiter by the standard, or differs only in case. */
function hasAlteredDelimiter(bytes: Buffer, { boundary, start, end }: Multipart, all: Multipart[]) {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const region = bytes.subarray(start, end);
  let at = region.indexOf(delimiter);
  for (let i = 0; at >= 0 && i < MAX_LOOKS; i++) {
    const before = region[at - 1];
    const isLineStart = at === 0 || before === 0x0a;
    const after = region.toString('latin1', at + delimiter.length, at + delimiter.length + 80);
    const rest = /^[^\r\n]*/.exec(after)![0];
    const isOther = all.some(
      (other) => other.boundary !== boundary && `${boundary}${rest}`.startsWith(other.boundary),
    );
    if (
      isLineStart
        ? !/^(?:--)?[ \t]*$/.test(rest) && !isOther
        : /[\r \t]/.test(String.fromCharCode(before ?? 0))
    )
      return true;
    at = region.indexOf(delimiter, at + 1);
  }
  return false;
}

/** Fields of a part, or a long block of base64. */
function hasPart(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, 64 * 1024);
  return (
    /^[ \t]*content-(?:type|disposition|transfer-encoding)[ \t]*:/im.test(text) ||
    /^[A-Za-z0-9+/]{60,76}={0,2}\r?$/m.test(text)
  );
}

// The content of parts.

function partDeviations(bytes: Buffer, part: Part): DeviationKind[] {
  const kinds: DeviationKind[] = [];
  const { type, encoding, fields, start, end, filename } = part;
  const declared = fields.find(({ key }) => key === TYPE)?.value ?? '';
  if (/^[\s"']*multipart/i.test(declared) && !type.startsWith('multipart/'))
    kinds.push('type_syntax');
  if (type.startsWith('multipart/') && !/boundary/i.test(declared)) kinds.push('boundary_missing');
  else if (type.startsWith('multipart/') && !parseStructuredField(declared).params.get('boundary'))
    kinds.push('boundary_missing');
  if (type === 'message/partial') kinds.push('message_partial');
  if (type === 'message/external-body') kinds.push('message_external');
  if (type.startsWith('message/') && encodes(fields)) kinds.push('encoding_of_multipart');
  const body = bytes.subarray(start, end);
  if (encoding === 'base64') kinds.push(...base64Deviations(body));
  if (encoding === 'quoted-printable' && isInvalidQuotedPrintable(body))
    kinds.push('quoted_printable_invalid');
  if (type.startsWith('text/')) kinds.push(...charsetDeviations(part));
  if (type.startsWith('text/') && !filename) kinds.push(...textDeviations(body));
  return kinds;
}

/** Each octet as a class: 1 in the alphabet, 2 `=`, 3 white space, 0 any other. */
const BASE64_CLASS = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  BASE64_CLASS[char.charCodeAt(0)] = 1;
BASE64_CLASS[0x3d] = 2;
for (const octet of [0x20, 0x09, 0x0d, 0x0a]) BASE64_CLASS[octet] = 3;

function base64Deviations(body: Buffer): DeviationKind[] {
  const counts = [0, 0, 0, 0];
  let padding = 0;
  let isBroken = false;
  for (let i = 0; i < body.length; i++) {
    const kind = BASE64_CLASS[body[i]!]!;
    counts[kind]!++;
    if (kind === 2) padding += 1;
    else if (kind === 1 && padding > 0) isBroken = true;
    // White space within a line: words, not base64.
    else if (kind === 3 && body[i] === 0x20 && BASE64_CLASS[body[i + 1]!] === 1) isBroken = true;
  }
  const [other, valid] = counts as [number, number];
  if (other * 20 > valid || (other > 0 && valid < 200 && other * 50 > valid)) return ['base64_not'];
  if (other > 0 || isBroken || padding > 2 || (valid + padding) % 4 !== 0)
    return ['base64_invalid'];
  return [];
}

function isInvalidQuotedPrintable(body: Buffer): boolean {
  let at = body.indexOf(0x3d);
  for (let i = 0; at >= 0 && i < 200_000; i++) {
    const next = body.toString('latin1', at + 1, at + 3);
    if (!/^(?:[0-9A-Fa-f]{2}|\r\n|\n|[ \t]|$)/.test(next)) return true;
    at = body.indexOf(0x3d, at + 1);
  }
  return false;
}

function charsetDeviations({
  charset,
  content,
  type,
  filename,
  disposition,
}: Part): DeviationKind[] {
  if (filename !== null || disposition === 'attachment') return [];
  if (charset !== null && !isKnownCharset(charset)) return ['charset_unknown'];
  if (!hasEightBit(content)) return [];
  if (charset === null) return type === 'text/plain' ? ['charset_missing'] : [];
  if (/^(?:us-)?ascii$|^ansi_x3\.4/.test(charset)) return ['charset_ascii'];
  if (/^utf-?8$/.test(charset) && !isUtf8(content)) return ['charset_invalid'];
  return [];
}

function hasEightBit(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! >= 0x80) return true;
  return false;
}

/** Files and parts that only some programs see within a text. */
function textDeviations(body: Buffer): DeviationKind[] {
  const kinds: DeviationKind[] = [];
  const at = ['\nbegin', '=ybegin ', '(This file must be converted with BinHex'].find(
    (mark) => body.includes(mark) && FILE_IN_TEXT.test(aroundMark(body, mark)),
  );
  if (at || FILE_IN_TEXT.test(body.toString('latin1', 0, 200))) kinds.push('file_in_text');
  if (
    /(?:^|\n)--[^\r\n]{1,200}\r?\n[ \t]*content-(?:type|disposition|transfer-encoding)/i.test(
      aroundMark(body, '\n--'),
    )
  )
    kinds.push('delimiter_undeclared');
  return kinds;
}

/** After `begin`, a line of the data: uuencode has no lower-case letters. */
const FILE_IN_TEXT =
  /^[ \t]*begin(?:-base64[^\n]*\n[A-Za-z0-9+/=]+\r?$|[ \t]+[0-7]{3,5}[^\n]*\n[!-M`][ -`]*\r?$)|^=ybegin [^\r\n]*(?:line|size|name)=|\(This file must be converted with BinHex/m;

/** The text around the first places of the mark. */
function aroundMark(body: Buffer, mark: string): string {
  const pieces: string[] = [];
  let at = body.indexOf(mark);
  for (let i = 0; at >= 0 && i < 50; i++) {
    pieces.push(body.toString('latin1', at, at + 400));
    at = body.indexOf(mark, at + 1);
  }
  return pieces.join('\n');
}
