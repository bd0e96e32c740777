/** How the declarations of an element hide it, regardless of other elements. */

import type { ReadonlyDeclarations } from './css.ts';
import type { Attributes } from './tokens.ts';

/** Returns the declared value of a property; empty if there is none. */
export type ValueOf = (property: string) => string;

/** How an element is hidden, and the properties that would show it if another rule changed them. */
export interface Hiding {
  how: string;
  properties: string[];
}

/** Pixels; no layout moves visible content this far. */
const MIN_OFF_SCREEN_PX = 900;

/** Elements that a height or width of 0 does not hide, because cells grow with their content. */
const GROWING = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'td', 'th', 'caption']);
/** Elements that ignore a height unless a style makes them blocks. */
const INLINE_ELEMENTS = new Set(
  'a abbr b bdi bdo big cite code em font i label s small span strike strong sub sup tt u'.split(
    ' ',
  ),
);

/** The first declaration that hides the element and everything in it; null if none does. */
export function hidingOf(tag: string, declared: ReadonlyDeclarations): Hiding | null {
  const value = (property: string) => declared.get(property)?.value ?? '';
  if (value('display') === 'none') return { how: 'display:none', properties: ['display'] };
  if (readOpacity(value('opacity')) < 0.02) return { how: 'opacity:0', properties: ['opacity'] };
  if (ZERO_OPACITY.test(withoutSpace(value('filter'))))
    return { how: 'opacity:0', properties: ['filter'] };
  if (ZERO_SCALE.test(withoutSpace(value('transform'))))
    return { how: 'transform:scale(0)', properties: ['transform'] };
  return zeroSize(tag, value) ?? offScreen(value);
}

const ZERO_OPACITY = /opacity\((?:0{1,9}|0{0,9}\.0{1,9})%?\)/;
const ZERO_SCALE = /scale(?:3d|x|y)?\((?:0{1,9}|0{0,9}\.0{1,9})[,)]/;
const TRANSLATE = /translate(?:3d|x|y)?\(([^(),]{1,30})(?:,([^(),]{1,30}))?[,)]/;

const withoutSpace = (text: string): string => text.replace(/\s+/g, '');

/** From 0 to 1; 1 for an invalid value. */
function readOpacity(text: string): number {
  const match = /^(\d{1,10}(?:\.\d{0,10})?|\.\d{1,10})(%?)$/.exec(text);
  return match ? Number(match[1]) / (match[2] === '' ? 1 : 100) : 1;
}

function zeroSize(tag: string, value: ValueOf): Hiding | null {
  if (!/^(?:hidden|clip)\b/.test(value('overflow') || value('overflow-y') || value('overflow-x')))
    return null;
  const display = value('display');
  const positioned = /^(?:absolute|fixed)$/.test(value('position'));
  if (GROWING.has(tag) && display === '') return null;
  if (INLINE_ELEMENTS.has(tag) && !positioned && !/block|flex|grid/.test(display)) return null;
  // A box without height but with padding commonly keeps the aspect ratio of an image.
  const padded = (side: string) => {
    const padding = value(`padding-${side}`) || value('padding');
    return /[1-9]/.test(padding);
  };
  const by = ['max-height', 'height', 'max-width', 'width', 'overflow', 'display'];
  for (const property of ['max-height', 'height'])
    if (isZero(value(property)) && !padded('top') && !padded('bottom'))
      return { how: `${property}:0`, properties: by };
  for (const property of ['max-width', 'width'])
    if (isZero(value(property)) && !padded('left') && !padded('right'))
      return { how: `${property}:0`, properties: by };
  return null;
}

/** At most one pixel. */
const isZero = (length: string): boolean => {
  const pixels = readLength(length, 16);
  return pixels !== null && pixels <= 1;
};

function offScreen(value: ValueOf): Hiding | null {
  const isFar = (property: string) => (readLength(value(property), 16) ?? 0) <= -MIN_OFF_SCREEN_PX;
  const positioned = /^(?:absolute|fixed|relative)$/.test(value('position'));
  const moved = ['left', 'top', 'right'].find((property) => positioned && isFar(property));
  const margin = ['margin-left', 'margin-top'].find(isFar);
  const by = moved ?? margin;
  if (by) return { how: 'a position off the screen', properties: [by, 'position'] };
  const shift = TRANSLATE.exec(withoutSpace(value('transform'))) ?? [];
  if (shift.slice(1).some((length) => (readLength(length ?? '', 16) ?? 0) <= -MIN_OFF_SCREEN_PX))
    return { how: 'a position off the screen', properties: ['transform'] };
  const clipped =
    (positioned && /^rect\(\s*(?:[01](?:px)?[\s,]*){4}\)$/.test(value('clip'))) ||
    /^(?:inset\(\s*(?:50|100)%|circle\(\s*0)/.test(value('clip-path'));
  return clipped
    ? { how: 'an empty clip area', properties: ['clip', 'clip-path', 'position'] }
    : null;
}

/** Whether an indent moves the text out of sight. */
export const isFarIndent = (indent: string): boolean =>
  Math.abs(readLength(indent, 16) ?? 0) >= MIN_OFF_SCREEN_PX;

const UNITS: Record<string, number> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
};

/**
 * A length in pixels; `em` and `%` are relative to `base`. Returns null for other units and values such
 * as `auto`, unless the length is zero.
 */
export function readLength(text: string, base: number): number | null {
  const match = /^([+-]?(?:\d{1,10}(?:\.\d{0,10})?|\.\d{1,10}))([a-z]{0,4}|%)$/.exec(text.trim());
  if (!match) return null;
  const number = Number(match[1]);
  const unit = match[2]!;
  if (number === 0) return 0;
  if (Object.hasOwn(UNITS, unit)) return number * UNITS[unit]!;
  if (unit === 'em' || unit === 'ex') return number * base;
  if (unit === 'rem') return number * 16;
  return unit === '%' ? (number / 100) * base : null;
}

// The colors of text and of its background, as far as they are known.

/** The color of text; null for links without a color, which each email client colors differently. */
export function colorOf(parent: Color, tag: string, attributes: Attributes, value: ValueOf): Color {
  if (value('-webkit-background-clip') === 'text' || value('background-clip') === 'text')
    return null;
  const color = value('-webkit-text-fill-color') || value('color');
  if (color === 'inherit' || color === 'currentcolor') return parent;
  if (color !== '') return readColor(color) ?? null;
  const attribute = tag === 'font' ? 'color' : tag === 'body' ? 'text' : null;
  const attributeValue = attribute ? attributes.get(attribute) : undefined;
  if (attributeValue !== undefined) return readColorAttribute(attributeValue);
  return tag === 'a' && attributes.has('href') ? null : parent;
}

/** Properties that declare a background. */
export const BACKGROUNDS = ['background', 'background-color', 'background-image', 'mix-blend-mode'];

/** Elements that have a background by default. */
const WITH_BACKGROUND = new Set([
  'button',
  'input',
  'mark',
  'optgroup',
  'option',
  'select',
  'textarea',
]);

/** The background of text; null if it cannot be determined. */
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
  const declaredColor = colors.findLast((color) => color !== undefined);
  if (declaredColor !== undefined && declaredColor !== 'transparent') return declaredColor;
  const bgcolor = attributes.get('bgcolor');
  if (bgcolor !== undefined && declaredColor === undefined) return readColorAttribute(bgcolor);
  return WITH_BACKGROUND.has(tag) || mayOverlap(value) ? null : parent;
}

const isImage = (value: string): boolean => value !== '' && value !== 'none';

function mayOverlap(value: ValueOf): boolean {
  const hasNoHeight = ['max-height', 'height'].some((name) => readLength(value(name), 16) === 0);
  const isShiftedUp = (property: string) => (readLength(value(property), 16) ?? 0) <= -20;
  return (
    hasNoHeight ||
    /^(?:absolute|fixed)$/.test(value('position')) ||
    isShiftedUp('margin-top') ||
    (value('position') === 'relative' && isShiftedUp('top'))
  );
}

// CSS colors that can hide text.

/** 0xRRGGBB, or `transparent`; null if unknown (images, gradients, semi-transparent colors). */
export type Color = number | 'transparent' | null;

export const NAMED_COLORS: Readonly<Record<string, number>> = {
  aliceblue: 0xf0f8ff,
  aqua: 0x00ffff,
  azure: 0xf0ffff,
  beige: 0xf5f5dc,
  black: 0x000000,
  blue: 0x0000ff,
  darkblue: 0x00008b,
  darkgray: 0xa9a9a9,
  darkgrey: 0xa9a9a9,
  darkgreen: 0x006400,
  darkred: 0x8b0000,
  dimgray: 0x696969,
  dimgrey: 0x696969,
  floralwhite: 0xfffaf0,
  fuchsia: 0xff00ff,
  gainsboro: 0xdcdcdc,
  ghostwhite: 0xf8f8ff,
  gold: 0xffd700,
  gray: 0x808080,
  green: 0x008000,
  grey: 0x808080,
  honeydew: 0xf0fff0,
  ivory: 0xfffff0,
  lavender: 0xe6e6fa,
  lightblue: 0xadd8e6,
  lightgray: 0xd3d3d3,
  lightgrey: 0xd3d3d3,
  lightyellow: 0xffffe0,
  lime: 0x00ff00,
  linen: 0xfaf0e6,
  maroon: 0x800000,
  mintcream: 0xf5fffa,
  navy: 0x000080,
  olive: 0x808000,
  orange: 0xffa500,
  pink: 0xffc0cb,
  purple: 0x800080,
  red: 0xff0000,
  seashell: 0xfff5ee,
  silver: 0xc0c0c0,
  slategray: 0x708090,
  slategrey: 0x708090,
  snow: 0xfffafa,
  teal: 0x008080,
  white: 0xffffff,
  whitesmoke: 0xf5f5f5,
  yellow: 0xffff00,
};

/** Words of a `background` other than its color. */
const NOT_A_COLOR =
  /^(?:none|initial|inherit|unset|revert|repeat|repeat-[xy]|no-repeat|space|round|scroll|fixed|local|left|right|top|bottom|center|cover|contain|auto|border-box|padding-box|content-box|[-+.\d/,].*|\/)$/;
/** Words of a `background` that are read. */
const MAX_WORDS = 20;
/** Characters of a color attribute that are read. */
export const MAX_COLOR_LENGTH = 50;

/** Colors whose channels differ by no more than this look the same. */
const MAX_SAME_CHANNEL_DIFFERENCE = 4;

/** Parses the color of a property (`#fff`, `white`, `rgb(…)`); undefined if it is not a color. */
function readColor(text: string): Color | undefined {
  const value = text.trim();
  if (value === 'transparent') return 'transparent';
  if (Object.hasOwn(NAMED_COLORS, value)) return NAMED_COLORS[value]!;
  if (/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(value)) return fromHex(value.slice(1));
  const call = /^(rgb|hsl)a?\(([^()]{1,100})\)$/.exec(value);
  if (!call) return undefined;
  const numbers = call[2]!.split(/[\s,/]+/).filter((part) => part !== '');
  const alpha = channel(numbers[3] ?? '1', 1);
  if (alpha < 0.05) return 'transparent';
  if (call[1] === 'hsl' || alpha < 1 || numbers.length < 3) return null;
  const [red, green, blue] = numbers.map((part) => channel(part, 255));
  return pack(red!, green!, blue!);
}

/** Parses the attributes `bgcolor` and `color`, in which the `#` may be missing. */
function readColorAttribute(text: string): Color {
  const value = text.slice(0, MAX_COLOR_LENGTH).trim().toLowerCase();
  return readColor(value) ?? readColor(`#${value}`) ?? null;
}

/** Parses `background` and `background-color`; undefined if it has no color, null if the color is unknown. */
function readBackground(text: string): Color | undefined {
  if (/url\(|gradient\(|image-set\(|var\(/.test(text)) return null;
  const singleColor = readColor(text);
  if (singleColor !== undefined) return singleColor;
  if (text === 'none' || text === 'initial' || text === '0') return 'transparent';
  let hasUnknownWord = false;
  let words = 0;
  for (const [word] of text.matchAll(WORD)) {
    const color = readColor(word);
    if (color !== undefined) return color;
    hasUnknownWord ||= !NOT_A_COLOR.test(word);
    words += 1;
    if (words >= MAX_WORDS) return null;
  }
  return hasUnknownWord ? null : undefined;
}

/** A word, or a function with its arguments. */
const WORD = /[^\s()]*\([^()]*\)|\S+/g;

export function isSameColor(a: Color, b: Color): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return false;
  return [16, 8, 0].every(
    (bits) => Math.abs(((a >> bits) & 255) - ((b >> bits) & 255)) <= MAX_SAME_CHANNEL_DIFFERENCE,
  );
}

function fromHex(digits: string): Color {
  const short = digits.length <= 4;
  const channelAt = (i: number) =>
    Number.parseInt(short ? digits[i]!.repeat(2) : digits.slice(2 * i, 2 * i + 2), 16);
  const alpha = digits.length === 4 || digits.length === 8 ? channelAt(3) : 255;
  if (alpha < 13) return 'transparent';
  return alpha < 255 ? null : pack(channelAt(0), channelAt(1), channelAt(2));
}

function channel(text: string, max: number): number {
  const number = Number.parseFloat(text);
  const value = text.endsWith('%') ? (number / 100) * max : number;
  return Number.isNaN(value) ? max : Math.min(max, Math.max(0, value));
}

const pack = (red: number, green: number, blue: number): number =>
  (Math.round(red) << 16) | (Math.round(green) << 8) | Math.round(blue);
