/**
 * Reads the text of bounces without a machine-readable status part (RFC 3464), by the lines with which mail servers begin it
 * (`bounce-texts.json`). People quote and forward such texts, so the From field must name a mail server.
 */

import { decodeText } from '../../analysis/mime/decode.ts';
import { fields, fieldValue, type Message } from '../../analysis/mime/message.ts';
import data from './bounce-texts.json' with { type: 'json' };
import { LIMITS } from './limits.ts';

/** The format of `bounce-texts.json`: regular expressions, most of which match the beginning of a line. */
export interface BounceTexts {
  source: string;
  /** Match the From field of a mail server. */
  senders: string[];
  /** Lines that introduce the recipients. */
  programs: { name: string; start: string[] }[];
  /** Lines before the returned message. */
  ends: string[];
  /** Words before the address of a recipient. */
  labels: string[];
  /** Match anywhere in the text of a bounce about a delay. */
  delayed: string[];
}

/** What a text says about a recipient. */
export interface TextRecipient {
  address: string | null;
  reply: string;
}

export interface BounceText {
  recipients: TextRecipient[];
  delayed: boolean;
  /** The returned message or its header, if the text contains it. */
  returned: string | null;
}

const { senders, programs, ends, labels, delayed }: BounceTexts = data;
const either = (sources: string[]) => `(?:${sources.join('|')})`;
const SENDER = new RegExp(either(senders), 'i');
const START = new RegExp(`^\\s*${either(programs.flatMap(({ start }) => start))}`, 'i');
const END = new RegExp(`^\\s*${either(ends)}`, 'i');
const LABEL = new RegExp(`(?:^|\\b)${either(labels)}\\s*$`, 'i');
/** Labels that give no reason. */
const BARE_LABEL = /^(?:recipient|recipient address|to|rcpt to)\s?:?$/i;
const DELAYED = new RegExp(either(delayed), 'i');

/** Limits of the text without the returned message. */
const MAX_LINES = 500;
const MAX_LINE = 1000;
const MAX_TEXT = 100_000;
/** Mail servers introduce the recipients within so many lines. */
const MAX_START = 60;

/** Whether a mail server may have sent the message: the From field names one, and it is not from a mailing list. */
export const isFromServer = (message: Message): boolean =>
  SENDER.test((fieldValue(message, 'from') ?? '').slice(0, MAX_LINE)) &&
  fields(message, 'list-id').length === 0;

/** Null if the message is not a bounce. */
export function readBounceText(message: Message): BounceText | null {
  if (!isFromServer(message)) return null;
  const text = textOf(message);
  const whole = text.split('\n', MAX_LINES);
  const lines = whole.map((line) => line.slice(0, MAX_LINE));
  const start = lines.slice(0, MAX_START).findIndex((line) => START.test(line));
  if (start < 0) return null;
  const length = lines.slice(start + 1).findIndex((line) => END.test(line));
  const end = length < 0 ? lines.length : start + 1 + length;
  const body = lines.slice(start, end);
  const found = readRecipients(body);
  return {
    recipients: found.length > 0 ? found : failedRecipients(message, body),
    delayed: DELAYED.test(body.join(' ')),
    returned: length < 0 ? null : returnedOf(text, whole, end),
  };
}

/** If the boundary of a multipart never occurs, the whole body is its text. */
function textOf({ text, html, parts }: Message): string {
  if (text?.trim()) return text;
  if (html?.trim()) return html.slice(0, MAX_TEXT).replace(/<[^<>]{0,300}>/g, ' ');
  const whole = parts.find(({ type }) => type.startsWith('multipart/'));
  return whole
    ? decodeText(whole.content.subarray(0, MAX_TEXT), 'utf-8').replaceAll('\r\n', '\n')
    : '';
}

/** The returned message, from its first field on. */
function returnedOf(text: string, lines: string[], end: number): string | null {
  const first = lines.findIndex((line, index) => index >= end && FIELD.test(line));
  if (first < 0) return null;
  return text.slice(lines.slice(0, first).reduce((sum, line) => sum + line.length + 1, 0));
}

/** A header field with a value, unlike "Original Message:". */
const FIELD = /^[A-Za-z][\w-]{1,60}: ?\S/;

/** Captures what precedes the address in a line, the address, and what follows. */
const ADDRESS = /^([^@]{0,200}?)(?:mailto:)?([^\s<>"'()[\]:;,@]{1,64}@[\w.-]{1,255}\w)(.*)$/;

/** The address of a recipient comes first in a line, or after a label or a reply code. */
function addressIn(line: string): { address: string; lead: string; rest: string } | null {
  const [, before, address, rest] = ADDRESS.exec(line) ?? [];
  if (before === undefined) return null;
  const lead = before.replace(/[\s<>"'*•|([]+$/, '').trim();
  if (lead !== '' && !/^[>*•-]+$/.test(lead) && !LABEL.test(lead) && !/^\S+:\d+:$/.test(lead))
    return null;
  return { address: address!.toLowerCase(), lead, rest: rest!.replace(/^[\s>"'\])]*[:,]?/, '') };
}

function readRecipients(lines: string[]): TextRecipient[] {
  const found = new Map<string, { lead: string; own: string[] }>();
  const before: string[] = [];
  let current = before;
  let previous = '';
  for (const line of lines) {
    const named = REPLY.test(line) || SENT_BY.test(previous) ? null : addressIn(line);
    if (line.trim() !== '') previous = line;
    if (!named || found.has(named.address)) {
      current.push(line);
      continue;
    }
    if (found.size === LIMITS.recipients) break;
    current = [named.rest];
    found.set(named.address, { lead: named.lead, own: current });
  }
  if (found.size === 0) return readTranscript(lines);
  const lists = [...found.values()].map(({ own }) => own);
  const all = [...before, ...lists.flat()];
  const whole = joined(all);
  const lower = all.map((line) => line.toLowerCase());
  const first = before.findIndex((line) => REPLY.test(line));
  // The reply comes before the recipients, or after the list of them.
  const isBefore = first >= 0 && !lists.flat().some((line) => /\b[45]\d\d[ -]/.test(line));
  const isList = lists.some((own) => joined(own) === '');
  return Array.from(found, ([address, { lead, own }]) => {
    if (isBefore) return { address, reply: joined(before.slice(first)) };
    const about = isList ? all.filter((_, index) => lower[index]!.includes(address)) : [];
    const label = /[a-z]/i.test(lead) && !BARE_LABEL.test(lead) ? lead : '';
    return { address, reply: joined(about) || joined(own) || label || whole };
  });
}

/** The next address is that of the sender. */
const SENT_BY = /\b(?:sent by|from)\s*$/i;
/** A line that begins with a reply code. */
const REPLY = /^\s*[45]\d\d[ -]/;

/** Old versions of Sendmail name the recipients only within replies. */
function readTranscript(lines: string[]): TextRecipient[] {
  const found = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const address = /^\s*[45]\d\d[ -]<?([^\s<>"'()[\]:;,@]{1,64}@[\w.-]{1,255}\w)>?\.\.\./
      .exec(line)?.[1]
      ?.toLowerCase();
    if (address && found.size < LIMITS.recipients)
      found.set(address, joined([lines[index - 1] ?? '', line]));
  }
  return Array.from(found, ([address, reply]) => ({ address, reply }));
}

const joined = (lines: string[]): string => lines.join(' ').replace(/\s+/g, ' ').trim();

/** Exim and Gmail name the recipients in X-Failed-Recipients, too. */
function failedRecipients(message: Message, lines: string[]): TextRecipient[] {
  const named = (fieldValue(message, 'x-failed-recipients') ?? '').slice(0, 10_000).split(',');
  const addresses = named.map((one) => one.trim().toLowerCase()).filter((one) => one.includes('@'));
  const reply = joined(lines);
  if (addresses.length === 0) return [{ address: null, reply }];
  return addresses.slice(0, LIMITS.recipients).map((address) => ({ address, reply }));
}

/** The fields of a delivery status (RFC 3464) that a text contains; null if there are none. */
export function statusFieldsIn(message: Message): Uint8Array | null {
  const text = textOf(message).slice(0, MAX_TEXT);
  const start = /^(?:Reporting-MTA|Final-Recipient|Original-Recipient|Action): ?\S/im.exec(
    text,
  )?.index;
  const isStatus = start !== undefined && /^Action: ?(?:failed|delayed)/im.test(text.slice(start));
  return isStatus ? Buffer.from(text.slice(start)) : null;
}
