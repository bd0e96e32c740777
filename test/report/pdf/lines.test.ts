/** Line breaking in PDFs: no line is too wide, breaks are at words, and no text is lost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import PDFDocument from 'pdfkit';
import { loadFonts } from '../../../src/report/pdf/fonts.ts';
import { layOut, type StyledText, type TextStyle, widthOf } from '../../../src/report/pdf/lines.ts';

const FONTS = loadFonts(new PDFDocument({ font: null as never }));
const STYLE: TextStyle = { size: 10, leading: 14, face: 'mono', color: '#000' };
/** The width of ten characters. */
const TEN = FONTS.width('mono', '0123456789')! * 10 + 0.01;

const linesOf = (text: StyledText, width = TEN): string[] =>
  layOut(text, width, STYLE, FONTS).lines.map((line) => line.map((piece) => piece.text).join(''));

test('layOut breaks lines between words and only splits overlong words', () => {
  const cases: [StyledText, string[]][] = [
    ['', ['']],
    ['one two three', ['one two', 'three']],
    ['0123456789 a', ['0123456789', 'a']],
    ['a  b', ['a  b']],
    // A line break replaces a space; a leading space of the text stays.
    ['01234567 9 1', ['01234567 9', '1']],
    ['a\n  b\n\nc', ['a', '  b', '', 'c']],
    ['0123456789abcdefghijk', ['0123456789', 'abcdefghij', 'k']],
    // Breaks after punctuation in the last third, but not if the line would be half empty.
    ['https://x/abcdef', ['https://x/', 'abcdef']],
    ['a/bcdefghijkl', ['a/bcdefghi', 'jkl']],
    ['two 0123456789x', ['two', '0123456789', 'x']],
    [
      [{ text: 'one ' }, { text: 'tw', face: 'bold' }, { text: 'o three' }],
      ['one two', 'three'],
    ],
  ];
  for (const [text, lines] of cases) assert.deepEqual(linesOf(text), lines, JSON.stringify(text));
});

test('layOut keeps lines within the width and loses no character', () => {
  const texts = [
    `${'漢字'.repeat(30)} and ${'x'.repeat(200)}`,
    'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7v1kLW9Qz',
    'Ünïcödé áccents é and Привет, 🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀',
  ];
  for (const text of texts)
    for (const width of [TEN, 3 * TEN, 200]) {
      const { lines } = layOut(text, width, STYLE, FONTS);
      for (const line of lines) assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}`);
      const written = lines.flat().map((piece) => piece.text);
      assert.equal(written.join('').replace(/ /g, ''), text.replace(/ /g, ''));
    }
});

test('layOut orders right-to-left words within left-to-right text', () => {
  const order = (text: string) =>
    layOut(text, 1000, STYLE, FONTS)
      .lines[0]!.map((piece) => piece.text)
      .join('|');
  assert.equal(order('a שלום עולם b'), 'a| |עולם| |שלום| |b');
  assert.equal(order('שלום, b'), 'שלום|,| |b');
  assert.equal(order('שלום.example'), 'שלום|.|example');
  // Numbers between them belong to them, and brackets are mirrored.
  assert.equal(order('שלום 25% עולם 7 b'), 'עולם| |25%| |שלום| |7| |b');
  assert.equal(order('שלום 25% עולם 7'), '7| |עולם| |25%| |שלום');
  assert.equal(order('b 25 שלום'), 'b| |25| |שלום');
  assert.equal(order('שלום 3D'), 'שלום| |3D');
  const { lines } = layOut('א (ב 1.5) ג', 1000, STYLE, FONTS);
  const drawn = lines[0]!.map(({ text, marker = text }) => marker);
  assert.equal(drawn.join(''), 'ג (1.5 ב) א');
});

test('A long word of two directions keeps the letters and digits of each in order', () => {
  const lines = layOut('שלוםAcme2026עולם'.repeat(3), TEN * 2, STYLE, FONTS).lines;
  const pieces = lines.flat().filter(({ text }) => /[a-z]/i.test(text));
  assert.ok(lines.length > 2 && pieces.length > 2);
  for (const { text } of pieces) assert.match(text, /^[\x20-\x7e]*$/);
  // Arabic letters are narrower beside others.
  const arabic = layOut('عرضالربيع50'.repeat(9), TEN * 2, STYLE, FONTS).lines.flat();
  for (const { font, text, width } of arabic)
    assert.equal(width, FONTS.width(font, text)! * STYLE.size, text);
});
