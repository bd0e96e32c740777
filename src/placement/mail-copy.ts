/** What is read from the copy of a message, in a seed mailbox or at the test address, to recognize it. */

import type { HeaderField } from '../analysis/mime/message.ts';
import { parseMessage } from '../analysis/mime/parse-message.ts';

/** Everything by which two copies of a message can be compared. */
export interface MailCopy {
  /** Without angle brackets; null if missing. */
  messageId: string | null;
  /** The address in the From field, in lower case; null if missing. */
  from: string | null;
  /** Decoded, with single spaces; null if missing or empty. */
  subject: string | null;
  /** Everything that looks like the token of a test, in the header, subject or text. */
  tokens: Set<string>;
  /** Addresses of recipients with a token behind a plus sign. */
  plusAddresses: Set<string>;
  /** Fields that mail servers add. */
  traceFields: TraceField[];
  /** Whether it answers or forwards another message, by its header. */
  isReply: boolean;
}

export interface TraceField extends Pick<HeaderField, 'key' | 'name' | 'value'> {
  /** Whether it is above all fields that authors write: mail servers add theirs there (RFC 8601 §4.1). */
  isOnTop: boolean;
}

/** The alphabet of `randomToken`, with no letter or digit next to it. */
const TOKEN = /(?<![a-z0-9])[a-km-np-z2-9]{16}(?![a-z0-9])/gi;
/** From the plus sign on. What is before it is read backwards: one expression for all would take quadratic time. */
const PLUS_TOKEN = /\+[a-km-np-z2-9]{16}@[a-z0-9.-]{1,255}/gi;
const LOCAL_PART_END = /[^\s@<>,;:"()]{1,64}$/;
const MAX_LOCAL_PART = 64;
/** In one message, so that many of them need little memory. */
const MAX_TOKENS = 300;
const MAX_FIELD_LENGTH = 16 * 1024;

const TRACE_FIELDS = [
  'authentication-results',
  'arc-authentication-results',
  'received-spf',
  'x-forefront-antispam-report',
  'x-microsoft-antispam',
  'x-ms-exchange-organization-scl',
];
const MAX_TRACE_FIELDS = 30;
const AUTHOR_FIELDS = ['from', 'to', 'subject', 'date', 'message-id'];
const REPLY_FIELDS = ['in-reply-to', 'references', 'auto-submitted'];

/** Fields that name the recipient. Any other field could name the address of another test. */
const RECIPIENT_FIELDS = [
  'to',
  'cc',
  'delivered-to',
  'x-original-to',
  'envelope-to',
  'x-envelope-to',
  'x-rcpt-to',
  'x-apparently-to',
  'received',
];

/** Reads a message or its beginning. Never rejects, whatever the bytes. */
export const readCopy = async (bytes: Uint8Array): Promise<MailCopy> =>
  copyOf(await parseMessage(bytes));

/** The parts of a message by which it is recognized. */
export interface MessageParts {
  headers: Pick<HeaderField, 'key' | 'name' | 'value'>[];
  from: { address: string }[];
  subject: string | null;
  text: string | null;
  html: string | null;
}

export function copyOf(message: MessageParts): MailCopy {
  const fields = message.headers.map(({ key, name, value }) => ({
    key,
    name,
    value: value.slice(0, MAX_FIELD_LENGTH),
  }));
  const recipients = fields.filter(({ key }) => RECIPIENT_FIELDS.includes(key));
  const texts = [
    ...fields.map(({ value }) => value),
    message.subject ?? '',
    message.text ?? '',
    message.html ?? '',
  ];
  const firstAuthored = fields.findIndex(({ key }) => AUTHOR_FIELDS.includes(key));
  const top = firstAuthored < 0 ? fields.length : firstAuthored;
  return {
    messageId: messageIdOf(fields.find(({ key }) => key === 'message-id')?.value),
    from: message.from[0]?.address.toLowerCase() || null,
    subject: (message.subject ?? '').replace(/\s+/gu, ' ').trim() || null,
    tokens: allMatches(texts, TOKEN),
    plusAddresses: plusAddressesIn(recipients.map(({ value }) => value)),
    traceFields: fields
      .map((field, index) => ({ ...field, isOnTop: index < top }))
      .filter(({ key }) => TRACE_FIELDS.includes(key))
      .slice(0, MAX_TRACE_FIELDS),
    isReply: fields.some(({ key }) => REPLY_FIELDS.includes(key)),
  };
}

const messageIdOf = (value: string | undefined): string | null =>
  /<([^<>\s]{1,900})>/.exec(value ?? '')?.[1] ?? null;

function allMatches(texts: string[], pattern: RegExp): Set<string> {
  const found = new Set<string>();
  for (const text of texts)
    for (const [match] of text.matchAll(pattern)) {
      if (found.size >= MAX_TOKENS) return found;
      found.add(match.toLowerCase());
    }
  return found;
}

function plusAddressesIn(texts: string[]): Set<string> {
  const found = new Set<string>();
  for (const text of texts)
    for (const { 0: end, index } of text.matchAll(PLUS_TOKEN)) {
      if (found.size >= MAX_TOKENS) return found;
      const before = text.slice(Math.max(0, index - MAX_LOCAL_PART), index);
      const user = LOCAL_PART_END.exec(before)?.[0];
      if (user !== undefined) found.add(`${user}${end}`.toLowerCase());
    }
  return found;
}
