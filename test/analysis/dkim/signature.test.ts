/** Extracting and removing the DKIM-Signature fields of a message. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractSignatures, MAX_SIGNATURES } from '../../../src/analysis/dkim/signature.ts';

const take = (text: string) => extractSignatures(Buffer.from(text, 'latin1'));

test('extractSignatures finds signatures in any case, folded, with LF or CRLF', () => {
  const { values } = take(
    'DKIM-Signature: a=1;\r\n\tb=2\r\nFrom: x\r\ndkim-signature : c\nDKIM-SIGNATURE\r\n : d\r\n\r\nDKIM-Signature: body\r\n',
  );
  assert.deepEqual(values, ['a=1;\tb=2', 'c', 'd']);
});

test('extractSignatures ignores other fields, continuation lines and the body', () => {
  assert.deepEqual(
    take('X-DKIM-Signature: a\r\nSubject: x\r\n DKIM-Signature: b\r\n\r\n').values,
    [],
  );
  assert.deepEqual(take('\r\nDKIM-Signature: a\r\n\r\n').values, []);
  assert.deepEqual(take('').values, []);
});

test('extractSignatures returns the original bytes up to the limit', () => {
  const raw = Buffer.from(`${'DKIM-Signature: a\r\n'.repeat(MAX_SIGNATURES)}From: x\r\n\r\nbody`);
  const taken = extractSignatures(raw);
  assert.equal(taken.ignoredCount, 0);
  assert.equal(taken.raw.buffer, raw.buffer);
  assert.equal(taken.raw.length, raw.length);
});

test('extractSignatures removes only signatures beyond the limit', () => {
  const signature = (n: number) => `DKIM-Signature: n=${n};\r\n\tb=\xe4\r\n`;
  const message = (count: number) =>
    `X-A:  \xff\n${Array.from({ length: count }, (_, n) => `${signature(n)}X-${n}: \t${n}\r\n`).join('')}\r\nbody\xfe`;
  const { values, ignoredCount: ignored, raw } = take(message(MAX_SIGNATURES + 3));
  assert.equal(values.length, MAX_SIGNATURES);
  assert.equal(ignored, 3);
  let expected = message(MAX_SIGNATURES + 3);
  for (const n of [10, 11, 12]) expected = expected.replace(signature(n), '');
  assert.equal(raw.toString('latin1'), expected);
});
