/** Thousands of damaged messages: the parser answers each, and its answer holds together. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../src/analysis/message.ts';
import { parseMessage } from '../../src/analysis/parse-message.ts';

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

/** mulberry32: the same sequence in every run, so that what fails can be found again. */
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

test(`${ROUNDS.toLocaleString('en')} mutations of a message are parsed without contradiction`, async () => {
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
