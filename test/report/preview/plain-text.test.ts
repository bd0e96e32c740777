import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';
import {
  type TextFormat,
  textAsShown,
  textFormatOf,
} from '../../../src/report/preview/plain-text.ts';

const FIXED: TextFormat = { formatFlowed: false, delSp: false };
const FLOWED: TextFormat = { formatFlowed: true, delSp: false };

/** Each paragraph as its quote depth and text; URLs in braces. */
const shown = (text: string, format: TextFormat) =>
  textAsShown(text, format).paragraphs.map(
    ({ quoteDepth, spans, isSignature }) =>
      `${quoteDepth}${isSignature ? 's' : ''} ${spans.map((span) => (span.isUrl ? `{${span.text}}` : span.text)).join('')}`,
  );

const CASES: [what: string, text: string, format: TextFormat, paragraphs: string[]][] = [
  [
    'lines without format=flowed',
    'one \ntwo\n\nthree',
    FIXED,
    ['0 one ', '0 two', '0 ', '0 three'],
  ],
  ['soft breaks', 'one \ntwo \nthree\nfour', FLOWED, ['0 one two three', '0 four']],
  [
    'protected lines',
    ' From here \n > not a quote\n  indented',
    FLOWED,
    ['0 From here > not a quote', '0  indented'],
  ],
  [
    'quotes without format=flowed',
    '> > two\n>one\n> one\nnone > x',
    FIXED,
    ['2 two', '1 one', '1 one', '0 none > x'],
  ],
  ['quotes with soft breaks', '>> a \n>> b\n> c \nd', FLOWED, ['2 a b', '1 c ', '0 d']],
  ['a signature', 'Hello \n-- \nAnna \nAcme', FLOWED, ['0 Hello ', '0s -- ', '0s Anna Acme']],
  [
    'a signature without format=flowed',
    'Hello\n-- \nAnna',
    FIXED,
    ['0 Hello', '0s -- ', '0s Anna'],
  ],
  ['a quoted separator', '> -- \n> Anna\nHello', FIXED, ['1 -- ', '1 Anna', '0 Hello']],
  ['DelSp', '東京 \n都\nend', { formatFlowed: true, delSp: true }, ['0 東京都', '0 end']],
  [
    'URLs',
    'See (https://acme.example/a_(b)). Or www.acme.example, <mailto:a@acme.example>!',
    FIXED,
    ['0 See ({https://acme.example/a_(b)}). Or {www.acme.example}, <{mailto:a@acme.example}>!'],
  ],
  ['control characters', 'a\u202eb\u0007c\td', FIXED, ['0 a b c\td']],
];
for (const [what, text, format, paragraphs] of CASES)
  test(`textAsShown reads ${what}`, () => {
    assert.deepEqual(shown(text, format), paragraphs);
  });

const WRAPPED = `We have listened to what you wrote to us in the survey of last summer. The
line to Exampleville gets four more trains a day, and the last one leaves
at half past eleven.`;

const NOTES: [what: string, text: string, format: TextFormat, notes: RegExp[]][] = [
  [
    'wrapped lines',
    WRAPPED,
    FIXED,
    [/not format=flowed.*lines of up to 74 characters break twice/],
  ],
  ['wrapped lines that flow', WRAPPED.replaceAll('\n', ' \n'), FLOWED, []],
  ['wrapped lines declared as flowed', WRAPPED, FLOWED, [/no line ends with a space/]],
  ['short lines', 'One\nTwo\nThree', FIXED, []],
  ['a list', `- ${'word '.repeat(13)}\n- ${'word '.repeat(13)}\n`, FIXED, []],
  [
    'long paragraphs',
    `a\n${'word '.repeat(40)}\n${'word '.repeat(20)}`,
    FIXED,
    [/^2 lines are longer than 78 characters, the longest \(line 2\) has 200/],
  ],
  [
    'a long paragraph',
    'word '.repeat(40).trim(),
    FIXED,
    [/^Line 1 has 199 characters, more than 78/],
  ],
  [
    'a line over 998',
    'word '.repeat(300).trim(),
    FIXED,
    [/^Line 1 has 1,499 characters. Over 998/],
  ],
  ['a long URL', `https://acme.example/${'a'.repeat(100)}`, FIXED, [/^A URL has 121 characters/]],
  ['HTML tags', 'Hello<br>Anna', FIXED, [/HTML tags such as <br>/]],
  ['entities', 'Tom &amp; Anna', FIXED, [/HTML entities such as &amp;/]],
  ['a separator without its space', 'Hello\n--\nAnna', FIXED, [/lost its space/]],
  ['nothing', ' \n\u200b', FIXED, [/is empty/]],
];
for (const [what, text, format, notes] of NOTES)
  test(`textAsShown notes ${what}`, () => {
    const found = textAsShown(text, format).notes;
    assert.equal(found.length, notes.length, found.join(' '));
    for (const [i, note] of notes.entries()) assert.match(found[i]!, note);
    for (const note of found) assert.match(note, /\.$/);
  });

test('textFormatOf reads the parameters of all text parts', async () => {
  const formatOf = async (...types: string[]) => {
    const parts = types.map((type) => `--b\r\nContent-Type: ${type}\r\n\r\nx\r\n`).join('');
    const raw = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`;
    return textFormatOf((await parseMessage(Buffer.from(raw))).parts);
  };
  const flowed = 'text/plain; charset=utf-8; Format="Flowed"';
  assert.deepEqual(await formatOf(flowed), FLOWED);
  assert.deepEqual(await formatOf(`${flowed}; DelSp=Yes`, 'text/html'), {
    formatFlowed: true,
    delSp: true,
  });
  assert.deepEqual(await formatOf(flowed, 'text/plain'), FIXED);
  assert.deepEqual(await formatOf('text/plain; delsp=yes'), FIXED);
  assert.deepEqual(await formatOf('text/html'), FIXED);
});

test('textAsShown reads hostile text in bounded time and space', () => {
  for (const text of [
    '>'.repeat(1_000_000),
    '> '.repeat(1_000_000),
    '>\n'.repeat(1_000_000),
    `${' '.repeat(1_000_000)}x`,
    `${' \n'.repeat(90_000)}x`,
    'http://'.repeat(200_000),
    '<a '.repeat(400_000),
    '-- \n'.repeat(300_000),
    '(www.a)'.repeat(200_000),
  ])
    for (const format of [FIXED, FLOWED]) {
      const result = textAsShown(text, format);
      assert.ok(result.truncated || result.paragraphs.length <= 3000);
      assert.ok(JSON.stringify(result).length < 1_000_000);
    }
});
