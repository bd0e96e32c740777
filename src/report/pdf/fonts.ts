/** The fonts of the PDF: which one has a character, and the width of text. Fonts are read when a text needs them. */

import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import {
  bundledFonts,
  EMOJI,
  type FontSource,
  installedFile,
  JAPANESE,
  SIMPLIFIED_CHINESE,
  TRADITIONAL_CHINESE,
} from './bundled-fonts.ts';

export type Face = 'sans' | 'bold' | 'mono';

/** A face, or the name of a font for scripts that the faces lack. */
export type FontName = string;

const PACKAGE = 'dejavu-fonts-ttf';
const FILES: Record<Face, string> = {
  sans: 'DejaVuSans',
  bold: 'DejaVuSans-Bold',
  mono: 'DejaVuSansMono',
};

export const isFace = (font: FontName): font is Face => font in FILES;

/** Fonts of the system for characters that no font in the executable has. */
export interface SystemFonts {
  /** The fonts that have all of the characters, the best first. Some may be damaged. */
  find(codePoints: number[]): FontSource[];
}

export interface Fonts {
  /**
   * The font that has all of a character with its marks, or of an emoji: the face, else the face with the most glyphs,
   * else another font, or null. `preferred` comes before other fonts that are no faces.
   */
  fontFor(text: string, face: Face, preferred?: FontName | null): FontName | null;
  /** Whether the font has a glyph for the character. */
  has(font: FontName, codePoint: number): boolean;
  /**
   * The width of the text in points at a font size of one point. Returns null if the text cannot be drawn,
   * because fontkit throws on some invalid combinations of letters and marks.
   */
  width(font: FontName, text: string): number | null;
  /** Whether the text needed a font of the system. */
  readonly usesSystemFonts: boolean;
}

/** Internals of pdfkit: its documented API does not reveal whether a glyph is missing. */
interface PdfkitFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  widthOfString(text: string, size: number): number;
}

interface LoadedFont {
  has(codePoint: number): boolean;
  width(text: string): number | null;
}

/** Far more than the languages of a report. Bounds the memory for fonts whose size we do not know. */
const MAX_SYSTEM_FONTS = 8;

/** Registers the faces in `doc` under their names. Only glyphs in use are embedded. */
export function loadFonts(doc: PDFKit.PDFDocument, systemFonts?: SystemFonts): Fonts {
  const faces = Object.keys(FILES) as Face[];
  const loaded = new Map<FontName, LoadedFont>(
    faces.map((face) => [face, openFont(doc, face, fontFile(face))]),
  );
  const damaged = new Set<FontName>();
  const fromSystem = new Set<FontName>();

  /** Whether the font can be read and has all of the characters. */
  function opens(source: FontSource, codePoints: number[]): boolean {
    const { name } = source;
    if (damaged.has(name)) return false;
    try {
      if (!loaded.has(name)) loaded.set(name, openFont(doc, name, bytesOf(source)));
      return codePoints.every((codePoint) => loaded.get(name)!.has(codePoint));
    } catch {
      damaged.add(name);
      return false;
    }
  }

  function systemFont(codePoints: number[]): FontName | null {
    const source = systemFonts
      ?.find(codePoints)
      .filter(({ name }) => fromSystem.size < MAX_SYSTEM_FONTS || fromSystem.has(name))
      .find((candidate) => opens(candidate, codePoints));
    if (!source) return null;
    fromSystem.add(source.name);
    return source.name;
  }

  function findFont(text: string, face: Face, preferred: FontName | null): FontName | null {
    const codePoints = visibleCodePoints(text);
    const inFaces = [face, 'sans'].find((name) => codePoints.every(loaded.get(name)!.has));
    const first = isEmoji(text) ? EMOJI : preferred;
    if (inFaces && first !== EMOJI) return inFaces;
    // Only now, because the coverage of each font has to be decoded.
    const sources = bundledFonts
      .filter(({ covers }) => codePoints.every(covers))
      .sort((a, b) => Number(b.name === first) - Number(a.name === first));
    if (inFaces && sources[0]?.name !== EMOJI) return inFaces;
    const source = sources.find((candidate) => opens(candidate, codePoints));
    return source?.name ?? inFaces ?? systemFont(codePoints);
  }

  const found = new Map<string, FontName | null>();
  return {
    fontFor: (text, face, preferred = null) =>
      cached(found, `${face} ${preferred} ${text}`, () => findFont(text, face, preferred)),
    has: (font, codePoint) => loaded.get(font)!.has(codePoint),
    width: (font, text) => loaded.get(font)!.width(text),
    get usesSystemFonts() {
      return fromSystem.size > 0;
    },
  };
}

/** Joiners, variation selectors and the like: fonts may lack them. */
export const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** The code points that a font must have: the visible ones, or all if none is visible. */
function visibleCodePoints(text: string): number[] {
  const chars = [...text];
  const visible = chars.filter((char) => !INVISIBLE.test(char));
  return (visible.length > 0 ? visible : chars).map((char) => char.codePointAt(0)!);
}

/** Symbols such as ✓ and ☎ are emoji only if a variation selector says so. */
const EMOJI_TEXT = /^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}|\p{Emoji}\ufe0f)/u;
const isEmoji = (text: string): boolean => EMOJI_TEXT.test(text);

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HAN = /\p{Script=Han}/gu;
/** The font for simplified Chinese also has most characters of the others, so it comes last. */
const HAN_FONTS = [TRADITIONAL_CHINESE, JAPANESE, SIMPLIFIED_CHINESE].map(
  (name) => bundledFonts.find((font) => font.name === name)!,
);

/**
 * The font for the Chinese characters in a text, because countries write some of them differently: Japanese beside kana,
 * else the first font that has most of them.
 */
export function fontForHan(text: string): FontName | null {
  if (KANA.test(text)) return JAPANESE;
  const chars = new Set(text.match(HAN)?.map((char) => char.codePointAt(0)!));
  if (chars.size === 0) return null;
  const counts = HAN_FONTS.map(({ covers }) => [...chars].filter(covers).length);
  return HAN_FONTS[counts.indexOf(Math.max(...counts))]!.name;
}

function openFont(doc: PDFKit.PDFDocument, name: FontName, bytes: Buffer): LoadedFont {
  doc.registerFont(name, bytes);
  doc.font(name);
  const pdfkitFont = (doc as unknown as { _font: PdfkitFont })._font;
  const glyphs = new Map<number, boolean>();
  const widths = new Map<string, number | null>();
  return {
    has: (codePoint: number) =>
      cached(glyphs, codePoint, () => pdfkitFont.font.hasGlyphForCodePoint(codePoint)),
    width: (text: string) =>
      cached(widths, text, () => {
        try {
          return pdfkitFont.widthOfString(text, 1000) / 1000;
        } catch {
          return null;
        }
      }),
  };
}

function cached<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    values.set(key, value);
  }
  return value;
}

// The bytes of fonts, kept for the next PDF of the thread.

const files = new Map<Face, Buffer>();

/** Read on first use, then cached: a thread makes many PDFs. The executable contains the files compressed. */
function fontFile(face: Face): Buffer {
  return cached(files, face, () => {
    const path = installedFile(`${PACKAGE}/ttf/${FILES[face]}.ttf`);
    return existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`));
  });
}

/** Three of the large fonts. */
const MAX_KEPT_BYTES = 8_000_000;
const kept = new Map<FontName, Buffer>();

/** Drops the fonts that were used longest ago. */
function bytesOf(source: FontSource): Buffer {
  const bytes = kept.get(source.name) ?? source.read();
  kept.delete(source.name);
  kept.set(source.name, bytes);
  let size = [...kept.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [name, { length }] of kept) {
    if (size <= MAX_KEPT_BYTES) break;
    kept.delete(name);
    size -= length;
  }
  return bytes;
}
