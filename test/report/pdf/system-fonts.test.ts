/** Fonts of the system in PDFs: found by their characters, embedded, and harmless if they are damaged. */

// @one-database: about fonts.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { execFileSync } from '../../../scripts/programs.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { bundledFonts } from '../../../src/report/pdf/bundled-fonts.ts';
import { reportPdf } from '../../../src/report/pdf/pdf.ts';
import { createSystemFonts } from '../../../src/report/pdf/system-fonts.ts';
import { createReportRenderer } from '../../../src/report/renderer.ts';
import { temporaryFolder } from '../../helpers/app.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { pdfFonts, pdfText } from '../../helpers/pdf.ts';
import { goodReport } from '../reports.ts';

const skip = skipUnlessInstalled('pdftotext');
const GOOD = await goodReport();

const TAMIL = 'தமிழ்';
const THAI_FONT = bundledFonts.find(({ name }) => name === 'noto-sans-thai')!.read();
const [FIRST, LAST] = [0x0b80, 0x0bff];

/** The place of a table in the directory of a font. */
const entryOf = (font: Buffer, tag: string): number => {
  for (let at = 12; ; at += 16) if (font.toString('latin1', at, at + 4) === tag) return at;
};

/** A font that shows Tamil letters with the glyphs of Thai ones. */
function tamilFont(): Buffer {
  const cmap = Buffer.alloc(12 + 28);
  cmap.writeUInt16BE(1, 2);
  // For Windows, all of Unicode.
  cmap.writeUInt16BE(3, 4);
  cmap.writeUInt16BE(10, 6);
  cmap.writeUInt32BE(12, 8);
  cmap.writeUInt16BE(12, 12);
  for (const [index, value] of [28, 0, 1, FIRST, LAST, 1].entries())
    cmap.writeUInt32BE(value, 16 + 4 * index);
  const font = Buffer.concat([THAI_FONT, cmap]);
  const entry = entryOf(font, 'cmap');
  font.writeUInt32BE(THAI_FONT.length, entry + 8);
  font.writeUInt32BE(cmap.length, entry + 12);
  return font;
}

/** A collection with one font. */
function collectionOf(font: Buffer): Buffer {
  const head = Buffer.from('ttcf\0\x01\0\0\0\0\0\x01\0\0\0\x10', 'latin1');
  const shifted = Buffer.from(font);
  for (let table = 0; table < font.readUInt16BE(4); table++) {
    const at = 12 + 16 * table + 8;
    shifted.writeUInt32BE(font.readUInt32BE(at) + head.length, at);
  }
  return Buffer.concat([head, shifted]);
}

function folderWith(t: TestContext, files: Record<string, Buffer>): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'truetype'));
  for (const [name, bytes] of Object.entries(files))
    writeFileSync(join(folder, 'truetype', name), bytes);
  return folder;
}

const render = (paths: string[]) =>
  reportPdf({ ...GOOD, subject: TAMIL }, createSystemFonts(paths));

for (const [kind, name, font] of [
  ['font', 'Tamil.ttf', tamilFont()],
  ['collection', 'Tamil.ttc', collectionOf(tamilFont())],
] as const)
  test(`PDF uses a ${kind} in a folder for a script that the executable has no font for`, {
    skip,
  }, async (t) => {
    const pdf = await render([folderWith(t, { [name]: font })]);
    assert.match(pdfFonts(pdf), /NotoSansThai/);
    assert.ok(pdfText(pdf).includes(TAMIL));
    assert.doesNotMatch(pdfFonts(await render([])), /NotoSansThai/);
  });

test('fonts of the system are not used for what the executable has fonts for', async () => {
  let searches = 0;
  const counting = {
    find: () => {
      searches += 1;
      return [];
    },
  };
  await reportPdf({ ...GOOD, subject: '日本語 हिन्दी 🎉' }, counting);
  assert.equal(searches, 0);
});

test('a regular font comes before a bold one, and an earlier path before a later one', (t) => {
  const font = tamilFont();
  const folder = folderWith(t, { 'A-Bold.ttf': font, 'B-Sans-Regular.ttf': font });
  const own = join(folderWith(t, { 'Own-Bold.ttf': font }), 'truetype', 'Own-Bold.ttf');
  const find = (paths: string[]) => createSystemFonts(paths).find([FIRST])[0]?.name;
  assert.equal(find([folder]), join(folder, 'truetype', 'B-Sans-Regular.ttf'));
  assert.equal(find([own, folder]), own);
  assert.equal(find([join(folder, 'missing')]), undefined);
  assert.deepEqual(createSystemFonts([folder]).find([0x1f389]), []);
});

test('damaged and protected fonts are skipped', (t) => {
  const font = tamilFont();
  const protectedFont = Buffer.from(font);
  protectedFont.writeUInt16BE(2, font.readUInt32BE(entryOf(font, 'OS/2') + 8) + 8);
  const withoutOutlines = Buffer.from(font);
  withoutOutlines.write('xxxx', entryOf(font, 'glyf'));
  const hugeCount = Buffer.from(font);
  hugeCount.writeUInt32BE(0xffffffff, font.readUInt32BE(entryOf(font, 'cmap') + 8) + 12 + 12);
  const files = {
    'empty.ttf': Buffer.alloc(0),
    'short.ttf': font.subarray(0, 40),
    'text.otf': Buffer.from('not a font at all, but long enough to look like one'),
    'collection.ttc': Buffer.from('ttcf\0\x01\0\0\0\0\0\x01\xff\xff\xff\xff', 'latin1'),
    'woff.woff': Buffer.from('wOFF\0\x01\0\0\0\0\0\0\0\x09\0\0', 'latin1'),
    'protected.ttf': protectedFont,
    'outlines.ttf': withoutOutlines,
    'count.ttf': hugeCount,
  };
  assert.deepEqual(createSystemFonts([folderWith(t, files)]).find([FIRST]), []);
});

test('a pipe with the name of a font is skipped', (t) => {
  const folder = folderWith(t, {});
  execFileSync('mkfifo', [join(folder, 'pipe.ttf')]);
  assert.deepEqual(createSystemFonts([folder]).find([FIRST]), []);
});

test('a font that is damaged where it is embedded never breaks a PDF', { skip }, async (t) => {
  for (const table of ['glyf', 'loca', 'hmtx', 'head', 'GSUB']) {
    const font = tamilFont();
    font.writeUInt32BE(0x7ffffff0, entryOf(font, table) + 8);
    const pdf = await render([folderWith(t, { 'Tamil.ttf': font })]);
    assert.ok(pdfText(pdf).includes(TAMIL), table);
  }
});

test('a font that cannot be opened does not hide the next one', { skip }, async (t) => {
  const font = tamilFont();
  font.writeUInt32BE(0x7ffffff0, entryOf(font, 'head') + 8);
  const files = { 'A-Sans.ttf': font, 'B-Sans.ttf': tamilFont() };
  assert.match(pdfFonts(await render([folderWith(t, files)])), /NotoSansThai/);
});

test('a render thread uses the fonts of its paths', { skip }, async (t) => {
  const fontPaths = [folderWith(t, { 'Tamil.ttf': tamilFont() })];
  const renderer = createReportRenderer({ log: silentLog, fontPaths });
  t.after(() => renderer.close());
  const { message: _, ...result } = GOOD;
  const report = {
    ...result,
    subject: TAMIL,
    checks: JSON.stringify(GOOD.checks),
    providers: JSON.stringify(GOOD.providers),
  };
  const { bytes } = await renderer.render({
    kind: 'test',
    format: 'pdf',
    report,
    message: async () => null,
  });
  assert.match(pdfFonts(bytes), /NotoSansThai/);
});
