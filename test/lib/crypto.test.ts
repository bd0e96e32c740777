import assert from 'node:assert/strict';
import { it } from 'node:test';
import { randomSecret, randomToken, sha256 } from '../../src/lib/crypto.ts';

it('a token has the length that was asked for, of characters that do not look alike', () => {
  for (const length of [0, 1, 20, 1000])
    assert.match(randomToken(length), new RegExp(`^[a-km-np-z2-9]{${length}}$`));
});

it('every character of the alphabet comes about as often', () => {
  const counts = new Map<string, number>();
  for (const char of randomToken(32_000)) counts.set(char, (counts.get(char) ?? 0) + 1);
  assert.equal(counts.size, 32);
  // 1000 each; ten standard deviations, so that chance alone never fails this.
  for (const [char, count] of counts) assert.ok(count > 680 && count < 1320, `${char}: ${count}`);
});

it('a secret has 256 bits, and no two are the same', () => {
  const secrets = Array.from({ length: 100 }, () => randomSecret());
  for (const secret of secrets) assert.equal(Buffer.from(secret, 'base64url').length, 32);
  assert.equal(new Set(secrets).size, 100);
});

it('hashes are those of the standard (FIPS 180-4), of text and of bytes', () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(sha256('abc'), abc);
  assert.equal(sha256(Buffer.from('abc')), abc);
  assert.equal(sha256('ü'), sha256(Buffer.from('ü', 'utf8')));
});
