/** The relaxed canonicalization of bodies: the same hash as mailauth, without work for each line. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RelaxedHash } from 'mailauth/lib/dkim/body/relaxed.js';
import { RelaxedBody } from '../../../src/analysis/dkim/relaxed-body.ts';
import { dkimResult } from '../../../src/analysis/dkim/verify.ts';
import { contextFor } from '../../helpers/analysis.ts';
import { KEYS, MESSAGE, sign, zoneWith } from './signed-mail.ts';

const zone = zoneWith(KEYS.rsa.record);

const PIECES = ['\r\n', '\r', ' ', '\t', 'a', 'é', '\t\r\n', ' \r\n', '\t \r'];
const bodies = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 });

/** The body in pieces of the given length. */
function relaxedIn(body: Buffer, length: number): Buffer[] {
  const relaxed = new RelaxedBody();
  const pieces = [];
  for (let at = 0; at < body.length; at += length)
    pieces.push(relaxed.write(body.subarray(at, at + length)));
  return [...pieces, relaxed.end()];
}

test('RelaxedBody follows RFC 6376 §3.4.4', () => {
  for (const [body, expected] of [
    [' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n\r\n\r\n'],
    ['\t\r\n \r\n', '\r\n\r\n'],
    ['a \t\rb\r\n', 'a \rb\r\n'],
    ['a\t \r', 'a \r'],
    ['a \t', 'a'],
    ['', ''],
  ])
    for (const length of [1, 2, 100])
      assert.equal(Buffer.concat(relaxedIn(Buffer.from(body!), length)).toString(), expected);
});

test('The hash of a relaxed body is the one of mailauth, with and without a length', () => {
  const lengths = fc.integer({ min: 1, max: 50 });
  fc.assert(
    fc.property(bodies, lengths, fc.option(fc.nat(60)), (parts, length, limit) => {
      const body = Buffer.from(parts.join(''));
      const [whole, quick] = [0, 1].map(() => new RelaxedHash('sha256', limit ?? undefined));
      whole!.update(body);
      for (const piece of relaxedIn(body, length)) quick!._pushBodyHash(piece);
      assert.equal(quick!.digest('base64'), whole!.digest('base64'));
    }),
    { numRuns: 1000 },
  );
});

const CANONICALIZATIONS = ['relaxed/relaxed', 'relaxed/simple', 'simple/relaxed', 'simple/simple'];

/** Bodies of several pieces, whose borders are in lines, in line ends and in white space. */
const LONG_BODIES = {
  tabs: '\t\r\n'.repeat(60_000),
  spaces: ' \r\n'.repeat(60_000),
  'white space': ' \t'.repeat(80_000),
  'words with white space': 'a \t b \r\n'.repeat(20_000),
  'one line': 'a'.repeat(200_000),
  'empty lines': '\r\n'.repeat(70_000),
};

for (const [name, body] of Object.entries(LONG_BODIES))
  test(`A signature of a body of ${name} verifies, and fails if a word is added`, async () => {
    for (const canonicalization of CANONICALIZATIONS) {
      const signed = await sign({ canonicalization }, `${MESSAGE}${body}`);
      const verify = async (message: Buffer) =>
        (await dkimResult(await contextFor({ message, zone }))).result;
      assert.equal(await verify(signed), 'pass', canonicalization);
      const added = Buffer.concat([signed, Buffer.from('word\r\n')]);
      assert.equal(await verify(added), 'fail', canonicalization);
    }
  });

test('A relaxed signature ignores white space that is added at the ends of lines and of the message', async () => {
  const signed = (await sign()).toString('latin1');
  const at = signed.indexOf('\r\n\r\n');
  const body = `${signed.slice(at + 4).replaceAll('\r\n', '\t \r\n')}\t\r\n`;
  const message = Buffer.from(signed.slice(0, at + 4) + body, 'latin1');
  assert.equal((await dkimResult(await contextFor({ message, zone }))).result, 'pass');
});

test('mailauth hashes a body of a million tab lines in few steps', async (t) => {
  const { _pushBodyHash } = RelaxedHash.prototype;
  let steps = 0;
  t.after(() => {
    RelaxedHash.prototype._pushBodyHash = _pushBodyHash;
  });
  RelaxedHash.prototype._pushBodyHash = function (piece) {
    steps += 1;
    return _pushBodyHash.call(this, piece);
  };
  const signed = await sign();
  const body = Buffer.from('\t\r\n'.repeat(1_000_000));
  const message = Buffer.concat([signed, body]);
  const { result } = await dkimResult(await contextFor({ message, zone }));
  assert.equal(result, 'pass');
  assert.ok(steps <= 60, `${steps} steps`);
});
