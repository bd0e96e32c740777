/** Words as an e-mail of ours writes them, in its text part and in its HTML. */

import { printable } from '../lib/log.ts';

/** Lines of the text part, but for addresses, which are never broken. */
const WIDTH = 72;
const ELLIPSIS = '…';

/** One line of visible characters: names and subjects come from strangers. */
export const plain = (text: string): string =>
  printable(text.toWellFormed().replace(/\s+/g, ' ')).trim();

/** The same, of at most `max` characters. */
export function cut(text: string, max: number): string {
  const characters = [...plain(text)];
  if (characters.length <= max) return characters.join('');
  return `${characters
    .slice(0, max - 1)
    .join('')
    .trimEnd()}${ELLIPSIS}`;
}

/** In lines of the text part; those after the first begin with `indent`. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > WIDTH) {
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

/** For HTML, within an attribute too. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);

/** Whatever text, as it may stand in HTML. */
export const shown = (text: string): string => escaped(plain(text));
