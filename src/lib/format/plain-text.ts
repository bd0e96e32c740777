/** Text for emails: their plain-text part and their HTML. */

import { printable } from '../log.ts';

/** Maximum line length of the text part. Longer words, such as URLs, are kept whole. */
const MAX_LINE_LENGTH = 72;
const ELLIPSIS = '…';

/** One line of printable characters, for untrusted text. */
export const singleLine = (text: string): string =>
  printable(text.toWellFormed().replace(/\s+/g, ' ')).trim();

/** One line of at most `max` characters. */
export function truncate(text: string, max: number): string {
  const characters = [...singleLine(text)];
  if (characters.length <= max) return characters.join('');
  return `${characters
    .slice(0, max - 1)
    .join('')
    .trimEnd()}${ELLIPSIS}`;
}

/** Wraps text to the lines of the text part; lines after the first begin with `indent`. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of singleLine(text).split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > MAX_LINE_LENGTH) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML and for HTML attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);

/** Any text as one line of HTML. */
export const toHtmlText = (text: string): string => escapeHtml(singleLine(text));
