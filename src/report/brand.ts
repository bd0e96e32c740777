/** The team's brand on what people outside it see: shared pages, PDFs and scheduled reports. */

import { hexColor, MIN_CONTRAST, nearestReadable } from './preview/contrast.ts';

export interface BrandLogo {
  type: 'image/png' | 'image/jpeg';
  base64: string;
  width: number;
  height: number;
}

/** Plain data, which also goes to render threads. */
export interface Brand {
  name: string;
  logo: BrandLogo | null;
  /** Readable as text in each theme; null for the colors of the product. */
  colors: BrandColors | null;
}

export interface BrandColors {
  light: string;
  dark: string;
}

/** The darkest background of the light theme, and the lightest one of the dark theme. */
const BACKGROUNDS = { light: 0xf3f3f8, dark: 0x22242d };

/** The color, or the nearest one that is readable as text, and below white text in the light theme. */
export function brandColors(color: string): BrandColors {
  const value = Number.parseInt(color.slice(1), 16);
  const readable = (theme: keyof BrandColors) =>
    hexColor(nearestReadable(value, BACKGROUNDS[theme], MIN_CONTRAST));
  return { light: readable('light'), dark: readable('dark') };
}

/** The size that fits, in whole units. A small logo is not enlarged. */
export function fitLogo(
  { width, height }: Pick<BrandLogo, 'width' | 'height'>,
  max: { width: number; height: number },
): { width: number; height: number } {
  const scale = Math.min(1, max.width / width, max.height / height);
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: scaled(width), height: scaled(height) };
}

export const logoUrl = ({ type, base64 }: BrandLogo): string => `data:${type};base64,${base64}`;

/** In small print wherever the brand replaces our name. */
export const CHECKED_WITH = 'Checked with Deliverability';
