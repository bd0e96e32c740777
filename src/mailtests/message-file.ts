/** Recognizes files and uploads that are not one email message, and says how to get a message file instead. */

const HOW_TO_SAVE =
  'Save the message as an .eml file (in Gmail: “Download message”, in Thunderbird: “Save As”)';

/** Files by their first bytes. */
const SIGNATURES: [bytes: number[], description: string, advice?: string][] = [
  [
    [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    'an Outlook .msg file or an old Office document',
    'Save the message as an .eml file: in Outlook, use “Save As” or, on the web, “Download as EML”',
  ],
  [
    [0x21, 0x42, 0x44, 0x4e],
    'an Outlook data file (.pst or .ost)',
    'Save one message from it as an .eml file',
  ],
  [
    [0x78, 0x9f, 0x3e, 0x22],
    'an Outlook attachment (winmail.dat)',
    'Save the message that contains it as an .eml file',
  ],
  [[0x1f, 0x8b], 'a gzip archive', 'Unpack it and check the message inside'],
  [
    [0x50, 0x4b, 0x03, 0x04],
    'a ZIP archive or an Office document',
    'If it contains a message, unpack it first',
  ],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF'],
  [[0xff, 0xd8, 0xff], 'a JPEG image'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
  [[0x47, 0x49, 0x46, 0x38], 'a GIF image'],
  [[0x7f, 0x45, 0x4c, 0x46], 'a program'],
  [[0x4d, 0x5a], 'a Windows program'],
  [[0xff, 0xfe], 'text in UTF-16', 'Save the original message without converting it'],
  [[0xfe, 0xff], 'text in UTF-16', 'Save the original message without converting it'],
];

/** Formats of text by their beginning, after white space. */
const TEXT_FORMATS: [pattern: RegExp, description: string, advice?: string][] = [
  [
    /^(?:<!doctype html|<html|<head|<body|<!--)/i,
    'an HTML page',
    'A report needs the header of the message. Save the whole message as an .eml file',
  ],
  [/^<\?xml/i, 'an XML document'],
  [/^\{\\rtf/, 'an RTF document'],
  [/^[{[]/, 'JSON'],
  [
    /^\d+[ \t]*\r?\n[!-9;-~]+:/,
    'an Apple Mail .emlx file',
    'In Mail, choose “Save As” with the format “Raw Message Source”',
  ],
];

/** Fields of which every message has at least one. */
const KNOWN_FIELD =
  /^(?:from|to|cc|subject|date|received|message-id|mime-version|content-type|return-path|delivered-to|reply-to|sender|dkim-signature|list-[a-z-]+|x-[!-9;-~]+)[ \t]*:/im;

/** Enough for the header of any real message. */
export const MAX_HEADER_BYTES = 256 * 1024;

/**
 * What the file is and what to do, as sentences without a final period; null for one message.
 * `name` is the name of the file, "Standard input", or "The request body". Fast for hostile bytes too.
 */
export function notAMessage(name: string, bytes: Uint8Array): string | null {
  const signature = SIGNATURES.find(([start]) =>
    start.every((byte, index) => bytes[index] === byte),
  );
  const start = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, MAX_HEADER_BYTES),
  );
  const text = start.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
  const header = headerOf(text);
  // Any message, however strange, is analyzed.
  if (!signature && KNOWN_FIELD.test(header)) return mailboxProblem(name, bytes, text);
  const format =
    signature?.slice(1) ?? TEXT_FORMATS.find(([each]) => each.test(text.trimStart()))?.slice(1);
  if (format) {
    const [description, advice = HOW_TO_SAVE] = format as [string, string?];
    return `${name} is ${description}, not an email message. ${advice}`;
  }
  if (text.trim() === '') return `${name} contains only white space. ${HOW_TO_SAVE}`;
  const description = header.includes('\0') ? 'a binary file' : 'not an email message';
  return `${name} is ${description}: it does not begin with header fields such as From and Subject. ${HOW_TO_SAVE}`;
}

const headerOf = (text: string): string => text.split(/\r?\n\r?\n/, 1)[0] ?? '';

/**
 * The line before each message of an mbox file: `From alex@example.net Mon Nov 23 09:30:00 2026`. Its parts have
 * bounds, so that no line takes long to match.
 */
const MBOX_LINE = /(?:^|\n\r?\n)From \S{1,320} ([^\r\n]{1,200})(?=\r?\n[!-9;-~]{1,80}:)/g;
const CLOCK = /\d\d:\d\d/;

function mailboxProblem(name: string, bytes: Uint8Array, text: string): string | null {
  if (!text.startsWith('From ')) return null;
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const lines = [...whole.matchAll(MBOX_LINE)];
  const count = lines.filter(([, date]) => CLOCK.test(date!)).length;
  if (count < 2) return null;
  return `${name} is a mailbox file (mbox) with ${count} messages. Save the message to check as its own .eml file`;
}
