/**
 * What the sender wrote, without quoted and forwarded messages. Only the sender's words show what a message is about, and
 * only they can be changed.
 */

import { campaignField } from '../bulk-sender.ts';
import type { Context } from '../check.ts';
import { fieldValue, type Message } from '../mime/message.ts';
import { hasVisibleText } from '../text.ts';
import { findQuotes, type Quotes, withoutRanges } from './find-quotes.ts';
import { type Line, linesOfHtml, linesOfText, mayHaveQuotes } from './lines.ts';
import { subjectPrefix } from './words.ts';

export interface SenderPart {
  /** Both parts without what they quote. */
  text: string | null;
  html: string | null;
  /** Empty if it is the subject of another message, behind "Re:" or "Fwd:". */
  subject: string;
  /** null if the message quotes and answers nothing. */
  relation: 'reply' | 'forward' | null;
  /** Whether anything was quoted. */
  hasQuotes: boolean;
}

const has = (message: Message, name: string): boolean => hasVisibleText(textOf(message, name));

const textOf = (message: Message, name: string): string => fieldValue(message, name) ?? '';

/** Fields that a client adds to a reply, and to a forwarded message. */
const THREAD_FIELDS = ['in-reply-to', 'references', 'x-forwarded-message-id'];
/** Outlook gives each new message a Thread-Index of 22 octets, and each reply five more ([MS-OXOMSG] §2.2.1.3). */
const NEW_THREAD_INDEX = 32;

/** Whether a field shows that the message belongs to a conversation. */
export const isInThread = (message: Message): boolean =>
  THREAD_FIELDS.some((name) => has(message, name)) ||
  textOf(message, 'thread-index').replace(/\s/g, '').length > NEW_THREAD_INDEX;

/** A fact: call `context.fact(senderPart)`. */
export function senderPart({ message }: Context): SenderPart {
  const subject = message.subject ?? '';
  const whole: SenderPart = {
    text: message.text,
    html: message.html,
    subject,
    relation: null,
    hasQuotes: false,
  };
  if (isBulk(message)) return whole;
  const prefix = subjectPrefix(subject);
  const isReply = prefix !== null || isInThread(message);
  const text = split(message.text, linesOfText, isReply);
  const html = split(
    message.html !== null && (isReply || mayHaveQuotes(message.html)) ? message.html : null,
    linesOfHtml,
    isReply,
  );
  const hasQuotes = text.ranges.length + html.ranges.length > 0;
  if (!hasQuotes && !isInThread(message)) return whole;
  return {
    text: text.ranges.length > 0 ? text.own : message.text,
    html: html.ranges.length > 0 ? html.own : message.html,
    subject: prefix === null ? subject : '',
    relation: prefix?.relation ?? html.relation ?? text.relation ?? 'reply',
    hasQuotes,
  };
}

/** The same campaign goes to many recipients, so what it seems to quote is its own. Posts to a list may quote. */
const isBulk = (message: Message): boolean =>
  campaignField(message) !== null ||
  (has(message, 'list-unsubscribe') && !has(message, 'list-post') && !isInThread(message));

function split(
  source: string | null,
  linesOf: (source: string) => Line[],
  isReply: boolean,
): Quotes & { own: string } {
  if (source === null) return { ranges: [], relation: null, own: '' };
  const quotes = findQuotes(linesOf(source), isReply);
  return { ...quotes, own: withoutRanges(source, quotes.ranges) };
}
