/** Messages made to stall a parser are parsed within limits, and the report names exceeded limits. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIMITS, type Message } from '../../../src/analysis/mime/message.ts';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';

const HEADER = 'From: a@example.com\r\nSubject: hi\r\n';
const parse = (text: string) => parseMessage(Buffer.from(text, 'latin1'));
const mixed = (body: string) =>
  parse(`${HEADER}Content-Type: multipart/mixed; boundary=x\r\n\r\n${body}`);

/** `depth` multiparts, each the only part of the one around it, with a text in the innermost. */
function nested(depth: number): string {
  const open = Array.from(
    { length: depth },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}x\r\n\r\n--b${i}x\r\n`,
  );
  return `${HEADER}${open.join('')}\r\ninnermost`;
}

describe('parseMessage with many or nested parts', () => {
  test('reads as many parts as the limit', async () => {
    const message = await mixed(`${'--x\r\n\r\na\r\n'.repeat(LIMITS.parts)}--x--`);
    assert.equal(message.parts.length, LIMITS.parts);
    assert.deepEqual(message.exceededLimits, []);
  });

  test('counts 50,000 parts and reads the first 1,000', async () => {
    const message = await mixed(`${'--x\r\n\r\na\r\n'.repeat(50_000)}--x--`);
    assert.equal(message.parts.length, LIMITS.parts);
    assert.deepEqual(message.exceededLimits, ['50,000 MIME parts, of which 1,000 were read']);
  });

  test('stops counting parts at 100,000', async () => {
    const message = await mixed('--x\r\n'.repeat(1_000_000));
    assert.deepEqual(message.exceededLimits, [
      'at least 100,000 MIME parts, of which 1,000 were read',
    ]);
  });

  test('reads nesting up to the limit', async () => {
    const message = await parse(nested(LIMITS.depth));
    assert.equal(message.text, 'innermost');
    assert.deepEqual(message.exceededLimits, []);
  });

  test('keeps deeper nesting as one undivided part', async () => {
    const message = await parse(nested(500));
    assert.deepEqual(message.exceededLimits, ['MIME parts nested more than 50 deep']);
    assert.deepEqual(
      message.parts.map(({ type }) => type),
      ['multipart/mixed'],
    );
  });

  test('stops at endless header fields in parts', async () => {
    const message = await mixed(`--x\r\n\r\nfirst\r\n--x\r\n${'X: y\r\n'.repeat(300_000)}`);
    assert.deepEqual(message.exceededLimits, ['more than 1 MB of header fields in its MIME parts']);
    assert.equal(message.text, 'first');
  });
});

describe('parseMessage takes linear time', () => {
  const bombs: [string, string, (text: string | null, html: string | null) => void][] = [
    [
      'nested div',
      `Content-Type: text/html\r\n\r\n${'<div>'.repeat(200_000)}`,
      (_, html) => assert.equal(html?.length, 1_000_000),
    ],
    [
      'empty lines',
      `\r\n${'\n'.repeat(5_000_000)}`,
      (text) => assert.equal(text?.length, 5_000_000),
    ],
    [
      'base64 groups of one',
      `Content-Transfer-Encoding: base64\r\n\r\n${'QQ=='.repeat(500_000)}`,
      (text) => assert.equal(text?.length, 500_000),
    ],
    [
      'invalid soft breaks',
      `Content-Transfer-Encoding: quoted-printable\r\n\r\n${`=${' '.repeat(500)}`.repeat(4000)}`,
      (text) => assert.equal(text?.length, 4000 * 501),
    ],
    [
      'lines that could be delimiters',
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x-\r\n'.repeat(300_000)}`,
      (text) => assert.equal(text, null),
    ],
    [
      'parentheses in a type',
      `Content-Type: text/plain${'('.repeat(900_000)}\r\n\r\nhi`,
      (text) => assert.equal(text, 'hi'),
    ],
    [
      'parameters of a type',
      `Content-Type: text/plain${';a*1*=b'.repeat(130_000)}\r\n\r\nhi`,
      (text) => assert.equal(text, 'hi'),
    ],
  ];
  for (const [name, rest, expect] of bombs)
    test(`for ${name}`, async () => {
      const message = await parse(`${HEADER}${rest}`);
      assert.deepEqual(message.exceededLimits, []);
      expect(message.text, message.html);
    });

  test('for a To field of 450 kB and 100,000 fields', async () => {
    const to = `To: ${'a@example.com, '.repeat(30_000)}b@example.com\r\n`;
    const message = await parse(`${to}${'X: y\r\n'.repeat(95_000)}\r\nhi`);
    assert.equal(message.headers.length, 95_001);
    assert.equal(message.headers[0]?.raw.length, to.length - 2);
    assert.deepEqual(message.exceededLimits, []);
  });

  for (const piece of ['a@example.com, ', 'a:', '<', '@', '"', '(', '=?utf-8?q?a?= '])
    test(`for a From field of 450 kB of ${piece}`, async () => {
      const message = await parse(`From: ${piece.repeat(450_000 / piece.length)}\r\n\r\nhi`);
      assert.equal(message.text, 'hi');
    });
});

// Thousands of damaged messages: every result is consistent.

const ROUNDS = 4000;

const SOURCE = [
  'Received: from a.example.com ([192.0.2.1])',
  '\tby b.example.com; Sat, 21 Nov 2026 10:00:00 +0000',
  'From: "Example, Ltd" <news@example.com>',
  'To: Team: a@example.com, =?utf-8?B?w6k=?= <b@example.com>;',
  'Subject: =?utf-8?Q?Caf=C3=A9?=',
  'Date: Sat, 21 Nov 2026 10:00:00 +0000 (UTC)',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="out"',
  '',
  '--out',
  'Content-Type: multipart/alternative; boundary=in',
  '',
  '--in',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Caf=E9 =',
  'and tea',
  '--in',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Hello</p>',
  '--in--',
  '--out',
  "Content-Type: application/pdf; name*0*=utf-8''caf%C3; name*1*=%A9.pdf",
  'Content-Transfer-Encoding: base64',
  'Content-Disposition: attachment',
  '',
  'JVBERi0xLjQK',
  '--out--',
  '',
].join('\r\n');

const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  '"',
  '(',
  ')',
  ';',
  '=',
  '--out',
  '--in--',
  '\r\n\r\n',
  '\xff',
  '=?',
  '?=',
  '*0*=',
  ':',
  '<',
  '>',
  ' ',
];

/** mulberry32: the same sequence in every run, so that failures are reproducible. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function mutate(source: string, random: (below: number) => number): string {
  let text = source;
  for (let times = 1 + random(6); times > 0; times--) {
    const at = random(text.length + 1);
    const length = random(40);
    const piece = PIECES[random(PIECES.length)]!;
    const changes = [
      () => text.slice(0, at) + piece + text.slice(at),
      () => text.slice(0, at) + text.slice(at + length),
      () => text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1),
      () => text.slice(0, at) + text.slice(random(text.length + 1)),
      () => text.slice(0, at) + text.slice(at, at + length).repeat(3) + text.slice(at),
    ];
    text = changes[random(changes.length)]!();
  }
  return text;
}

function assertConsistent(message: Message, text: string): void {
  assert.equal(message.size, text.length);
  assert.ok(message.headerBytes <= message.bodyStart && message.bodyStart <= text.length);
  // Every octet of the header block is in exactly one field.
  let position = 0;
  for (const { raw } of message.headers) {
    assert.equal(text.slice(position, position + raw.length), raw);
    position += raw.length;
    position += text.startsWith('\r\n', position) ? 2 : 1;
  }
  assert.ok(position >= message.headerBytes);
  let end = message.bodyStart;
  for (const part of message.parts) {
    assert.ok(part.start >= end && part.end >= part.start && part.end <= text.length);
    assert.equal(part.size, part.content.length);
    end = part.end;
  }
}

test(`parseMessage handles ${ROUNDS.toLocaleString('en')} mutated messages consistently`, async () => {
  const random = seededRandom(20261121);
  for (let round = 0; round < ROUNDS; round++) {
    const text = mutate(SOURCE, random);
    try {
      assertConsistent(await parseMessage(Buffer.from(text, 'latin1')), text);
    } catch (error) {
      throw new Error(`round ${round}: ${JSON.stringify(text)}`, { cause: error });
    }
  }
});

describe('parseMessage with endless text', () => {
  test('reads the first 6 MiB of text and of HTML, and names the limit', async () => {
    const html = await parse(
      `Content-Type: text/html\r\n\r\n${'<p>Hello</p>\r\n'.repeat(700_000)}`,
    );
    assert.equal(html.html!.startsWith('<p>Hello</p>\n<p>'), true);
    assert.ok(html.html!.length <= LIMITS.textBytes);
    assert.ok(html.htmlSize > LIMITS.textBytes);
    assert.match(html.exceededLimits.join(), /MB of HTML, of which .* MB was read/);
    const two = await mixed(`${'--x\r\n\r\n'}${'text\r\n'.repeat(600_000)}`.repeat(3));
    assert.ok(two.text!.length <= LIMITS.textBytes + 3);
    assert.match(two.exceededLimits.join(), /MB of text, of which/);
  });
});
