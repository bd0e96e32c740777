/**
 * Generates the table of the fonts in the executable for scripts that the main fonts lack, with the code points of each.
 * So a PDF finds the font of a character without opening any.
 */

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import PDFDocument from 'pdfkit';
import { encodeCodePoints } from '../src/report/pdf/code-points.ts';
import { plainFont } from '../src/report/pdf/sfnt.ts';

const MODULES = new URL('../node_modules/', import.meta.url);

/** The packages and the part of each that has the whole script. */
const FONTS = [
  ['noto-sans-jp', 'japanese'],
  ['noto-sans-sc', 'chinese-simplified'],
  ['noto-sans-tc', 'chinese-traditional'],
  ['noto-sans-kr', 'korean'],
  ['noto-sans-devanagari', 'devanagari'],
  ['noto-sans-thai', 'thai'],
  ['noto-emoji', 'emoji'],
] as const;

/** Rare characters of names are only in this font's parts for web pages, which have about a hundred characters each. */
const RARE = 'noto-sans-jp';

interface BundledFont {
  name: string;
  /** Below node_modules. */
  file: string;
  coverage: string;
}

export function bundledFontsModule(): string {
  const known = new Set<number>();
  const fonts = FONTS.map(([name, part]) => {
    const file = `@fontsource/${name}/files/${name}-${part}-400-normal.woff`;
    const codePoints = codePointsOf(file);
    for (const codePoint of codePoints) known.add(codePoint);
    return { name, file, coverage: encodeCodePoints(codePoints) };
  });
  const parts = rarePartFiles().flatMap((file): BundledFont[] => {
    const added = codePointsOf(file).filter(
      (codePoint) =>
        !known.has(codePoint) && /\p{Script=Han}/u.test(String.fromCodePoint(codePoint)),
    );
    for (const codePoint of added) known.add(codePoint);
    const name = /(?<name>[^/]+)-400-normal/.exec(file)!.groups!.name!;
    return added.length === 0 ? [] : [{ name, file, coverage: encodeCodePoints(added) }];
  });
  const rows = [...fonts, ...parts].map((font) => `  ${JSON.stringify(font)},\n`).join('');
  return `/** Generated from the packages of fonts by \`npm run generate\`; do not edit. */\n\n/** The path of each font below node_modules, and its characters (see decodeCodePoints). */\nexport const BUNDLED_FONTS: { name: string; file: string; coverage: string }[] = [\n${rows}];\n`;
}

/** The files of the parts, in the order of their numbers. */
function rarePartFiles(): string[] {
  const number = (file: string) => Number(/-(\d+)-400/.exec(file)![1]);
  return globSync(`@fontsource/${RARE}/files/${RARE}-[0-9]*-400-normal.woff`, {
    cwd: fileURLToPath(MODULES),
  }).sort((a, b) => number(a) - number(b));
}

/** The code points of a font, in ascending order. */
function codePointsOf(file: string): number[] {
  const doc = new PDFDocument({ font: null as never });
  doc.font(plainFont(readFileSync(new URL(file, MODULES))));
  // An internal of pdfkit, like those in src/report/pdf/fonts.ts.
  const { characterSet } = (doc as unknown as { _font: { font: { characterSet: number[] } } })._font
    .font;
  return [...new Set(characterSet)].sort((a, b) => a - b);
}
