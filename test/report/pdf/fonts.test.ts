/** Scripts of the world in PDFs: each has a font or a marker, and is copied as it was written. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import PDFDocument from 'pdfkit';
import { fontForHan, loadFonts } from '../../../src/report/pdf/fonts.ts';
import { layOut, type TextStyle, widthOf } from '../../../src/report/pdf/lines.ts';
import { reportPdf } from '../../../src/report/pdf/pdf.ts';
import { collect, openDocument } from '../../../src/report/pdf/sheet.ts';
import { skipUnlessInstalled } from '../../helpers/installed.ts';
import { pdfFonts, pdfText } from '../../helpers/pdf.ts';
import { goodReport } from '../reports.ts';

const skip = skipUnlessInstalled('pdftotext');
const GOOD = await goodReport();
const FONTS = loadFonts(new PDFDocument({ font: null as never }));
const STYLE: TextStyle = { size: 10, leading: 14, face: 'sans', color: '#000' };

const SUBJECTS: [script: string, font: RegExp, subject: string][] = [
  ['Japanese', /NotoSansJP/, '【重要】ご注文の確認：東京駅での受け取り、髙橋様'],
  ['simplified Chinese', /NotoSansSC/, '您的订单已发货，请注意查收。'],
  ['traditional Chinese', /NotoSansTC/, '親愛的顧客，您的訂單已經出貨囉。'],
  ['rare characters of names', /NotoSansJP/, '濵田 麤 﨑 𠮷野家'],
  ['Korean', /NotoSansKR/, '안녕하세요 고객님, 주문이 배송되었습니다.'],
  ['Hindi', /NotoSansDevanagari/, 'आपका ऑर्डर भेज दिया गया है। हिन्दी शक्ति'],
  ['Thai', /NotoSansThai/, 'คำสั่งซื้อของคุณได้รับการจัดส่งแล้ว น้ำ'],
  ['emoji', /NotoEmoji/, 'Sale 🎉 🚀 ❤️ 👍🏽 👨‍👩‍👧 🇯🇵🇩🇪 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👩🏽‍💻'],
];

/** Whether a PDF draws glyph 0 of a font, which is an empty box. */
function drawsMissingGlyph(pdf: Uint8Array): boolean {
  const raw = Buffer.from(pdf);
  const texts: string[] = [];
  for (let at = raw.indexOf('stream\n'); at >= 0; at = raw.indexOf('stream\n', at + 7)) {
    const end = raw.indexOf('endstream', at);
    const isCompressed = raw[at + 7] === 0x78;
    // Fonts are streams too, but have no text operators.
    if (isCompressed) texts.push(inflateSync(raw.subarray(at + 7, end)).toString('latin1'));
  }
  const codes = [...texts.join('\n').matchAll(/\[(<[^\]]*)\] TJ/g)].flatMap(([, shown]) =>
    [...shown!.matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => hex!.match(/.{4}/g) ?? []),
  );
  assert.ok(codes.length > 0, 'the PDF has text');
  return codes.includes('0000');
}

test('a glyph that a font lacks is found in a PDF', async () => {
  const doc = openDocument('Title', null);
  const bytes = collect(doc);
  loadFonts(doc);
  doc.font('sans').text('日');
  doc.end();
  assert.ok(drawsMissingGlyph(await bytes));
});

const withoutSpaces = (text: string): string => text.replace(/\s/g, '');
const copied = (pdf: Uint8Array): string => withoutSpaces(pdfText(pdf));

for (const [script, font, subject] of SUBJECTS)
  test(`PDF shows ${script} with an embedded font and without boxes`, { skip }, async () => {
    const pdf = await reportPdf({ ...GOOD, subject });
    assert.ok(copied(pdf).includes(withoutSpaces(subject)), 'copied as written');
    const fonts = pdfFonts(pdf).split('\n').slice(2).filter(Boolean);
    assert.ok(fonts.some((line) => font.test(line)));
    for (const line of fonts) assert.match(line, /yes +yes +yes +\d+ +0$/, 'embedded as a subset');
    assert.equal(drawsMissingGlyph(pdf), false);
    assert.ok(pdf.length < 200_000, `${pdf.length} bytes`);
  });

const fontsOf = (text: string, style = STYLE): [string, string][] =>
  layOut(text, 1000, style, FONTS).lines[0]!.map(({ text, font }) => [text, font]);

test('mixed text is split into runs of one font', () => {
  assert.deepEqual(
    fontsOf('日本語のSale 🎉').filter(([text]) => text !== ' '),
    [
      ['日本語', 'noto-sans-jp'],
      ['の', 'noto-sans-jp'],
      ['Sale', 'sans'],
      ['🎉', 'noto-emoji'],
    ],
  );
  const mono = fontsOf('利用者@例え.example', { ...STYLE, face: 'mono' });
  assert.deepEqual(new Set(mono.map(([, font]) => font)), new Set(['noto-sans-jp', 'mono']));
  // Symbols that are text unless a variation selector follows stay with the text.
  assert.deepEqual(fontsOf('✓❤'), [['✓❤', 'sans']]);
});

test('Chinese characters have the forms of the language of the text', () => {
  assert.equal(fontForHan('東京駅'), 'noto-sans-jp');
  assert.equal(fontForHan('直ちに'), 'noto-sans-jp');
  assert.equal(fontForHan('订单已发货'), 'noto-sans-sc');
  assert.equal(fontForHan('訂單已經出貨囉'), 'noto-sans-tc');
  assert.equal(fontForHan('Hello'), null);
});

test('a sequence of emoji is one glyph', () => {
  const one = FONTS.width('noto-emoji', '🎉');
  for (const sequence of ['👍🏽', '👨‍👩‍👧', '🇯🇵', '🏳️‍🌈', '👩🏽‍💻', '1️⃣'])
    assert.equal(FONTS.width('noto-emoji', sequence), one, sequence);
});

test('Korean syllables in parts are shown as syllables', () => {
  assert.deepEqual(fontsOf('한글'.normalize('NFD')), [['한글', 'noto-sans-kr']]);
});

const markersOf = (text: string): string =>
  layOut(text, 1000, STYLE, FONTS)
    .lines[0]!.map((piece) => piece.marker ?? piece.text)
    .join('');

test('text in a script without a font is named', () => {
  const cases = {
    தமிழ்: '[Tamil text: no font]',
    'From தமிழ் மொழி, வணக்கம் to বাংলা':
      'From [Tamil text: no font], [Tamil text: no font] to [Bengali text: no font]',
    'a\ue000\ue001\u0378b': 'a[unknown character]b',
    '\u{13000}': '[text: no font]',
    '\u{1fa00}': '[symbol: no font]',
    'a\u0007b': 'a·b',
  };
  for (const [text, shown] of Object.entries(cases)) assert.equal(markersOf(text), shown, text);
});

test('text without a font is copied as written, also from a narrow column', { skip }, async () => {
  const subject = 'தமிழ் மொழி, '.repeat(12).trim();
  const pdf = await reportPdf({ ...GOOD, subject });
  assert.ok(copied(pdf).includes(withoutSpaces(subject)));
  assert.equal(drawsMissingGlyph(pdf), false);
  for (const width of [12, 20, 50, 90])
    for (const line of layOut(subject, width, STYLE, FONTS).lines)
      assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}`);
});

test('lines of Chinese, Japanese and Thai break between words', () => {
  const texts = [
    '日本語の長い文章は、空白がなくても、行の幅を超えません。「ありがとう」ございます！'.repeat(9),
    '您的订单已发货，请注意查收。如有问题，请联系客服。'.repeat(9),
    'การตัดคำภาษาไทยเป็นเรื่องที่ซับซ้อนเนื่องจากไม่มีช่องว่าง'.repeat(9),
  ];
  for (const text of texts)
    for (const width of [60, 200, 451]) {
      const { lines } = layOut(text, width, STYLE, FONTS);
      for (const line of lines) {
        assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}`);
        // A word longer than a line is split anywhere.
        if (width < 200) continue;
        assert.doesNotMatch(line[0]!.text, /^[、。，」！\p{M}]/u);
        assert.doesNotMatch(line.at(-1)!.text, /「$/u);
      }
      for (const line of lines.slice(0, -1)) assert.ok(widthOf(line) > width / 3, 'lines are used');
      assert.equal(
        lines
          .flat()
          .map((piece) => piece.text)
          .join(''),
        text,
      );
    }
});
