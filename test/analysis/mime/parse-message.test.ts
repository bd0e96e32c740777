/** parseMessage keeps the exact bytes, and accepts any bytes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fields, fieldValue } from '../../../src/analysis/mime/message.ts';
import { parseMessage } from '../../../src/analysis/mime/parse-message.ts';

const parse = (text: string) => parseMessage(Buffer.from(text, 'latin1'));

describe('parseMessage header fields', () => {
  test('keep the raw field and return an unfolded value', async () => {
    const raw = 'sUBJECT:  one\r\n\ttwo  \r\n three\r\nFrom: a@example.com\r\n\r\nbody';
    const message = await parse(raw);
    assert.deepEqual(message.headers[0], {
      name: 'sUBJECT',
      key: 'subject',
      value: 'one\ttwo   three',
      raw: 'sUBJECT:  one\r\n\ttwo  \r\n three',
    });
    assert.equal(message.subject, 'one\ttwo   three');
    assert.equal(message.headerBytes, raw.indexOf('\r\n\r\n') + 2);
    assert.equal(message.bodyStart, raw.indexOf('body'));
    assert.equal(message.size, raw.length);
  });

  test('keep octets in raw and decode UTF-8 in value', async () => {
    const message = await parseMessage(Buffer.from('Subject: Grüße\r\n\r\n', 'utf8'));
    assert.equal(message.headers[0]?.value, 'Grüße');
    assert.equal(message.headers[0]?.raw, 'Subject: Gr\u00c3\u00bc\u00c3\u009fe');
  });

  const lineEnds: [string, string][] = [
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ];
  for (const [name, end] of lineEnds)
    test(`are found with ${name} line endings`, async () => {
      const message = await parse(['A: 1', 'B: 2', ' 3', '', 'text'].join(end));
      assert.deepEqual(
        message.headers.map(({ key, value }) => [key, value]),
        [
          ['a', '1'],
          ['b', '2 3'],
        ],
      );
      assert.equal(message.text, 'text');
    });

  test('are found with mixed line endings; a bare CR does not end a field', async () => {
    const message = await parse('A: 1\nB: 2\r\nC: 3\rD: 4\r\n\nrest');
    assert.deepEqual(
      message.headers.map(({ key, value }) => [key, value]),
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '3 D: 4'],
      ],
    );
    assert.equal(message.text, 'rest');
  });

  test('without a colon or with an invalid name get an empty name', async () => {
    const message = await parse(
      'From someone Sat Nov 21 10:00:00\r\nno colon here\r\nX : y\r\n\r\n',
    );
    assert.deepEqual(
      message.headers.map(({ name, value }) => [name, value]),
      [
        ['', 'From someone Sat Nov 21 10:00:00'],
        ['', 'no colon here'],
        ['X', 'y'],
      ],
    );
  });

  test('may have a fold between the name and the colon, as verifiers of DKIM read them', async () => {
    const message = await parse('From\r\n : a@example.com\r\nSubject: b\r\n\r\n');
    assert.deepEqual(
      message.headers.map(({ name, value }) => [name, value]),
      [
        ['From', 'a@example.com'],
        ['Subject', 'b'],
      ],
    );
  });

  test('are complete without an empty line; the body is then empty', async () => {
    const message = await parse('Subject: hi\r\nTo: a@example.com');
    assert.equal(fieldValue(message, 'to'), 'a@example.com');
    assert.equal(message.bodyStart, message.size);
    assert.equal(message.text, '');
  });

  test('beyond 1 MB are dropped and reported', async () => {
    const message = await parse(`From: a@example.com\r\n${'X: y\r\n'.repeat(200_000)}\r\nbody`);
    assert.match(message.exceededLimits[0] ?? '', /^a header of 1\.2 MB/);
    assert.equal(fieldValue(message, 'from'), 'a@example.com');
    assert.equal(message.text, 'body');
  });

  test('replace NUL characters', async () => {
    assert.equal((await parse('Subject: a\0b\r\n\r\n')).subject, 'a\ufffdb');
  });
});

describe('parseMessage From and Subject', () => {
  test('decode encoded words', async () => {
    const message = await parse(
      'From: =?utf-8?Q?Andr=C3=A9?= <andre@example.com>\r\nSubject: =?utf-8?B?w6k=?= =?utf-8?B?w6g=?=\r\n\r\n',
    );
    assert.deepEqual(message.from, [{ name: 'André', address: 'andre@example.com' }]);
    assert.equal(message.subject, 'éè');
  });

  test('flatten groups and use the first From field', async () => {
    const message = await parse(
      'From: Us: a@example.com, b@example.com;\r\nFrom: c@example.com\r\n\r\n',
    );
    assert.deepEqual(
      message.from.map(({ address }) => address),
      ['a@example.com', 'b@example.com'],
    );
    assert.equal(fields(message, 'FROM').length, 2);
  });

  test('are an empty list and null when missing', async () => {
    const message = await parse('X: y\r\n\r\n');
    assert.deepEqual(message.from, []);
    assert.equal(message.subject, null);
  });
});

describe('parseMessage line statistics', () => {
  test('count all irregularities', async () => {
    const long = 'x'.repeat(1200);
    const { lines } = await parse(
      `S: \xe9\r\n\r\none\n${long}\r\nt\rwo\0\r\n\xff\xfe${'y'.repeat(998)}`,
    );
    assert.deepEqual(lines, {
      count: 6,
      longest: 1200,
      longestLine: 4,
      over998: 2,
      bareCr: 1,
      bareLf: 1,
      nul: 1,
      eightBitHeader: 1,
      eightBitBody: 2,
    });
  });

  test('accept 998 octets', async () => {
    const { lines } = await parse(`S: a\r\n\r\n${'x'.repeat(998)}\r\n`);
    assert.deepEqual([lines.longest, lines.over998, lines.longestLine], [998, 0, 3]);
  });

  test('count an extra CR before CRLF as bare CR', async () => {
    assert.equal((await parse('S: a\r\n\r\na\r\r\n')).lines.bareCr, 1);
  });
});

describe('parseMessage with odd messages', () => {
  const odd: [string, Uint8Array][] = [
    ['nothing', new Uint8Array()],
    ['one line end', Buffer.from('\r\n')],
    ['a CR', Buffer.from('\r')],
    ['NUL octets', new Uint8Array(1000)],
    ['every octet', Uint8Array.from({ length: 4096 }, (_, i) => i % 256)],
    ['no header', Buffer.from('just\r\nsome text\r\n')],
    ['one line of a megabyte', Buffer.alloc(1_000_000, 'x')],
    ['an unaligned view', Buffer.from('xxSubject: hi\r\n\r\nbody').subarray(2)],
  ];
  for (const [name, raw] of odd)
    test(`accepts ${name}`, async () => {
      const message = await parseMessage(raw);
      assert.equal(message.size, raw.length);
      assert.equal(message.parts.length, 1);
      assert.deepEqual(message.exceededLimits, []);
    });

  test('does not read outside its buffer view', async () => {
    const around = Buffer.from('SECRETSubject: hi\r\n\r\nbodySECRET');
    const message = await parseMessage(around.subarray(6, around.length - 6));
    assert.equal(message.subject, 'hi');
    assert.equal(message.text, 'body');
  });
});
