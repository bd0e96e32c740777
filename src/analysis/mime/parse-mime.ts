/** The MIME parts of a message, decoded, and the texts that a reader sees (RFC 2045, RFC 2046). */

import { decodeWords } from 'postal-mime';
import type { Message, Part } from '../message.ts';
import type { HeaderBlock } from '../scan-headers.ts';
import { decodeText } from './decode-text.ts';
import { decodeTransfer } from './decode-transfer.ts';
import { type Leaf, splitParts } from './split-parts.ts';
import { parseStructuredField } from './structured-field.ts';

// Why not a library: postal-mime 4.0.0, the best of those tried, keeps an object for each line, so
// that 10 MB of empty lines take 4 GB, and takes seconds for some 2 MB of base64; nor does it say
// what the parts are, only their texts joined and converted.

export type MimeParts = Pick<Message, 'parts' | 'text' | 'html' | 'htmlSize' | 'limits'>;

/** Takes the body apart; never throws, in time proportional to the message. */
export function parseMime(raw: Uint8Array, block: HeaderBlock): MimeParts {
  const { leaves, limits } = splitParts(raw, block);
  const parts = leaves.map((leaf) => readPart(raw, leaf));
  const html = parts.filter((part) => isShown(part, 'text/html'));
  return {
    parts,
    text: textOf(parts.filter((part) => isShown(part, 'text/plain'))),
    html: textOf(html),
    htmlSize: html.reduce((sum, part) => sum + part.size, 0),
    limits,
  };
}

const isShown = (part: Part, type: string): boolean =>
  part.type === type && part.disposition !== 'attachment';

function textOf(parts: Part[]): string | null {
  if (parts.length === 0) return null;
  return parts
    .map((part) => decodeText(part.content, part.charset).replaceAll('\r\n', '\n'))
    .join('\n');
}

function readPart(raw: Uint8Array, { fields, type, start, end }: Leaf): Part {
  const value = (key: string) => fields.find((field) => field.key === key)?.value ?? '';
  const encoding = parseStructuredField(value('content-transfer-encoding')).value || null;
  const disposition = parseStructuredField(value('content-disposition'));
  const filename = disposition.params.get('filename') || type.params.get('name');
  const content = decodeTransfer(raw.subarray(start, end), encoding);
  return {
    // RFC 2045 §5.2: a type that cannot be read is plain text.
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
