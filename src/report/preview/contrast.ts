/** The contrast of two colors (WCAG 2.2), and the nearest color that would be readable. */

/** 1.4.3: for text of ordinary size, and for large text. */
export const MIN_CONTRAST = 4.5;
export const MIN_CONTRAST_LARGE = 3;

/** Text is large from this size in pixels on: 18 pt, or 14 pt in bold. */
const LARGE_PX = 24;
const LARGE_BOLD_PX = 18.66;

/**
 * The ratio that text of this size needs; null if that depends on what is not known. Both `size` in pixels
 * and `bold` are null if unknown.
 */
export function neededContrast(size: number | null, bold: boolean | null): number | null {
  if (size === null) return null;
  if (size >= LARGE_PX) return MIN_CONTRAST_LARGE;
  if (size < LARGE_BOLD_PX || bold === false) return MIN_CONTRAST;
  return bold === null ? null : MIN_CONTRAST_LARGE;
}

/** From 1 (the same color) to 21 (black on white). Colors are 0xRRGGBB. */
export function contrastRatio(a: number, b: number): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

/** Relative luminance in sRGB. */
function luminance(color: number): number {
  const [red, green, blue] = channelsOf(color).map(linearLight);
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** A channel of sRGB, from 0 to 255, as linear light from 0 to 1. */
export function linearLight(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const channelsOf = (color: number): number[] => [16, 8, 0].map((bits) => (color >> bits) & 255);

/** The color closest to `color` on the way to black or white that has the contrast; black or white always has 4.5. */
export function nearestReadable(color: number, background: number, needed: number): number {
  const candidates = [0x000000, 0xffffff]
    .map((target) => stepsTo(color, target, background, needed))
    .filter((candidate) => candidate !== null);
  const [nearest] = candidates.sort((a, b) => a.steps - b.steps);
  return nearest?.color ?? color;
}

/** Steps from the color to black or white. */
const STEPS = 255;

/** The fewest steps that are enough; null if none are. More steps than enough are enough, too. */
function stepsTo(color: number, target: number, background: number, needed: number) {
  const isEnough = (steps: number) =>
    contrastRatio(mix(color, target, steps / STEPS), background) >= needed;
  if (!isEnough(STEPS)) return null;
  let [low, high] = [0, STEPS];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return { color: mix(color, target, low / STEPS), steps: low };
}

function mix(color: number, target: number, share: number): number {
  const to = channelsOf(target);
  const [red, green, blue] = channelsOf(color).map((channel, i) =>
    Math.round(channel + (to[i]! - channel) * share),
  );
  return (red! << 16) | (green! << 8) | blue!;
}

/** The sum of the differences of the channels. */
export function colorDistance(a: number, b: number): number {
  const other = channelsOf(b);
  return channelsOf(a).reduce((sum, channel, i) => sum + Math.abs(channel - other[i]!), 0);
}

export const hexColor = (color: number): string => `#${color.toString(16).padStart(6, '0')}`;
