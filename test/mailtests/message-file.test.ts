/** Files and uploads that are no message: what they are, and what to do. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { notAMessage } from '../../src/mailtests/message-file.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { pngOf } from '../report/reports.ts';

const MESSAGE = readFileSync('examples/message.eml');
const lines = (...text: string[]): Buffer => Buffer.from(text.join('\r\n'));
const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)]);

const OTHER_FILES: [name: string, bytes: Uint8Array, says: RegExp][] = [
  [
    'an Outlook message',
    ole,
    /^f is an Outlook \.msg file .*, not an email message\. .* as an \.eml file/,
  ],
  ['an Outlook data file', lines('!BDN\0\0\0'), /Outlook data file/],
  ['winmail.dat', Buffer.from('789f3e2201', 'hex'), /winmail\.dat/],
  ['a gzip archive', gzipSync(MESSAGE), /gzip archive.*Unpack it/],
  [
    'a ZIP archive',
    Buffer.concat([Buffer.from('PK\x03\x04'), deflateRawSync(MESSAGE)]),
    /ZIP archive/,
  ],
  [
    'a PDF',
    lines('%PDF-1.7', '1 0 obj'),
    /^f is a PDF, not an email message\. Save the message as an \.eml/,
  ],
  ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), /JPEG image/],
  ['a PNG', pngOf(2, 2), /PNG image/],
  ['a GIF', lines('GIF89a'), /GIF image/],
  ['a program', readFileSync(process.execPath).subarray(0, 4096), /a program/],
  ['UTF-16 text', Buffer.from('\ufeffFrom: a@example.com\r\n', 'utf16le'), /text in UTF-16/],
  ['an HTML page', lines('', '<!DOCTYPE html>', '<p>Subject: x</p>'), /HTML page.*whole message/],
  ['HTML without a doctype', lines('<html><body>'), /HTML page/],
  ['XML', lines('<?xml version="1.0"?>'), /XML document/],
  ['RTF', lines('{\\rtf1 x}'), /RTF document/],
  ['JSON', lines('{"subject": "x"}'), /is JSON/],
  [
    'an Apple Mail file',
    Buffer.concat([lines('912', ''), lines('X: y'), Buffer.from('\r\n\r\n')]),
    /\.emlx file/,
  ],
  ['white space', lines('', ' ', ''), /only white space/],
  ['plain text', lines('Dear Alex,', 'see below.'), /does not begin with header fields/],
  ['a body that quotes a header', lines('Hello', '', 'From: a@example.com'), /does not begin/],
  ['random bytes', Buffer.from([1, 0, 2, 0, 3, 10, 4]), /is a binary file/],
];

for (const [name, bytes, says] of OTHER_FILES)
  test(`notAMessage recognizes ${name}`, () => assert.match(notAMessage('f', bytes) ?? '', says));

const mbox = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, () =>
      Buffer.concat([
        Buffer.from('From a@example.com Mon Nov 23 09:30:00 2026\n'),
        MESSAGE,
        Buffer.from('\n'),
      ]),
    ),
  );

test('notAMessage counts the messages of a mailbox file', () => {
  assert.equal(notAMessage('f', mbox(1)), null);
  assert.match(
    notAMessage('f', mbox(3)) ?? '',
    /mailbox file \(mbox\) with 3 messages.*own \.eml file/,
  );
});

test('notAMessage reads hostile mailbox files in linear time', () => {
  const MB = 1024 * 1024;
  for (const filler of [
    '00:00 ',
    'From a 00:00',
    'a',
    '\n\nFrom a 0',
    '\n\nFrom '.padEnd(300, 'b'),
  ]) {
    const bytes = Buffer.alloc(4 * MB, filler);
    bytes.write('From a@example.com Mon Nov 23 09:30:00 2026\nFrom: a\n\n');
    const started = cpuTime();
    notAMessage('f', bytes);
    const ms = cpuTime() - started;
    assert.ok(ms < 2000, `${filler.slice(0, 12)}: ${ms} ms`);
  }
});

test('notAMessage accepts messages, however strange', () => {
  for (const message of [
    MESSAGE,
    lines('Subject: x', '', 'y'),
    lines('\ufeffFrom: a@example.com', ''),
    lines('X-Strange: 1', ''),
    lines('junk line', 'From : a@example.com', ''),
    Buffer.concat([lines('Content-Type: application/octet-stream', '', ''), Buffer.alloc(100)]),
    // A quoted mbox line in a message that is not in a mailbox file.
    lines('Subject: x', '', 'From a@example.com Mon Nov 23 09:30:00 2026', 'From: b', ''),
  ])
    assert.equal(notAMessage('f', message), null, message.toString('latin1').slice(0, 40));
});
