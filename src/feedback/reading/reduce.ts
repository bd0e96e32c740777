/** A message without what is no part of its report, such as other attachments and text. */

import { randomUUID } from 'node:crypto';
import type { HeaderField } from '../../analysis/mime/message.ts';
import { parseMessage } from '../../analysis/mime/parse-message.ts';
import { kindOf } from './unpack.ts';

/** A report of a thousand rows takes a tenth of it. */
export const MAX_REDUCED_BYTES = 256 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

const REPORT_TYPES = [
  'message/feedback-report',
  'message/delivery-status',
  'message/global-delivery-status',
];
/** They describe the body, which is another one now. */
const BODY_FIELD = /^(?:content-|mime-version$)/;

/** Null if it is too large even so, or if there is no part that can be a report. */
export async function reduceToReport(raw: Uint8Array): Promise<Uint8Array | null> {
  if (kindOf(raw) !== null) return raw.length <= MAX_REDUCED_BYTES ? raw : null;
  const { headers, parts } = await parseMessage(raw);
  const kept = parts.filter(
    ({ type, content }) =>
      REPORT_TYPES.includes(type) || (type !== 'text/html' && kindOf(content) !== null),
  );
  if (kept.length === 0) return null;
  const boundary = `reduced-${randomUUID()}`;
  const own = headers.filter(({ key }) => !BODY_FIELD.test(key));
  const pieces = [
    latin1(
      `${block(own)}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`,
    ),
    ...kept.flatMap(({ fields, start, end }) => [
      latin1(
        `--${boundary}\r\n${block(fields.filter(({ key }) => key.startsWith('content-')))}\r\n`,
      ),
      raw.subarray(start, end),
      latin1('\r\n'),
    ]),
    latin1(`--${boundary}--\r\n`),
  ];
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return size <= MAX_REDUCED_BYTES ? Buffer.concat(pieces) : null;
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Whole fields only, so that a long header is cut between them. */
function block(fields: HeaderField[]): string {
  let text = '';
  for (const { raw } of fields) {
    if (text.length + raw.length + 2 > MAX_HEADER_BYTES) break;
    text += `${raw}\r\n`;
  }
  return text;
}
