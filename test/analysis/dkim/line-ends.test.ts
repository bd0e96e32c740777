/** Bare LF in messages: read as mailauth reads them, with work that does not depend on the number of lines. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import { withCrlf } from '../../../src/analysis/dkim/line-ends.ts';
import { dkimResult } from '../../../src/analysis/dkim/verify.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { KEYS, sign, zoneWith } from './signed-mail.ts';

const zone = zoneWith(KEYS.rsa.record);

test('withCrlf adds a CR before each LF without one, and changes nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('\r', '\n', 'a', 'é'), { maxLength: 50 }), (parts) => {
      const text = parts.join('');
      const raw = Buffer.from(text);
      const expected = text.replace(/(?<!\r)\n/g, '\r\n');
      assert.equal(withCrlf(raw, text.split('\n').length).toString(), expected);
    }),
  );
});

test('A signature verifies whether all lines end with LF, some, or none', async () => {
  const signed = (await sign()).toString('latin1');
  for (const text of [
    signed,
    signed.replaceAll('\r\n', '\n'),
    signed.replace(/\r\n(?=this)/, '\n'),
    signed.replace(/\r\n\r\n/, '\n\n'),
  ]) {
    const { result, reason } = await dkimResult(
      await contextFor({ message: Buffer.from(text, 'latin1'), zone }),
    );
    assert.equal(result, 'pass', reason ?? '');
  }
});

test('mailauth gets a message with a million bare LFs in pieces of 64 KiB, not line by line', async (t) => {
  const body = Buffer.from('a\n'.repeat(1_000_000));
  const context = await contextFor({ message: Buffer.concat([await sign(), body]), zone });
  const { nextChunk } = DkimVerifier.prototype;
  let pieces = 0;
  t.after(() => {
    DkimVerifier.prototype.nextChunk = nextChunk;
  });
  DkimVerifier.prototype.nextChunk = function (piece) {
    pieces += 1;
    return nextChunk.call(this, piece);
  };
  const { result } = await dkimResult(context);
  assert.equal(result, 'fail');
  assert.ok(pieces <= 60, `${pieces} pieces`);
});
