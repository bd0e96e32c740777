/** What the sections of a report's e-mail are made of, each piece in both of its parts. */

import type { MadeBlock } from './mail-frame.ts';
import { BREAKS, heading, INK, LINE, note, sheet, type Tone } from './mail-look.ts';
import { plain, shown, wrap } from './mail-text.ts';

/** Below the title, in lines of their own. */
export const subtitle = (lines: string[]): MadeBlock => ({
  text: lines.map((line) => wrap(line)).join('\n'),
  html: lines.map((line) => note(line)).join('\n'),
});

/** A heading with a line below it, and what follows it. */
export function titled(title: string, ...parts: MadeBlock[]): MadeBlock {
  const line = '-'.repeat([...plain(title)].length);
  return {
    text: [`${plain(title)}\n${line}`, ...parts.map(({ text }) => text)]
      .filter((text) => text !== '')
      .join('\n\n'),
    html: [heading(title), ...parts.map(({ html }) => html)].join('\n'),
  };
}

/** Said beside the matter. */
export const remark = (text: string): MadeBlock => ({ text: wrap(text), html: note(text) });

export interface Row {
  title: string;
  /** Below the title. */
  more?: string;
  /** To the right of it, short. */
  value: string;
  tone?: Tone;
}

/** A row for each, its value to the right; in the text part the value stands first. */
export function rows(list: Row[]): MadeBlock {
  return {
    text: list
      .map(({ title, more, value }) =>
        [wrap(`- ${value}: ${title}`, '  '), ...(more ? [`  ${wrap(more, '  ')}`] : [])].join('\n'),
      )
      .join('\n'),
    html: sheet(list.map(rowHtml).join('')),
  };
}

function rowHtml({ title, more, value, tone = 'ink' }: Row): string {
  const below = more
    ? `<br><span class="muted" style="color:${INK.muted}">${shown(more)}</span>`
    : '';
  return `<tr><td valign="top" class="ink line" style="padding:8px 16px 8px 0;${LINE};color:${INK.ink};${BREAKS}"><bdi>${shown(title)}</bdi>${below}</td><td align="right" valign="top" class="${tone} line" style="padding:8px 0;${LINE};color:${INK[tone]};font-weight:600;white-space:nowrap">${shown(value)}</td></tr>`;
}
