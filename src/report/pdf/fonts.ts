/** The fonts of the PDF: their files, their characters and the width of text. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

export type Face = 'sans' | 'bold' | 'mono';

const PACKAGE = 'dejavu-fonts-ttf';
const FILES: Record<Face, string> = {
  sans: 'DejaVuSans',
  bold: 'DejaVuSans-Bold',
  mono: 'DejaVuSansMono',
};

export interface Fonts {
  /** Whether the font has a glyph for the character. */
  has(face: Face, codePoint: number): boolean;
  /**
   * The width of the text in points at a font size of one point. Returns null if the text cannot be drawn,
   * because fontkit throws on some invalid combinations of letters and marks.
   */
  width(face: Face, text: string): number | null;
}

/** Internals of pdfkit: its documented API does not reveal whether a glyph is missing. */
interface PdfkitFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  widthOfString(text: string, size: number): number;
}

/** Registers the faces in `doc` under their names. Only glyphs in use are embedded. */
export function loadFonts(doc: PDFKit.PDFDocument): Fonts {
  const faces = Object.keys(FILES) as Face[];
  const loaded = new Map(faces.map((face) => [face, loadFace(doc, face)]));
  return {
    has: (face, codePoint) => loaded.get(face)!.has(codePoint),
    width: (face, text) => loaded.get(face)!.width(text),
  };
}

function loadFace(doc: PDFKit.PDFDocument, face: Face) {
  doc.registerFont(face, fontFile(face));
  doc.font(face);
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

const files = new Map<Face, Buffer>();

/** Read on first use, then cached: a thread makes many PDFs. The executable contains the files compressed. */
function fontFile(face: Face): Buffer {
  return cached(files, face, () => {
    const { resolve } = createRequire(import.meta.url);
    const path = join(dirname(resolve(`${PACKAGE}/package.json`)), 'ttf', `${FILES[face]}.ttf`);
    return existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`));
  });
}
