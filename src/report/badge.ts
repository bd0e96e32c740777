/** Flat badges for external pages: a label and a message as a self-contained SVG. */

import { escapeHtml, truncate } from '../lib/format/plain-text.ts';

export type BadgeState = 'healthy' | 'warning' | 'critical' | 'unknown';

/** White text has a contrast of at least 4.5 on each. */
const COLORS: Record<BadgeState, string> = {
  healthy: '#1f7a45',
  warning: '#8f6000',
  critical: '#b3201a',
  unknown: '#585a6b',
};
const LABEL_COLOR = '#33353f';

export const badgeColor = (state: BadgeState): string => COLORS[state];

/** Longer text is truncated. */
const MAX_LENGTH = 60;
const FONT_SIZE = 11;
const PADDING = 7;
const HEIGHT = 20;

export function badgeSvg(badge: { label: string; message: string; state: BadgeState }): string {
  const [label, message] = [shortened(badge.label), shortened(badge.message)];
  const [left, right] = [boxWidth(label), boxWidth(message)];
  const width = left + right;
  const name = escapeHtml(`${label}: ${message}`);
  // Corners are arcs: a clip path needs an ID, which would not be unique on a page with two badges.
  const labelBox = `<path fill="${LABEL_COLOR}" d="M4 0H${left}V${HEIGHT}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>`;
  const messageBox = `<path fill="${badgeColor(badge.state)}" d="M${left} 0H${width - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H${left}z"/>`;
  const textGroup = `<g fill="#fff" font-family="Verdana,'DejaVu Sans',Geneva,sans-serif" font-size="${FONT_SIZE}">${textElement(label, 0)}${textElement(message, left)}</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${name}"><title>${name}</title>${labelBox}${messageBox}${textGroup}</svg>`;
}

/** `textLength` makes any other font fit the measured width. */
function textElement(text: string, x: number): string {
  return `<text x="${x + PADDING}" y="14" textLength="${textWidth(text)}" lengthAdjust="spacingAndGlyphs" direction="ltr" xml:space="preserve">${escapeHtml(text)}</text>`;
}

const shortened = (text: string): string => truncate(text, MAX_LENGTH);

const boxWidth = (text: string): number => textWidth(text) + 2 * PADDING;

/** The characters of each width in a wide sans-serif font, U+0020 to U+007E: tenths of a unit at font size 11. */
const WIDTHS: Record<number, string> = {
  31: "'ijl",
  32: 'IJ',
  35: ' ,.',
  37: '/:;\\|',
  39: 'f',
  40: '-',
  43: '()[]t!',
  45: 'r',
  51: '"',
  55: '*_`',
  58: 's?z',
  60: 'cL',
  64: 'Fk',
  65: 'vxy',
  67: 'PTYaoe',
  70: '$0123456789ESbdghnpqu{}',
  75: 'ABVXZKR',
  77: 'C',
  82: 'UNH',
  86: 'DG&OQ',
  90: 'w',
  92: '#+<=>^~',
  95: 'M',
  108: '%mW@',
};
const WIDTH_OF = new Map(
  Object.entries(WIDTHS).flatMap(([width, characters]) =>
    [...characters].map((char) => [char, Number(width)] as const),
  ),
);
/** Ideographs are square; other characters without an entry count as wide letters. */
const IDEOGRAPH_WIDTH = 110;
const DEFAULT_WIDTH = 78;
const IDEOGRAPH =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

function textWidth(text: string): number {
  let tenths = 0;
  for (const char of text)
    tenths +=
      WIDTH_OF.get(char) ??
      (/\p{M}/u.test(char) ? 0 : IDEOGRAPH.test(char) ? IDEOGRAPH_WIDTH : DEFAULT_WIDTH);
  return Math.ceil(tenths / 10);
}
