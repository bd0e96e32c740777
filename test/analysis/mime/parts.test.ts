/** The MIME parts of a message: structure, decoding, character sets and names. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';

const parse = (...lines: string[]) => parseMessage(Buffer.from(lines.join('\r\n'), 'latin1'));

const multipart = (subtype: string, ...parts: string[][]) => [
  `Content-Type: multipart/${subtype}; boundary="=_b"`,
  '',
  'preamble',
  ...parts.flatMap((part) => ['--=_b', ...part]),
  '--=_b--',
  'epilogue',
];

const bytes = (content: Uint8Array) => Buffer.from(content).toString('latin1');

describe('parseMessage MIME structure', () => {
  test('reads text and HTML of multipart/alternative', async () => {
    const html = '<p>Caf=C3=A9</p>=\r\n<br>';
    const message = await parse(
      ...multipart(
        'alternative',
        ['Content-Type: text/plain; charset=UTF-8', '', 'Hello', ''],
        [
          'Content-Type: text/html; charset=utf-8',
          'Content-Transfer-Encoding: Quoted-Printable',
          '',
          html,
        ],
      ),
    );
    assert.equal(message.text, 'Hello\n');
    assert.equal(message.html, '<p>Café</p><br>');
    assert.equal(message.htmlSize, Buffer.byteLength('<p>Café</p><br>'));
    assert.deepEqual(
      message.parts.map(({ type, charset, encoding }) => [type, charset, encoding]),
      [
        ['text/plain', 'utf-8', null],
        ['text/html', 'utf-8', 'quoted-printable'],
      ],
    );
  });

  test('ends nested multiparts where an outer one continues', async () => {
    const message = await parse(
      'Content-Type: multipart/mixed; boundary=outer',
      '',
      '--outer',
      'Content-Type: multipart/alternative; boundary=inner',
      '',
      '--inner',
      '',
      'one',
      '--outer  ',
      'Content-Type: image/png',
      'Content-ID: <logo@example.com>',
      'Content-Disposition: inline',
      '',
      'PNG',
      '--inner',
      '--outer--',
      'epilogue',
    );
    assert.deepEqual(
      message.parts.map(({ type, content }) => [type, bytes(content)]),
      [
        ['text/plain', 'one'],
        ['image/png', 'PNG\r\n--inner'],
      ],
    );
    assert.equal(message.parts[1]?.contentId, 'logo@example.com');
    assert.equal(message.html, null);
  });

  test('distinguishes boundaries with a common prefix', async () => {
    const message = await parse(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: multipart/mixed; boundary=b1',
      '',
      '--b1',
      '',
      'inner',
      '--b1--',
      '--b',
      '',
      'outer',
      '--b--',
    );
    assert.deepEqual(
      message.parts.map(({ content }) => bytes(content)),
      ['inner', 'outer'],
    );
  });

  test('keeps an embedded message as one part', async () => {
    const message = await parse(
      ...multipart(
        'mixed',
        ['', 'see below'],
        ['Content-Type: message/rfc822', '', 'Content-Type: text/html', '', '<p>'],
      ),
    );
    assert.deepEqual(
      message.parts.map(({ type }) => type),
      ['text/plain', 'message/rfc822'],
    );
    assert.equal(message.html, null);
  });

  test('treats parts of a digest as messages by default', async () => {
    const message = await parse(...multipart('digest', ['', 'Subject: a', '', 'b']));
    assert.equal(message.parts[0]?.type, 'message/rfc822');
  });

  test('reads multiparts without delimiter, boundary or end', async () => {
    const none = await parse('Content-Type: multipart/mixed; boundary=x', '', 'text');
    assert.deepEqual([none.parts[0]?.type, none.text], ['multipart/mixed', null]);
    const noBoundary = await parse('Content-Type: multipart/mixed', '', '--x', '', 'text');
    assert.equal(noBoundary.parts.length, 1);
    const open = await parse('Content-Type: multipart/mixed; boundary=x', '', '--x', '', 'cut of');
    assert.equal(open.text, 'cut of');
    const noBody = await parse(
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      'X: y',
      '--x',
      '',
      'b',
      '--x--',
    );
    assert.deepEqual(
      noBody.parts.map(({ content }) => bytes(content)),
      ['', 'b'],
    );
  });

  test('does not use attached text as message text', async () => {
    const message = await parse(
      ...multipart('mixed', [
        'Content-Type: text/html; name=page.html',
        'Content-Disposition: ATTACHMENT; filename=page.html',
        '',
        '<p>',
      ]),
    );
    assert.deepEqual(
      [message.text, message.html, message.htmlSize, message.parts[0]?.disposition],
      [null, null, 0, 'attachment'],
    );
  });

  test('returns offsets of the raw part', async () => {
    const source = multipart('mixed', ['Content-Transfer-Encoding: base64', '', 'SGk=']).join(
      '\r\n',
    );
    const [part] = (await parseMessage(Buffer.from(source))).parts;
    assert.equal(source.slice(part?.start, part?.end), 'SGk=');
    assert.equal(bytes(part?.content ?? new Uint8Array()), 'Hi');
  });
});

describe('parseMessage transfer encodings', () => {
  const cases: [string, string, string, string][] = [
    ['base64', 'base64', 'SGVs\r\nbG8=\r\n', 'Hello'],
    ['base64 padded in each line', 'base64', 'QQ==\r\nQg==\r\n', 'AB'],
    ['base64 with other characters', 'BASE64 (a comment)', 'S*G V\tk', 'Hed'],
    ['base64 cut short', 'base64', 'SGVsb', 'Hel'],
    ['quoted-printable', 'quoted-printable', 'a=3Db=\r\nc=e9 ', 'a=bc\xe9 '],
    ['quoted-printable with padded soft break', 'quoted-printable', 'a= \t\r\nb=\nc', 'abc'],
    ['invalid quoted-printable', 'quoted-printable', '5=6 =G1 =', '5=6 =G1 '],
    ['an unknown encoding', 'x-uuencode', 'begin 644 a', 'begin 644 a'],
    ['none', '7bit', 'SGVs=3D', 'SGVs=3D'],
  ];
  for (const [name, encoding, body, expected] of cases)
    test(`decode ${name}`, async () => {
      const message = await parse(`Content-Transfer-Encoding: ${encoding}`, '', body);
      assert.equal(bytes(message.parts[0]?.content ?? new Uint8Array()), expected);
      assert.equal(message.parts[0]?.size, expected.length);
    });
});

describe('parseMessage character sets', () => {
  const cases: [string, string, string][] = [
    ['text/plain; charset=iso-8859-1', '\xe9', 'é'],
    ['text/plain; charset="KOI8-R"', '\xf0', 'П'],
    ['text/plain; charset=cp932', '\x82\xa0', 'あ'],
    ['text/plain; charset=no-such-set', '\xe9', 'é'],
    ['text/plain; charset=constructor', '\xe9', 'é'],
    ['text/plain', '\xc3\xa9', 'é'],
  ];
  for (const [type, body, expected] of cases)
    test(`decode ${type}`, async () => {
      assert.equal((await parse(`Content-Type: ${type}`, '', body)).text, expected);
    });
});

describe('parseMessage parameters', () => {
  const names: [string, string | null][] = [
    ['attachment; filename=report.pdf', 'report.pdf'],
    ['attachment; filename="a; b \\"c\\".pdf"', 'a; b "c".pdf'],
    ['attachment; filename=Invoice(1).pdf', 'Invoice(1).pdf'],
    ['attachment (see below); filename=a.pdf (the report)', 'a.pdf'],
    ["attachment; filename*=utf-8''caf%C3%A9.pdf; filename=cafe.pdf", 'café.pdf'],
    ["attachment; filename*1*=%A9.pdf; filename*0*=UTF-8'fr'caf%C3", 'café.pdf'],
    ['attachment; filename*0=one; filename*1=two', 'onetwo'],
    ['attachment; filename="=?utf-8?B?w6kucGRm?="', 'é.pdf'],
    ['attachment; filename=', null],
    ['attachment', null],
  ];
  for (const [value, expected] of names)
    test(`read ${value}`, async () => {
      const message = await parse(`Content-Disposition: ${value}`, '', 'x');
      assert.equal(message.parts[0]?.filename, expected);
      assert.equal(message.parts[0]?.disposition, 'attachment');
    });

  test('accept folded, quoted and continued boundaries', async () => {
    const message = await parse(
      'Content-Type: multipart/mixed;\r\n\tboundary*0="a b";\r\n\tboundary*1=c',
      '',
      '--a bc',
      '',
      'found',
      '--a bc--',
    );
    assert.equal(message.text, 'found');
  });

  test('fall back to plain text for an unreadable content type', async () => {
    const message = await parse('Content-Type: ???', '', 'x');
    assert.deepEqual([message.parts[0]?.type, message.text], ['text/plain', 'x']);
  });
});
