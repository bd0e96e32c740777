/** CSS colours as far as text can be hidden with them. */

/** 0xRRGGBB, or `transparent`; null for what is not known (images, gradients, half transparent ones). */
export type Color = number | 'transparent' | null;

const NAMED: Record<string, number> = {
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

/** What a `background` may say beside its colour. */
const NO_COLOR =
  /^(?:none|initial|inherit|unset|revert|repeat|repeat-[xy]|no-repeat|space|round|scroll|fixed|local|left|right|top|bottom|center|cover|contain|auto|border-box|padding-box|content-box|[-+.\d/,].*|\/)$/;
/** Words of a `background` that are looked at. */
const MAX_WORDS = 20;
/** Characters of an attribute for a colour that are looked at. */
export const MAX_COLOR = 50;

/** Channels that differ by no more than this are one colour to the eye. */
const SAME = 4;

/** A colour as a property (`#fff`, `white`, `rgb(…)`) has it; undefined for what is none. */
export function readColor(text: string): Color | undefined {
  const value = text.trim();
  if (value === 'transparent') return 'transparent';
  if (Object.hasOwn(NAMED, value)) return NAMED[value]!;
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

/** As the attributes `bgcolor` and `color` have it, where the `#` may be missing. */
export function readColorAttribute(text: string): Color {
  const value = text.slice(0, MAX_COLOR).trim().toLowerCase();
  return readColor(value) ?? readColor(`#${value}`) ?? null;
}

/** Of a `background` or `background-color`; undefined where it has no colour, null for one not known. */
export function readBackground(text: string): Color | undefined {
  if (/url\(|gradient\(|image-set\(|var\(/.test(text)) return null;
  const whole = readColor(text);
  if (whole !== undefined) return whole;
  if (text === 'none' || text === 'initial' || text === '0') return 'transparent';
  let unknown = false;
  let words = 0;
  for (const [word] of text.matchAll(WORD)) {
    const color = readColor(word);
    if (color !== undefined) return color;
    unknown ||= !NO_COLOR.test(word);
    words += 1;
    if (words >= MAX_WORDS) return null;
  }
  return unknown ? null : undefined;
}

/** A word, or a function with what is in its brackets. */
const WORD = /[^\s()]*\([^()]*\)|\S+/g;

export function isSameColor(a: Color, b: Color): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return false;
  return [16, 8, 0].every((bits) => Math.abs(((a >> bits) & 255) - ((b >> bits) & 255)) <= SAME);
}

function fromHex(digits: string): Color {
  const short = digits.length <= 4;
  const at = (i: number) =>
    Number.parseInt(short ? digits[i]!.repeat(2) : digits.slice(2 * i, 2 * i + 2), 16);
  const alpha = digits.length === 4 || digits.length === 8 ? at(3) : 255;
  if (alpha < 13) return 'transparent';
  return alpha < 255 ? null : pack(at(0), at(1), at(2));
}

function channel(text: string, most: number): number {
  const number = Number.parseFloat(text);
  const value = text.endsWith('%') ? (number / 100) * most : number;
  return Number.isNaN(value) ? most : Math.min(most, Math.max(0, value));
}

const pack = (red: number, green: number, blue: number): number =>
  (Math.round(red) << 16) | (Math.round(green) << 8) | Math.round(blue);
