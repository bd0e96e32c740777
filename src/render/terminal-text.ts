/** Text for a terminal: wrapping, colour where wanted, nothing that moves the cursor. */

import { styleText } from 'node:util';
import { printable } from '../lib/log.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'blue';
export type Paint = (style: Style | Style[], text: string) => string;

/** Colours, or leaves the text as it is. */
export function painter(color: boolean): Paint {
  return color
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

/** Words wrapped to `width`, every line indented; what comes from a message is made harmless. */
export function wrap(text: string, width: number, indent = ''): string {
  const room = Math.max(20, width - indent.length);
  return text
    .split('\n')
    .flatMap((line) => wrapLine(printable(line), room))
    .map((line) => indent + line)
    .join('\n');
}

/** A word longer than a line (a DNS record, an address) is kept whole: it must stay copyable. */
function wrapLine(line: string, room: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > room) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  lines.push(current);
  return lines;
}
