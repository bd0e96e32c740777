/** The size and weight of text, and whether it is partly transparent, as far as they are known. */

import type { ComputedStyle } from '../../analysis/html/computed-style.ts';
import { type ReadonlyDeclarations, readStyleAttribute } from '../../analysis/html/css.ts';
import type { StyleSheet } from '../../analysis/html/style-sheet.ts';
import type { Attributes } from '../../analysis/html/tokens.ts';

export interface Font {
  /** In pixels; null if unknown. */
  size: number | null;
  /** null if unknown. */
  bold: boolean | null;
  /** Its colors are mixed with what is behind it. */
  isFaded: boolean;
}

interface FontReader {
  /** Of text outside all elements. */
  document: Font;
  /** `style` is the computed style of the element in `parent`. */
  fontOf(
    parent: { style: ComputedStyle; font: Font },
    style: ComputedStyle,
    tag: string,
    attributes: Attributes,
  ): Font;
}

const BOLD_TAGS = new Set(['b', 'strong', 'th', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
/** In em. */
const HEADING_SIZES: Record<string, number> = {
  h1: 2,
  h2: 1.5,
  h3: 1.17,
  h4: 1,
  h5: 0.83,
  h6: 0.67,
};
/** Elements whose size each client chooses. */
const OTHER_SIZES = new Set(['small', 'big', 'sub', 'sup', 'code', 'pre', 'tt', 'samp', 'kbd']);

/** Limits of the cache of parsed `style` attributes. */
const MAX_CACHED = 1000;
const MAX_CACHED_LENGTH = 1000;

const NO_DECLARATIONS: ReadonlyDeclarations = new Map();

/** Complements the style reader, which has no weight and no default sizes. */
export function fontReader(sheet: StyleSheet): FontReader {
  const cache = new Map<string, ReadonlyDeclarations>();
  const readInline = (text: string): ReadonlyDeclarations => {
    if (!/font|opacity|filter/i.test(text)) return NO_DECLARATIONS;
    const cached = cache.get(text);
    if (cached) return cached;
    const declared = readStyleAttribute(text);
    if (cache.size < MAX_CACHED && text.length <= MAX_CACHED_LENGTH) cache.set(text, declared);
    return declared;
  };
  return {
    document: { size: 16, bold: false, isFaded: false },
    fontOf(parent, style, tag, attributes) {
      const { certain, possible } = sheet.stylesOf(tag, attributes);
      const inline = readInline(attributes.get('style') ?? '');
      const value = (property: string): string =>
        inline.get(property)?.value ?? certain.get(property)?.value ?? '';
      const isUnsure = (properties: string[]) => properties.some((name) => possible.has(name));
      const font: Font = {
        size: isUnsure(['font', 'font-size'])
          ? null
          : sizeOf(parent, style, tag, attributes, value),
        bold: isUnsure(['font', 'font-weight']) ? null : weightOf(parent.font, tag, value),
        isFaded:
          parent.font.isFaded ||
          isUnsure(['opacity', 'filter']) ||
          !/^(?:1(?:\.0*)?|100%|initial|)$/.test(value('opacity')) ||
          !/^(?:none|initial|)$/.test(value('filter')),
      };
      const isSame =
        font.size === parent.font.size &&
        font.bold === parent.font.bold &&
        font.isFaded === parent.font.isFaded;
      return isSame ? parent.font : font;
    },
  };
}

function sizeOf(
  parent: { style: ComputedStyle; font: Font },
  style: ComputedStyle,
  tag: string,
  attributes: Attributes,
  value: (property: string) => string,
): number | null {
  const declared = value('font-size') || value('font');
  if (declared !== '') {
    // The style reader does not know the default sizes that these are relative to.
    const isRelative = /(?:\d(?:em|ex|%))|smaller|larger|inherit/.test(declared);
    const isKnown = /\d(?:px|pt|pc|in|cm|mm|r?em|ex|%)|^0\b/.test(declared);
    if (!isKnown) return null;
    return isRelative && parent.font.size !== parent.style.fontSize ? null : style.fontSize;
  }
  if (Object.hasOwn(HEADING_SIZES, tag))
    return parent.font.size === null ? null : parent.font.size * HEADING_SIZES[tag]!;
  if (OTHER_SIZES.has(tag) || (tag === 'font' && attributes.has('size'))) return null;
  return parent.font.size;
}

function weightOf(parent: Font, tag: string, value: (property: string) => string): boolean | null {
  const declared = value('font-weight') || (FONT_WEIGHT.exec(value('font'))?.[0] ?? '');
  if (/^(?:bold|bolder)$/.test(declared)) return true;
  if (/^(?:normal|lighter|initial)$/.test(declared)) return false;
  if (/^\d{1,4}$/.test(declared)) return Number(declared) >= 700;
  if (declared !== '' && declared !== 'inherit') return null;
  if (declared === '' && value('font') !== '') return false;
  return declared === '' && BOLD_TAGS.has(tag) ? true : parent.bold;
}

const FONT_WEIGHT = /(?:^|(?<=\s))(?:bold|bolder|normal|lighter|[1-9]00)(?=\s)/;
