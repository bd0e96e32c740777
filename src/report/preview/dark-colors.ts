/** Inverts the colors of declarations and attributes as mail clients do in their dark themes. */

import { NAMED_COLORS } from '../../analysis/html/visibility.ts';
import type { DarkMode } from './clients.ts';
import { linearLight } from './contrast.ts';

/** What a color is for: clients treat text and its background in opposite ways. */
export type ColorUse = 'text' | 'background';

/** The base colors of the dark theme. */
export const DARK_BASE = { background: '#1f1f1f', text: '#e8e8e8', link: '#8ab4f8' };

/** The lightness (Oklab) of white after inversion, that of the dark base. */
const DARKEST = 0.24;
/** Text below is dark, and a background above is light. Saturated colors in between keep their meaning. */
const DARK_TEXT = 0.6;
const LIGHT_BACKGROUND = 0.75;
const MIDDLE = 0.5;

const TEXT_PROPERTY =
  /^(?:color|fill|stroke|caret-color|text-fill-color|text-stroke(?:-color)?|text-decoration(?:-color)?|text-emphasis-color)$/;
const COLOR_PROPERTY =
  /^(?:background(?:-color|-image)?|border(?:-(?:top|right|bottom|left))?(?:-color)?|outline(?:-color)?|box-shadow|text-shadow|column-rule(?:-color)?)$/;

/** What the colors of a property are for; null if it has none. `property` is without a prefix. */
export function colorUseOf(property: string): ColorUse | null {
  if (TEXT_PROPERTY.test(property)) return 'text';
  return COLOR_PROPERTY.test(property) ? 'background' : null;
}

const COLOR =
  /"[^"]*"|'[^']*'|#[0-9a-f]{3,8}(?![\w-])|(?<![\w-])(?:rgb|hsl)a?\([^()]{1,100}\)|(?<![\w#.-])[a-z]{3,20}(?![\w(-])/gi;

/** Rewrites all colors in the value of a property; unknown ones stay. */
export const darkenValue = (value: string, use: ColorUse, mode: DarkMode): string =>
  mode === 'none' ? value : value.replace(COLOR, (text) => darkenColor(text, use, mode) ?? text);

/** Rewrites the attributes `bgcolor` and `color`, in which the `#` may be missing. */
export function darkenAttribute(value: string, use: ColorUse, mode: DarkMode): string {
  if (mode === 'none') return value;
  const text = value.slice(0, 50).trim();
  return darkenColor(text, use, mode) ?? darkenColor(`#${text}`, use, mode) ?? value;
}

function darkenColor(text: string, use: ColorUse, mode: DarkMode): string | null {
  const color = parseColor(text.toLowerCase());
  if (color === null) return null;
  const [red, green, blue, alpha] = color;
  const [lightness, a, b] = toOklab(red, green, blue);
  const isChanged =
    (use === 'background' ? lightness > LIGHT_BACKGROUND : lightness < DARK_TEXT) ||
    (mode === 'full' && (lightness < MIDDLE || lightness > LIGHT_BACKGROUND));
  if (!isChanged) return null;
  const rgb = fromOklab(DARKEST + (1 - DARKEST) * (1 - lightness), a, b);
  return alpha < 1
    ? `rgba(${rgb.join(',')},${alpha})`
    : `#${rgb.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

type Rgba = [red: number, green: number, blue: number, alpha: number];

function parseColor(text: string): Rgba | null {
  if (Object.hasOwn(NAMED_COLORS, text)) {
    const value = NAMED_COLORS[text]!;
    return [value >> 16, (value >> 8) & 255, value & 255, 1];
  }
  if (/^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(text)) {
    const digits = text.length <= 5 ? text.slice(1).replace(/./g, '$&$&') : text.slice(1);
    const at = (i: number) => Number.parseInt(digits.slice(2 * i, 2 * i + 2) || 'ff', 16);
    return [at(0), at(1), at(2), Math.round((100 * at(3)) / 255) / 100];
  }
  const call = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(text);
  if (!call) return null;
  const parts = call[2]!.split(/[\s,/]+/).filter((part) => part !== '');
  if (parts.length < 3 || parts.some((part) => !/^[\d.+-]+(?:%|deg)?$/.test(part))) return null;
  const number = (i: number, whole: number) => {
    const value = Number.parseFloat(parts[i]!) || 0;
    return parts[i]!.endsWith('%') ? (value / 100) * whole : value;
  };
  const alpha = parts.length > 3 ? clamp(number(3, 1), 1) : 1;
  if (call[1] === 'rgb')
    return [
      clamp(number(0, 255), 255),
      clamp(number(1, 255), 255),
      clamp(number(2, 255), 255),
      alpha,
    ];
  return [...hslToRgb(number(0, 360), clamp(number(1, 1), 1), clamp(number(2, 1), 1)), alpha];
}

const clamp = (value: number, max: number): number => Math.min(max, Math.max(0, value));

function hslToRgb(hue: number, saturation: number, lightness: number): [number, number, number] {
  const channel = (n: number) => {
    const k = (((n + hue / 30) % 12) + 12) % 12;
    const chroma = saturation * Math.min(lightness, 1 - lightness);
    return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

// Oklab, in which equal steps of lightness look equal (Björn Ottosson, 2020).

function toOklab(red: number, green: number, blue: number): [number, number, number] {
  const [r, g, b] = [red, green, blue].map(linearLight) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab(lightness: number, a: number, b: number): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((part) => {
    const value = part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055;
    return Math.round(255 * clamp(value, 1));
  });
}
