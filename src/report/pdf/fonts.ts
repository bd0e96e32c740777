/** The fonts of the PDF: where their files are, which characters they have, how wide text is in them. */

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
  /** Whether there is a glyph for the character. */
  has(face: Face, codePoint: number): boolean;
  /**
   * Width of the text in points at a size of one point; null for what cannot be drawn: there are
   * letters with marks, in no language, at which the library that lays them out throws.
   */
  width(face: Face, text: string): number | null;
}

/** What pdfkit keeps of a font; not in its documented interface, which cannot tell what is missing. */
interface OpenFont {
  font: { hasGlyphForCodePoint(codePoint: number): boolean };
  widthOfString(text: string, size: number): number;
}

/** Registers the faces by their names in `doc`; only the glyphs in use are embedded. */
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
  const open = (doc as unknown as { _font: OpenFont })._font;
  const known = new Map<number, boolean>();
  const widths = new Map<string, number | null>();
  return {
    has: (codePoint: number) =>
      remembered(known, codePoint, () => open.font.hasGlyphForCodePoint(codePoint)),
    width: (text: string) =>
      remembered(widths, text, () => {
        try {
          return open.widthOfString(text, 1000) / 1000;
        } catch {
          return null;
        }
      }),
  };
}

function remembered<K, V>(values: Map<K, V>, key: K, make: () => V): V {
  let value = values.get(key);
  if (value === undefined) {
    value = make();
    values.set(key, value);
  }
  return value;
}

const files = new Map<Face, Buffer>();

/** Read when first wanted, then kept: a thread makes many PDFs. The executable holds them compressed. */
function fontFile(face: Face): Buffer {
  return remembered(files, face, () => {
    const { resolve } = createRequire(import.meta.url);
    const path = join(dirname(resolve(`${PACKAGE}/package.json`)), 'ttf', `${FILES[face]}.ttf`);
    return existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`));
  });
}
