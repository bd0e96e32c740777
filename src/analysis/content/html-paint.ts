/** The colours of text and of what is behind it, as far as they are known. */

import { type Color, readBackground, readColor, readColorAttribute } from './html-colors.ts';
import { readLength, type ValueOf } from './html-hiding.ts';
import type { Attributes } from './html-tokens.ts';

/** Of the text; unknown where it is that of a link, for each program has its own. */
export function colorOf(parent: Color, tag: string, attributes: Attributes, value: ValueOf): Color {
  if (value('-webkit-background-clip') === 'text' || value('background-clip') === 'text')
    return null;
  const color = value('-webkit-text-fill-color') || value('color');
  if (color === 'inherit' || color === 'currentcolor') return parent;
  if (color !== '') return readColor(color) ?? null;
  const attribute = tag === 'font' ? 'color' : tag === 'body' ? 'text' : null;
  const named = attribute ? attributes.get(attribute) : undefined;
  if (named !== undefined) return readColorAttribute(named);
  // A link has a colour of its own.
  return tag === 'a' && attributes.has('href') ? null : parent;
}

/** What declares what is behind a text. */
export const BACKGROUNDS = ['background', 'background-color', 'background-image', 'mix-blend-mode'];

/** Elements that programs paint with a colour of their own. */
const PAINTED = new Set(['button', 'input', 'mark', 'optgroup', 'option', 'select', 'textarea']);

/** What is behind the text; unknown where it may lie over something else. */
export function backgroundOf(
  parent: Color,
  tag: string,
  attributes: Attributes,
  value: ValueOf,
): Color {
  if (value('mix-blend-mode') !== '' || isImage(value('background-image'))) return null;
  const colors = ['background', 'background-color'].map((property) =>
    value(property) === '' ? undefined : readBackground(value(property)),
  );
  // The attribute's image stays behind a background-color; only these two replace it.
  const image =
    attributes.has('background') && value('background') === '' && value('background-image') === '';
  if (image || colors.includes(null)) return null;
  const own = colors.findLast((color) => color !== undefined);
  if (own !== undefined && own !== 'transparent') return own;
  const bgcolor = attributes.get('bgcolor');
  if (bgcolor !== undefined && own === undefined) return readColorAttribute(bgcolor);
  return PAINTED.has(tag) || liesOver(value) ? null : parent;
}

const isImage = (value: string): boolean => value !== '' && value !== 'none';

function liesOver(value: ValueOf): boolean {
  const noHeight = ['max-height', 'height'].some((name) => readLength(value(name), 16) === 0);
  const isUp = (property: string) => (readLength(value(property), 16) ?? 0) <= -20;
  return (
    noHeight ||
    /^(?:absolute|fixed)$/.test(value('position')) ||
    isUp('margin-top') ||
    (value('position') === 'relative' && isUp('top'))
  );
}
