/** An HTML file as a message, which a template without a header is for all checks. */

import { notAMessage } from '../../mailtests/message-file.ts';
import { UsageError } from '../command.ts';

const MIME_HEADER = 'MIME-Version: 1.0\nContent-Type: text/html; charset=';
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The message with this HTML; null if the bytes are a message themselves. Throws a UsageError if they are neither. */
export function readHtmlTemplate(name: string, bytes: Uint8Array): Uint8Array | null {
  if (FIRST_FIELD.test(firstLine(bytes)) && notAMessage(name, bytes) === null) return null;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = text.subarray(0, 3).equals(UTF8_MARK) ? text.subarray(3) : text;
  const start = body.subarray(0, 4096).toString('latin1');
  if (/<mjml[\s>]/i.test(start))
    throw new UsageError(`${name} is MJML. Compile it, and check the HTML`);
  // Pictures, archives and lists of data have neither elements nor merge tags.
  if (body.includes(0) || !/<[a-z!/][^<]*>|\{\{|\{%|<%|\*\||%%/i.test(body.toString('latin1')))
    throw new UsageError(`${name} is not a template: it is neither a message nor HTML`);
  const header = `${MIME_HEADER}${charsetOf(body, start)}\nContent-Transfer-Encoding: 8bit\n\n`;
  // All line ends must be the same, or none of them would be converted.
  const message = Buffer.concat([Buffer.from(header), withLf(body)]);
  return Uint8Array.from(message);
}

/** HTML and tags of template languages never begin like this. */
const FIRST_FIELD = /^(?:\u00ef\u00bb\u00bf)?\s*(?:From |[A-Za-z][\w-]*[ \t]*:)/;

const firstLine = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, 1000)).toString('latin1');

/** UTF-8 if the bytes are; else as the HTML declares. */
function charsetOf(body: Uint8Array, start: string): string {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return 'utf-8';
  } catch {
    const declared = /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(start)?.[1];
    return declared && !/^utf-?8$/i.test(declared) ? declared : 'windows-1252';
  }
}

/** In Latin-1, each octet is one character. */
const withLf = (body: Buffer): Buffer =>
  Buffer.from(body.toString('latin1').replace(/\r\n?/g, '\n'), 'latin1');
