/**
 * Reads bounces without fields for programs: the text of a mail server, by the lines with which its program begins
 * (`bounce-texts.json`). Only a mail server writes them; a person may quote or forward one.
 */

import { decodeText } from '../../analysis/mime/decode.ts';
import { fields, fieldValue, type Message } from '../../analysis/mime/message.ts';
import data from './bounce-texts.json' with { type: 'json' };
import { LIMITS } from './limits.ts';

/** How `bounce-texts.json` describes them: regular expressions, most for the beginning of a line. */
export interface BounceTexts {
  source: string;
  /** For the From field. */
  senders: string[];
  /** The lines with which they begin to name recipients. */
  programs: { name: string; start: string[] }[];
  /** What follows is the message that was returned. */
  ends: string[];
  /** What stands before the address of a recipient. */
  labels: string[];
  /** Anywhere in the text. */
  delayed: string[];
}

/** What a text says about a recipient. */
export interface ToldRecipient {
  address: string | null;
  reply: string;
}

export interface BounceText {
  recipients: ToldRecipient[];
  delayed: boolean;
  /** The message that was returned, or its header, if it stands in the text. */
  returned: string | null;
}

const { senders, programs, ends, labels, delayed }: BounceTexts = data;
const either = (sources: string[]) => `(?:${sources.join('|')})`;
const SENDER = new RegExp(either(senders), 'i');
const START = new RegExp(`^\\s*${either(programs.flatMap(({ start }) => start))}`, 'i');
const END = new RegExp(`^\\s*${either(ends)}`, 'i');
const LABEL = new RegExp(`(?:^|\\b)${either(labels)}\\s*$`, 'i');
/** Says nothing about the reason. */
const BARE_LABEL = /^(?:recipient|recipient address|to|rcpt to)\s?:?$/i;
const DELAYED = new RegExp(either(delayed), 'i');

/** Of the text, without the returned message. */
const MAX_LINES = 500;
const MAX_LINE = 1000;
const MAX_TEXT = 100_000;
/** A program begins its text with what it is. */
const MAX_START = 60;

/** Whether a mail server may have sent it: by its From field, not as a list does. */
export const isFromServer = (message: Message): boolean =>
  SENDER.test((fieldValue(message, 'from') ?? '').slice(0, MAX_LINE)) &&
  fields(message, 'list-id').length === 0;

/** null if it is not the text of a bounce. */
export function readBounceText(message: Message): BounceText | null {
  if (!isFromServer(message)) return null;
  const text = textOf(message);
  const whole = text.split('\n', MAX_LINES);
  const lines = whole.map((line) => line.slice(0, MAX_LINE));
  const start = lines.slice(0, MAX_START).findIndex((line) => START.test(line));
  if (start < 0) return null;
  const length = lines.slice(start + 1).findIndex((line) => END.test(line));
  const end = length < 0 ? lines.length : start + 1 + length;
  const told = lines.slice(start, end);
  const found = readRecipients(told);
  return {
    recipients: found.length > 0 ? found : namedElsewhere(message, told),
    delayed: DELAYED.test(told.join(' ')),
    returned: length < 0 ? null : returnedOf(text, whole, end),
  };
}

/** A multipart whose boundary never occurs is one part, with its text in it. */
function textOf({ text, html, parts }: Message): string {
  if (text?.trim()) return text;
  if (html?.trim()) return html.slice(0, MAX_TEXT).replace(/<[^<>]{0,300}>/g, ' ');
  const whole = parts.find(({ type }) => type.startsWith('multipart/'));
  return whole
    ? decodeText(whole.content.subarray(0, MAX_TEXT), 'utf-8').replaceAll('\r\n', '\n')
    : '';
}

/** From its first field on. */
function returnedOf(text: string, lines: string[], end: number): string | null {
  const first = lines.findIndex((line, index) => index >= end && FIELD.test(line));
  if (first < 0) return null;
  return text.slice(lines.slice(0, first).reduce((sum, line) => sum + line.length + 1, 0));
}

/** A header field, unlike "Original Message:" without a value. */
const FIELD = /^[A-Za-z][\w-]{1,60}: ?\S/;

/** Of a line, what comes before the address and after it. */
const ADDRESS = /^([^@]{0,200}?)(?:mailto:)?([^\s<>"'()[\]:;,@]{1,64}@[\w.-]{1,255}\w)(.*)$/;

/** The address is the first thing in a line, but for a label, or comes after the code of a reply. */
function addressIn(line: string): { address: string; lead: string; rest: string } | null {
  const [, before, address, rest] = ADDRESS.exec(line) ?? [];
  if (before === undefined) return null;
  const lead = before.replace(/[\s<>"'*•|([]+$/, '').trim();
  if (lead !== '' && !/^[>*•-]+$/.test(lead) && !LABEL.test(lead) && !/^\S+:\d+:$/.test(lead))
    return null;
  return { address: address!.toLowerCase(), lead, rest: rest!.replace(/^[\s>"'\])]*[:,]?/, '') };
}

function readRecipients(lines: string[]): ToldRecipient[] {
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

/** The address of the sender follows. */
const SENT_BY = /\b(?:sent by|from)\s*$/i;
/** A line that begins with the code of a reply. */
const REPLY = /^\s*[45]\d\d[ -]/;

/** Old versions of Sendmail name the recipients within their replies only. */
function readTranscript(lines: string[]): ToldRecipient[] {
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

/** Exim and Gmail repeat the recipients in a field. */
function namedElsewhere(message: Message, lines: string[]): ToldRecipient[] {
  const named = (fieldValue(message, 'x-failed-recipients') ?? '').slice(0, 10_000).split(',');
  const addresses = named.map((one) => one.trim().toLowerCase()).filter((one) => one.includes('@'));
  const reply = joined(lines);
  if (addresses.length === 0) return [{ address: null, reply }];
  return addresses.slice(0, LIMITS.recipients).map((address) => ({ address, reply }));
}

/** The fields of a delivery status within a text, from the first one on; null if there are none. */
export function statusFieldsIn(message: Message): Uint8Array | null {
  const text = textOf(message).slice(0, MAX_TEXT);
  const start = /^(?:Reporting-MTA|Final-Recipient|Original-Recipient|Action): ?\S/im.exec(
    text,
  )?.index;
  const isStatus = start !== undefined && /^Action: ?(?:failed|delayed)/im.test(text.slice(start));
  return isStatus ? Buffer.from(text.slice(start)) : null;
}
