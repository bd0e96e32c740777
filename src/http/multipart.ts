/** Reads the parts of a form with a file (multipart/form-data, RFC 7578). Copies nothing: parts are views of the body. */

import { AppError } from '../lib/errors.ts';

export interface FormPart {
  /** Null for a text field; empty if the form was sent without a file. */
  filename: string | null;
  bytes: Uint8Array;
}

/** The first part of each name. */
export type FormParts = Map<string, FormPart>;

/** Far more than any form of ours has. */
const MAX_PARTS = 50;
/** A part has a name, a file name, and a content type. */
const MAX_PART_HEADER_BYTES = 8 * 1024;

const CRLF = '\r\n';

/** Throws as `readFormPartList`. */
export function readFormParts(body: Uint8Array, contentType: string | null): FormParts {
  const parts: FormParts = new Map();
  for (const [name, part] of readFormPartList(body, contentType))
    if (!parts.has(name)) parts.set(name, part);
  return parts;
}

/**
 * All parts in order, such as the files of one field. Throws `malformed_request` for a body that does not have the form
 * that its content type promises.
 */
export function readFormPartList(
  body: Uint8Array,
  contentType: string | null,
): [name: string, part: FormPart][] {
  const delimiter = `--${boundaryOf(contentType ?? '')}`;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const parts: [string, FormPart][] = [];
  // The first delimiter has no line break before it, unless a client sends a preamble, which none does.
  if (bytes.indexOf(delimiter) !== 0) throw malformed();
  let position = delimiter.length;
  for (let count = 0; !startsWith(bytes, position, '--'); count++) {
    if (count === MAX_PARTS || !startsWith(bytes, position, CRLF)) throw malformed();
    const start = position + CRLF.length;
    const end = bytes.indexOf(CRLF + delimiter, start);
    if (end === -1) throw malformed();
    parts.push(readPart(bytes.subarray(start, end)));
    position = end + CRLF.length + delimiter.length;
  }
  return parts;
}

function readPart(part: Buffer): [name: string, part: FormPart] {
  const headerEnd = part.subarray(0, MAX_PART_HEADER_BYTES).indexOf(CRLF + CRLF);
  if (headerEnd === -1) throw malformed();
  const header = part.subarray(0, headerEnd).toString('utf8');
  const disposition = /^content-disposition:[ \t]*form-data(;.*)$/im.exec(header)?.[1];
  const name = disposition && parameterOf(disposition, 'name');
  if (name === undefined || name === null) throw malformed();
  const filename = parameterOf(disposition!, 'filename');
  return [name, { filename, bytes: part.subarray(headerEnd + 2 * CRLF.length) }];
}

/** Browsers quote values, and encode only quotes and line breaks in them (HTML Standard, multipart/form-data). */
function parameterOf(disposition: string, name: string): string | null {
  const value = new RegExp(`;[ \\t]*${name}="([^"]*)"`, 'i').exec(disposition)?.[1];
  return value === undefined ? null : value.replace(/%(22|0A|0D)/gi, decodeURIComponent);
}

function boundaryOf(contentType: string): string {
  const found = /;[ \t]*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined) throw malformed();
  return boundary;
}

function startsWith(bytes: Buffer, position: number, text: string): boolean {
  return bytes.toString('latin1', position, position + text.length) === text;
}

const malformed = () =>
  new AppError('malformed_request', 'The form is incomplete or malformed. Send it again.');

/** The form is shown again with its fields, which are much shorter than a message. */
const MAX_FIELD_BYTES = 16 * 1024;

/** The text of a field; empty if it is missing. Throws `body_too_large` if it is too long for one line. */
export function textField(parts: FormParts, name: string): string {
  const part = parts.get(name);
  if (!part || part.filename !== null) return '';
  if (part.bytes.byteLength > MAX_FIELD_BYTES)
    throw new AppError(
      'body_too_large',
      `A field of the form is longer than ${MAX_FIELD_BYTES} bytes.`,
    );
  return new TextDecoder().decode(part.bytes);
}
