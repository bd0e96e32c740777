/** The text of a page: what a browser shows, without its layout. */

import { Parser } from 'htmlparser2';

const BLOCKS =
  /^(?:p|div|section|article|h\d|li|ul|ol|dl|dt|dd|tr|table|form|label|button|summary|details|main|header|footer|nav|title|pre|br|hr|fieldset)$/;

export function textOfHtml(html: string): string {
  let text = '';
  let hidden = 0;
  const parser = new Parser({
    onopentag(name, { alt, placeholder, 'aria-label': label }) {
      if (/^(?:style|script|svg)$/.test(name)) hidden += 1;
      if (BLOCKS.test(name)) text += '\n';
      for (const said of [alt, placeholder, label]) if (said) text += ` [${said}] `;
    },
    ontext(piece) {
      if (hidden === 0) text += piece;
    },
    onclosetag(name) {
      if (/^(?:style|script|svg)$/.test(name)) hidden -= 1;
      if (BLOCKS.test(name)) text += '\n';
    },
  });
  parser.end(html);
  return text
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line, i, lines) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .replace(/\n{2,}/g, '\n')
    .trim();
}
