/** The text part as a text client shows it: paragraphs, quotes, the signature, and what may look wrong. */

import { parseStructuredField } from '../../analysis/mime/headers.ts';
import { MAX_LINE_OCTETS, type Part } from '../../analysis/mime/message.ts';
import { hasVisibleText, withoutControls } from '../../analysis/text.ts';

/** The parameters of its Content-Type (RFC 3676). */
export interface TextFormat {
  formatFlowed: boolean;
  delSp: boolean;
}

export interface TextParagraph {
  /** How many levels of quotes it is in; 0 for the author's own text. */
  quoteDepth: number;
  /** In order. URLs are marked, to be shown without a link. */
  spans: { text: string; isUrl: boolean }[];
  /** The separator "-- " or a line after it. */
  isSignature: boolean;
}

export interface ShownText {
  /** With format=flowed a paragraph, else a line; empty lines have no spans. Clients wrap each to the screen. */
  paragraphs: TextParagraph[];
  /** What text clients show differently from what the author meant, as sentences. */
  notes: string[];
  /** Only the start is shown. */
  truncated: boolean;
}

/** Characters that are shown. */
export const MAX_TEXT = 200_000;
const MAX_PARAGRAPHS = 3000;
const MAX_QUOTE_DEPTH = 20;
/** URLs that are marked. */
const MAX_URLS = 2000;

/** The format of the text that a message shows: flowed only if all its text parts are. */
export function textFormatOf(parts: readonly Part[]): TextFormat {
  const formats = parts
    .filter(({ type, disposition }) => type === 'text/plain' && disposition !== 'attachment')
    .map(({ fields }) => {
      const field = fields.find(({ key }) => key === 'content-type');
      const { params } = parseStructuredField(field?.value ?? '');
      const isFlowed = params.get('format')?.toLowerCase() === 'flowed';
      return { isFlowed, delSp: params.get('delsp')?.toLowerCase() === 'yes' };
    });
  const formatFlowed = formats.length > 0 && formats.every(({ isFlowed }) => isFlowed);
  return { formatFlowed, delSp: formatFlowed && formats.every(({ delSp }) => delSp) };
}

/** Never throws. Takes linear time. `text` has LF line ends, as in `Message`. */
export function textAsShown(text: string, format: TextFormat): ShownText {
  const isTooLong = text.length > MAX_TEXT;
  const source = withoutControls(text.slice(0, MAX_TEXT));
  if (!hasVisibleText(source))
    return { paragraphs: [], notes: ['The text part is empty.'], truncated: isTooLong };
  const lines = source.trimEnd().split('\n');
  const all = format.formatFlowed ? flowedParagraphs(lines, format.delSp) : lines.map(fixedLine);
  const truncated = isTooLong || all.length > MAX_PARAGRAPHS;
  const budget = { urls: MAX_URLS };
  const shown = markSignature(all.slice(0, MAX_PARAGRAPHS));
  return {
    paragraphs: shown.map(({ quoteDepth, text: words, isSignature }) => ({
      quoteDepth,
      spans: spansOf(words, budget),
      isSignature,
    })),
    notes: notesOn(lines, format),
    truncated,
  };
}

interface Paragraph {
  quoteDepth: number;
  text: string;
}

/** RFC 3676 §4.3. */
const SIGNATURE_SEPARATOR = '-- ';

function fixedLine(line: string): Paragraph {
  const quote = /^(?:> ?)+/.exec(line)?.[0] ?? '';
  return { quoteDepth: depthOf(quote), text: line.slice(quote.length) };
}

const depthOf = (quote: string): number =>
  Math.min(quote.replaceAll(' ', '').length, MAX_QUOTE_DEPTH);

/** Joins the lines that end with a space to the next one of the same quote depth (RFC 3676 §4). */
function flowedParagraphs(lines: string[], delSp: boolean): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let open: { quoteDepth: number; pieces: string[] } | null = null;
  const end = () => {
    if (open) paragraphs.push({ quoteDepth: open.quoteDepth, text: open.pieces.join('') });
    open = null;
  };
  for (const line of lines) {
    const { quoteDepth, text } = unquoted(line);
    const isSeparator = text === SIGNATURE_SEPARATOR;
    if (open !== null && (open.quoteDepth !== quoteDepth || isSeparator)) end();
    open ??= { quoteDepth, pieces: [] };
    const isFlowed = text.endsWith(' ') && !isSeparator;
    open.pieces.push(isFlowed && delSp ? text.slice(0, -1) : text);
    if (!isFlowed) end();
  }
  end();
  return paragraphs;
}

/** Removes the quote marks, then the space that protects a line (RFC 3676 §4.4, §4.5). */
function unquoted(line: string): Paragraph {
  const quote = /^>*/.exec(line)![0];
  const text = line.slice(quote.length);
  return { quoteDepth: depthOf(quote), text: text.startsWith(' ') ? text.slice(1) : text };
}

function markSignature(paragraphs: Paragraph[]): (Paragraph & { isSignature: boolean })[] {
  const separator = paragraphs.findLastIndex(
    ({ quoteDepth, text }) => quoteDepth === 0 && text === SIGNATURE_SEPARATOR,
  );
  return paragraphs.map((paragraph, index) => ({
    ...paragraph,
    isSignature: separator >= 0 && index >= separator && paragraph.quoteDepth === 0,
  }));
}

const URL = /\b(?:https?:\/\/|www\.|mailto:)[^\s<>"]{1,4000}/gi;
/** Punctuation of the sentence after a URL. */
const TRAILING = /[.,;:!?'’”)\]]{1,20}$/;

function spansOf(text: string, budget: { urls: number }): TextParagraph['spans'] {
  const spans: TextParagraph['spans'] = [];
  let from = 0;
  const add = (to: number, isUrl: boolean) => {
    if (to > from) spans.push({ text: text.slice(from, to), isUrl });
    from = Math.max(from, to);
  };
  for (const match of text.matchAll(URL)) {
    budget.urls -= 1;
    if (budget.urls < 0) break;
    add(match.index, false);
    add(match.index + urlLength(match[0]), true);
  }
  add(text.length, false);
  return spans;
}

/** A closing parenthesis belongs to the URL if it opened one. */
function urlLength(url: string): number {
  const trailing = TRAILING.exec(url)?.[0] ?? '';
  const keepsParenthesis = trailing.startsWith(')') && url.includes('(');
  return url.length - trailing.length + (keepsParenthesis ? 1 : 0);
}

// What may look wrong, as sentences.

/** Characters that a line should have at most (RFC 5322 §2.1.1). */
const MAX_LINE = 78;
/** The length of the lines of text that was wrapped before sending. */
const WRAPPED = { min: 55, max: 80 };
const TAG =
  /<\/?(?:a|b|body|br|div|font|head|html|i|img|li|p|span|strong|style|table|td|tr|ul)\b[^<>]{0,500}>/i;
const ENTITY =
  /&(?:nbsp|amp|lt|gt|quot|zwnj|rsquo|lsquo|mdash|ndash|copy|#\d{2,6}|#x[\da-f]{2,5});/i;

function notesOn(lines: string[], { formatFlowed }: TextFormat): string[] {
  const text = lines.join('\n');
  return [
    formatFlowed ? flowedNote(lines) : wrappedNote(lines),
    ...longLineNotes(lines),
    urlNote(text),
    signatureNote(lines),
    TAG.test(text)
      ? `The text contains HTML tags such as ${TAG.exec(text)![0].slice(0, 40)}. Text clients show them as they are.`
      : null,
    ENTITY.test(text)
      ? `The text contains HTML entities such as ${ENTITY.exec(text)![0]}. Text clients show them as they are.`
      : null,
  ].filter((note) => note !== null);
}

const flowedNote = (lines: string[]): string | null =>
  lines.length < 3 || lines.some((line) => line.endsWith(' ') && line !== SIGNATURE_SEPARATOR)
    ? null
    : 'The text is declared as format=flowed, but no line ends with a space, so every line stays as it is.';

/** Lines that end where the first word of the next one had no space left: wrapped before sending. */
function wrappedNote(lines: string[]): string | null {
  const lengths = lines.map((line) => line.length).filter((length) => length <= WRAPPED.max);
  const column = lengths.reduce((a, b) => Math.max(a, b), 0);
  const isWrapped = lines.some((line, index) => {
    const next = FIRST_WORD.exec(lines[index + 1] ?? '')?.[0] ?? '';
    return (
      line.length >= WRAPPED.min &&
      line.length <= column &&
      next !== '' &&
      line.length + 1 + next.length > column &&
      !URL_ALONE.test(line)
    );
  });
  return isWrapped
    ? `The text is not format=flowed: on a narrow screen its lines of up to ${column} characters break twice.`
    : null;
}

/** Not a bullet, a quote mark or a URL. */
const FIRST_WORD = /^(?!https?:|www\.)[\p{L}\p{N}(“"']\S{0,30}/u;
const URL_ALONE = /^\s*<?(?:https?:\/\/|www\.)\S*\s*$/i;

function longLineNotes(lines: string[]): string[] {
  const long = lines
    .map((line, index) => ({ length: lengthOf(line), number: index + 1, line }))
    .filter(({ length, line }) => length > MAX_LINE && !URL_ALONE.test(line));
  if (long.length === 0) return [];
  const longest = long.reduce((a, b) => (b.length > a.length ? b : a));
  const count = longest.length.toLocaleString('en');
  if (longest.length > MAX_LINE_OCTETS)
    return [
      `Line ${longest.number} has ${count} characters. Over ${MAX_LINE_OCTETS}, mail servers may break a line unless it is encoded, for example as quoted-printable.`,
    ];
  if (long.length === 1)
    return [`Line ${longest.number} has ${count} characters, more than ${MAX_LINE}. ${LONG_LINES}`];
  return [
    `${long.length.toLocaleString('en')} lines are longer than ${MAX_LINE} characters, the longest (line ${longest.number}) has ${count}. ${LONG_LINES}`,
  ];
}

const LONG_LINES = 'Most clients wrap such lines; some require horizontal scrolling.';

/** Characters, counted only where it matters. */
const lengthOf = (line: string): number =>
  line.length > MAX_LINE ? [...line].length : line.length;

function urlNote(text: string): string | null {
  const lengths = [...text.matchAll(URL)]
    .map(([url]) => urlLength(url))
    .filter((length) => length > MAX_LINE);
  if (lengths.length === 0) return null;
  const longest = lengths.reduce((a, b) => Math.max(a, b)).toLocaleString('en');
  return lengths.length === 1
    ? `A URL has ${longest} characters, so it breaks over several lines.`
    : `${lengths.length.toLocaleString('en')} URLs are longer than ${MAX_LINE} characters (the longest has ${longest}), so they break over several lines.`;
}

const signatureNote = (lines: string[]): string | null =>
  lines.includes('--') && !lines.includes(SIGNATURE_SEPARATOR)
    ? 'The line “--” before the signature has lost its space, so clients do not recognize the signature.'
    : null;
