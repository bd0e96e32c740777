/** The checks `encoding` and `line_length`. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckStatus } from '../../../src/analysis/check.ts';
import { encoding } from '../../../src/analysis/checks/encoding.ts';
import { lineLength } from '../../../src/analysis/checks/line-length.ts';
import { runCheck } from '../../helpers/analysis.ts';
import { goodMessage, latin1 } from '../../helpers/good-message.ts';

const eightBit = { 'Content-Transfer-Encoding': '8bit' };
const raw = (text: string) => Buffer.from(text, 'latin1');
const mixed = (part: string) =>
  goodMessage({ 'Content-Type': 'multipart/mixed; boundary=x' }, `--x\n${part}\n--x--\n`);

const cases: [string, string | Uint8Array, CheckStatus, RegExp?][] = [
  ['ASCII', goodMessage(), 'pass'],
  ['declared 8-bit', goodMessage(eightBit, 'Grüße\n'), 'pass'],
  ['declared binary', goodMessage({ 'Content-Transfer-Encoding': 'binary' }, 'Grüße\n'), 'pass'],
  ['no transfer encoding', goodMessage({}, 'Grüße\n'), 'fail', /does not declare it/],
  [
    '7bit with 8-bit data',
    goodMessage({ 'Content-Transfer-Encoding': '7bit' }, 'Grüße\n'),
    'fail',
    /does not declare it/,
  ],
  [
    'quoted-printable with raw 8-bit',
    goodMessage({ 'Content-Transfer-Encoding': 'quoted-printable' }, 'Gr=C3=BCße\n'),
    'fail',
    /does not declare it/,
  ],
  [
    'no character set',
    goodMessage({ ...eightBit, 'Content-Type': 'text/plain' }, 'Grüße\n'),
    'fail',
    /undeclared character set/,
  ],
  [
    'a binary part without character set',
    mixed('Content-Type: image/png\nContent-Transfer-Encoding: binary\n\nö'),
    'pass',
  ],
  [
    '8-bit in the header of a part',
    mixed('Content-Type: image/png; name=ö.png\n\nx'),
    'warn',
    /between its parts/,
  ],
  ['raw UTF-8 in the header', goodMessage({ Subject: 'Grüße' }), 'warn', /raw UTF-8 in Subject/],
  [
    'raw UTF-8 beside an address that needs it',
    goodMessage({ Subject: 'Grüße', From: 'jörg@example.com' }),
    'pass',
  ],
  [
    'raw Latin-1 in the header',
    latin1(goodMessage({ Subject: 'Gr\xfc\xdfe' })),
    'fail',
    /unknown encoding in Subject/,
  ],
  ['NUL', goodMessage({}, 'a\0b\n'), 'fail', /NUL bytes \(1\)/],
  [
    'bare LF',
    raw('From: a@example.com\r\nTo: b@example.com\n\r\nx\n'),
    'fail',
    /LF without CR \(2\)/,
  ],
  ['bare CR', raw('From: a@example.com\r\n\r\na\rb\r\n'), 'fail', /CR characters without LF \(1\)/],
  [
    'a header line that is not a field',
    raw('From: a@example.com\r\nhello there\r\n\r\nx\r\n'),
    'warn',
    /"hello there"/,
  ],
  [
    'UTF-8 declared as US-ASCII',
    goodMessage({ ...eightBit, 'Content-Type': 'text/plain; charset=us-ascii' }, 'Grüße\n'),
    'fail',
    /declares US-ASCII/,
  ],
  [
    'Latin-1 declared as UTF-8',
    latin1(goodMessage(eightBit, 'Gr\xfc\xdfe\n')),
    'fail',
    /not valid UTF-8/,
  ],
  [
    'an unknown character set',
    goodMessage({ 'Content-Type': 'text/plain; charset=utf-7' }),
    'warn',
    /unknown character set/,
  ],
  [
    'encoded text without a character set',
    goodMessage({ 'Content-Type': 'text/plain', 'Content-Transfer-Encoding': 'base64' }, 'w7w=\n'),
    'warn',
    /without a declared character set/,
  ],
  [
    'text that is not base64',
    goodMessage({ 'Content-Transfer-Encoding': 'base64' }, 'Hello, this is a text.\n'),
    'fail',
    /not base64/,
  ],
  [
    'an unknown encoding',
    goodMessage({ 'Content-Transfer-Encoding': '8-bit' }),
    'fail',
    /unknown transfer encoding/,
  ],
  [
    'a reference to content elsewhere',
    mixed('Content-Type: message/external-body; access-type=URL; URL="https://a.example/"\n\n'),
    'warn',
    /external-body/,
  ],
];

for (const [name, message, status, says] of cases)
  test(`encoding check reports ${status}: ${name}`, async () => {
    const finding = await runCheck(encoding, { message });
    assert.equal(finding.status, status, finding.title);
    if (says) assert.match(finding.title + finding.detail, says);
    if (status !== 'pass') assert.ok(finding.fix?.text);
  });

test('encoding check includes the fields named in the title in the evidence', async () => {
  const lines = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `X-${name}: \xff\r\n`);
  const finding = await runCheck(encoding, {
    message: raw(`Subject: \xff\r\n${lines.join('')}\r\n`),
  });
  assert.match(finding.title, /in Subject, X-a, X-b, X-c, X-d\.$/);
  assert.deepEqual(finding.evidence?.eight_bit_fields, ['Subject', 'X-a', 'X-b', 'X-c', 'X-d']);
});

test('encoding check combines several problems in one finding', async () => {
  const finding = await runCheck(encoding, {
    message: raw('From: a@example.com\r\nSubject: \xc3\xa9\r\n\r\na\0\r\nb\n'),
  });
  assert.equal(finding.status, 'fail');
  assert.match(finding.title, /NUL/);
  assert.match(finding.detail, /LF without CR .*raw UTF-8/);
});

test('encoding check reports exceeded parser limits', async () => {
  const finding = await runCheck(encoding, { message: mixed('\n--x\n'.repeat(2000)) });
  assert.equal(finding.status, 'fail');
  assert.equal(finding.title, 'Your message has 2,001 MIME parts, of which 1,000 were read.');
});

test('line_length check passes a line of 998 bytes and shows the recommendation', async () => {
  const finding = await runCheck(lineLength, { message: goodMessage({}, `${'x'.repeat(998)}\n`) });
  assert.equal(finding.status, 'pass');
  assert.deepEqual([finding.evidence?.longest, finding.evidence?.recommended], [998, 78]);
});

test('line_length check fails a line of 999 bytes in the body with the line number', async () => {
  const finding = await runCheck(lineLength, {
    message: goodMessage({}, `a\n${'x'.repeat(999)}\n`),
  });
  assert.equal(finding.status, 'fail');
  assert.deepEqual([finding.evidence?.line, finding.evidence?.too_long], [10, 1]);
  assert.match(finding.fix?.text ?? '', /quoted-printable/);
});

test('line_length check fails 999 bytes in a header field and suggests folding', async () => {
  const finding = await runCheck(lineLength, {
    message: goodMessage({ 'X-Data': 'x'.repeat(999) }),
  });
  assert.equal(finding.status, 'fail');
  assert.match(finding.fix?.text ?? '', /Fold the header field in line 8/);
});
