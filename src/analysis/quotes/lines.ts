/** The lines of a text and of HTML, and what email clients mark in them as quoted. */

import { BLOCKS } from '../html/elements.ts';
import { type Attributes, tokenizeHtml } from '../html/tokens.ts';

/** A part of the source. */
export interface Range {
  start: number;
  end: number;
}

export interface Line {
  text: string;
  /** The pieces of the source that have its text. */
  ranges: Range[];
  /**
   * `cited`: an email client marked it as quoted. `block`: in an ordinary `blockquote`, which any page
   * may have. `intro`: a client marked it as the line above a quote or a forwarded message.
   */
  mark: 'cited' | 'block' | 'intro' | null;
  /** The marked element around it; null in a text. */
  element: Range | null;
}

// More than people write above and between quotes.
const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 1000;

/** The lines of a text part. The last one has the rest beyond the limit. */
export function linesOfText(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = lines.length >= MAX_LINES ? -1 : text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed + 1;
    const line = text.slice(start, Math.min(end, start + MAX_LINE_LENGTH));
    const mark = /^ {0,3}>/.test(line) ? 'cited' : null;
    lines.push({ text: line.trim(), ranges: [{ start, end }], mark, element: null });
    start = end;
  }
  return lines;
}

/** What email clients call the elements around quoted messages, in `class`, `id` or `name`. */
const CITED =
  /(?:^|\s)(?:gmail_quote(?!_container)|protonmail_quote|tutanota_quote|zmail_extra|yahoo_quoted\S*|ydp\S{1,20}yahoo_quoted|moz-forward-container|front-blockquote|missive_quote|ik_mail_quote|isReplyContent|blockquote_zmail|mail-editor-reference-message-container|messageReplySection|quote)(?:\s|$)/i;
/** Those around the line above. Outlook's has the copied fields, which are found by their words. */
const INTRO =
  /(?:^|\s)(?:gmail_attr|moz-cite-prefix|moz-email-headers-table|reply-intro|zmail_extra_hr)(?:\s|$)/i;
/** An element around a whole reply, which may contain the answer too. */
const CONTAINER = /(?:^|\s)gmail_quote(?:\s|$)/i;

/** Whether HTML may have a marked element; most has none, and is not read again. */
export const mayHaveQuotes = (html: string): boolean =>
  /<blockquote|gmail_|_quote|cite-prefix|forward-container|zmail_extra|isReplyContent|reply-intro|reference-message|ReplySection|name="quote"|divRplyFwdMsg|border-top:solid #(?:E1E1E1|B5C4DF)|[-_]{4}/i.test(
    html,
  );

/** In the order of the HTML. An element that is marked also has an empty line, for its images. */
export function linesOfHtml(html: string): Line[] {
  const lines: Line[] = [];
  let marked: { name: string; depth: number; mark: Line['mark']; element: Range } | null = null;
  let text = '';
  let ranges: Range[] = [];
  // Where the text after the last tag begins, and the element whose content is not text.
  let from = 0;
  let raw = '';
  const endLine = (isKept = false) => {
    if ((text.trim() !== '' || isKept) && lines.length < MAX_LINES)
      lines.push({
        text: text.replace(/\s+/g, ' ').trim(),
        ranges,
        mark: marked?.mark ?? null,
        element: marked?.element ?? null,
      });
    text = '';
    ranges = [];
  };
  const endText = (tagStart: number, tagEnd: number) => {
    const range = ranges.at(-1);
    if (range && range.end < 0) range.end = tagStart;
    from = tagEnd;
  };
  tokenizeHtml(html, {
    open(name, attributes, _, start, end) {
      endText(start, end);
      if (name === 'style' || name === 'script' || name === 'title') raw = name;
      if (BLOCKS.has(name) || name === 'br') endLine();
      if (marked?.name === name) marked.depth += 1;
      const mark = marked === null ? markOf(name, attributes) : null;
      if (mark === null) return;
      endLine();
      marked = { name, depth: 1, mark, element: { start, end: html.length } };
      endLine(mark !== 'intro');
    },
    close(name, start) {
      const end = html.indexOf('>', start) + 1 || html.length;
      endText(start, end);
      if (name === raw) raw = '';
      if (BLOCKS.has(name)) endLine();
      if (marked?.name !== name) return;
      marked.depth -= 1;
      if (marked.depth > 0) return;
      endLine();
      marked.element.end = end;
      marked = null;
    },
    text(piece) {
      if (raw !== '') return;
      if (text.length < MAX_LINE_LENGTH) text += piece;
      if (ranges.at(-1)?.start !== from) ranges.push({ start: from, end: -1 });
    },
    broken() {},
    isForeign: () => false,
  });
  endText(html.length, html.length);
  endLine();
  return lines;
}

function markOf(name: string, attributes: Attributes): Line['mark'] {
  const names = ['class', 'id', 'name', 'data-marker']
    .map((attribute) => attributes.get(attribute)?.slice(0, 200) ?? '')
    .join(' ');
  if (INTRO.test(names)) return 'intro';
  const isBlock = name === 'blockquote';
  if (isBlock && /^cite$/i.test(attributes.get('type')?.trim() ?? '')) return 'cited';
  // Gmail puts answers between quotes into the container, and a forwarded message in it has no quote.
  if (CITED.test(names) && (isBlock || !CONTAINER.test(names))) return 'cited';
  return isBlock ? 'block' : null;
}
