import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { INBOX_LISTS } from '../../../src/report/preview/inbox-lists.ts';
import { fitText, graphemesOf, textWidth } from '../../../src/report/preview/text-width.ts';

const style = { size: 10, bold: false };

for (const [file, bold] of [
  ['Helvetica', false],
  ['Helvetica-Bold', true],
] as const)
  test(`The widths of ASCII characters are those of ${file}`, () => {
    const metrics = readFileSync(
      new URL(`../../../node_modules/pdfkit/js/data/${file}.afm`, import.meta.url),
      'utf8',
    );
    let compared = 0;
    for (const [, code, width, name] of metrics.matchAll(/^C (\d+) ; WX (\d+) ; N (\S+)/gm)) {
      // In this encoding, the codes of the two straight quotes are those of curly ones.
      if (Number(code) > 126 || name!.startsWith('quote')) continue;
      const character = String.fromCharCode(Number(code));
      assert.equal(
        Math.round(textWidth(character, { size: 1000, bold })),
        Number(width),
        character,
      );
      compared += 1;
    }
    assert.ok(compared > 90);
  });

test('Widths of other scripts follow their kind', () => {
  assert.equal(textWidth('東京', style), 20);
  assert.equal(textWidth('é', style), textWidth('e', style));
  assert.equal(textWidth('e\u0301', style), textWidth('e', style));
  assert.equal(textWidth('👩‍👩‍👧‍👦', style), textWidth('🚂', style));
  assert.equal(textWidth('1️⃣', style), textWidth('🚂', style));
  assert.equal(textWidth('a\u200bb\ufeff', style), textWidth('ab', style));
  assert.ok(textWidth('ШШШ', style) > textWidth('iii', style));
});

test('fitText keeps text that fits and cuts the rest with an ellipsis', () => {
  assert.deepEqual(fitText('abc', { width: 100, lines: 1 }, style), {
    shown: 'abc',
    isCut: false,
    lastLineWidth: textWidth('abc', style),
  });
  const { shown, isCut } = fitText('The quick brown fox', { width: 60, lines: 1 }, style);
  assert.equal(shown, 'The quick…');
  assert.ok(isCut);
  assert.equal(fitText('abc', { width: 1, lines: 1 }, style).shown, '');
});

test('fitText never cuts within an emoji or a letter with accents', () => {
  const text = '👩‍👩‍👧‍👦e\u0301🇯🇵'.repeat(20);
  const whole = new Set(graphemesOf(text));
  for (let width = 0; width < 200; width += 1)
    for (const cluster of graphemesOf(fitText(text, { width, lines: 2 }, style).shown))
      assert.ok(whole.has(cluster) || cluster === '…', cluster);
});

test('fitText breaks lines between words, and between characters in scripts without spaces', () => {
  assert.equal(fitText('wide words here', { width: 60, lines: 2 }, style).isCut, false);
  // "extraordinary" moves to the second line, where it is cut.
  assert.equal(
    fitText('the extraordinary', { width: 55, lines: 2 }, style).shown,
    'the extraordin…',
  );
  assert.equal(fitText('東京都千代田区丸の内', { width: 50, lines: 2 }, style).isCut, false);
  assert.equal(fitText('東京都千代田区丸の内口', { width: 50, lines: 2 }, style).isCut, true);
});

test('Lists cut about as many characters as published tests and guides state', () => {
  const pangrams = 'The quick brown fox jumps over the lazy dog '.repeat(10);
  const cut = (name: string) => {
    const list = INBOX_LISTS.find((entry) => entry.name === name)!;
    const length = (width: number, lines: number, font: typeof style) =>
      fitText(pangrams, { width, lines }, font).shown.length;
    return [
      length(list.subject.width, 1, list.subject),
      length(list.preview.width, list.preview.lines, list.preview),
    ];
  };
  const [subject, preview] = cut('Apple Mail on iPhone');
  assert.ok(Math.abs(subject! - 48) <= 3, `${subject} of 48`);
  assert.ok(Math.abs(preview! - 99) <= 6, `${preview} of 99`);
  const [phone] = cut('Gmail app');
  assert.ok(phone! >= 35 && phone! <= 45, `${phone} of 35 to 45`);
});
