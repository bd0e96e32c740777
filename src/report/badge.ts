/** A flat badge for pages of others: what it tells of, and how that is, as an SVG that needs nothing else. */

import { cut, escaped } from './plain-text.ts';

export type BadgeState = 'healthy' | 'warning' | 'critical' | 'unknown';

/** White text on each has a contrast of 4.5 or more. */
const COLOURS: Record<BadgeState, string> = {
  healthy: '#1f7a45',
  warning: '#8f6000',
  critical: '#b3201a',
  unknown: '#585a6b',
};
const LABEL_GROUND = '#33353f';

export const badgeColour = (state: BadgeState): string => COLOURS[state];

/** Longer text is cut: a badge stands in a line. */
const MOST = 60;
const SIZE = 11;
const PADDING = 7;
const HEIGHT = 20;

export function badgeSvg(badge: { label: string; message: string; state: BadgeState }): string {
  const [label, message] = [shortened(badge.label), shortened(badge.message)];
  const [left, right] = [boxWidth(label), boxWidth(message)];
  const width = left + right;
  const name = escaped(`${label}: ${message}`);
  // Corners as arcs: an id to clip by would be another's, where a page holds two badges.
  const ground = `<path fill="${LABEL_GROUND}" d="M4 0H${left}V${HEIGHT}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>`;
  const state = `<path fill="${badgeColour(badge.state)}" d="M${left} 0H${width - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H${left}z"/>`;
  const words = `<g fill="#fff" font-family="Verdana,'DejaVu Sans',Geneva,sans-serif" font-size="${SIZE}">${word(label, 0)}${word(message, left)}</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${name}"><title>${name}</title>${ground}${state}${words}</svg>`;
}

/** Its width is said, so that a font other than the one that was measured fits as well. */
function word(text: string, x: number): string {
  return `<text x="${x + PADDING}" y="14" textLength="${textWidth(text)}" lengthAdjust="spacingAndGlyphs" direction="ltr" xml:space="preserve">${escaped(text)}</text>`;
}

const shortened = (text: string): string => cut(text, MOST);

const boxWidth = (text: string): number => textWidth(text) + 2 * PADDING;

/** In tenths of a unit, at a size of 11, of U+0020 to U+007E in a wide sans-serif font: what has that width. */
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
/** An ideograph is as wide as it is high; another letter that is not here is like a wide one. */
const WIDE = 110;
const OTHER = 78;
const IDEOGRAPH =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

function textWidth(text: string): number {
  let tenths = 0;
  for (const char of text)
    tenths += WIDTH_OF.get(char) ?? (/\p{M}/u.test(char) ? 0 : IDEOGRAPH.test(char) ? WIDE : OTHER);
  return Math.ceil(tenths / 10);
}
