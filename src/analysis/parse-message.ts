/** Takes the raw message apart once, for all checks. */

import { addressParser, decodeWords } from 'postal-mime';
import { formatSize } from '../lib/durations.ts';
import { type HeaderField, LIMITS, type Message } from './message.ts';
import { parseMime } from './mime/parse-mime.ts';
import { scanHeaders } from './scan-headers.ts';
import { scanLines } from './scan-lines.ts';

// More than any mailbox list that a person could mean.
const MAX_FROM = 64 * 1024;

/**
 * The message in parts (RFC 5322, RFC 2045–2047). Resolves for any bytes at all: what passes a
 * limit, or cannot be read, is said in `limits`.
 */
export async function parseMessage(raw: Uint8Array): Promise<Message> {
  const block = scanHeaders(raw);
  const { limits, ...mime } = parseMime(raw, block);
  if (block.truncated) {
    const allowed = formatSize(LIMITS.headerBytes);
    limits.unshift(
      `a header of ${formatSize(block.headerBytes)}, of which ${allowed} were looked at`,
    );
  }
  const first = (key: string) => block.headers.find((field) => field.key === key);
  return {
    size: raw.length,
    headers: block.headers,
    headerBytes: block.headerBytes,
    bodyStart: block.bodyStart,
    lines: scanLines(raw, block.headerBytes),
    ...mime,
    limits,
    from: parseMailboxes(first('from')),
    subject: decoded(first('subject')),
  };
}

/** Mailboxes as a lenient reader sees them; an empty list where the field is missing or empty. */
function parseMailboxes(field: HeaderField | undefined): Message['from'] {
  if (!field?.value) return [];
  return addressParser(field.value.slice(0, MAX_FROM), { flatten: true }).map((mailbox) => ({
    name: mailbox.name,
    address: mailbox.address ?? '',
  }));
}

function decoded(field: HeaderField | undefined): string | null {
  return field ? decodeWords(field.value) : null;
}
