import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { it, test } from 'node:test';
import {
  createSecretBox,
  hashPassword,
  needsRehash,
  randomSecret,
  randomToken,
  sha256,
  verifyPassword,
} from '../../src/lib/crypto.ts';

it('randomToken has the requested length and no look-alike characters', () => {
  for (const length of [0, 1, 20, 1000])
    assert.match(randomToken(length), new RegExp(`^[a-km-np-z2-9]{${length}}$`));
});

it('randomToken uses every character equally often', () => {
  const counts = new Map<string, number>();
  for (const char of randomToken(32_000)) counts.set(char, (counts.get(char) ?? 0) + 1);
  assert.equal(counts.size, 32);
  // 1000 each, ± ten standard deviations: chance alone never fails this.
  for (const [char, count] of counts) assert.ok(count > 680 && count < 1320, `${char}: ${count}`);
});

it('randomSecret returns 256 unique random bits', () => {
  const secrets = Array.from({ length: 100 }, () => randomSecret());
  for (const secret of secrets) assert.equal(Buffer.from(secret, 'base64url').length, 32);
  assert.equal(new Set(secrets).size, 100);
});

it('sha256 hashes text and bytes as in FIPS 180-4', () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(sha256('abc'), abc);
  assert.equal(sha256(Buffer.from('abc')), abc);
  assert.equal(sha256('ü'), sha256(Buffer.from('ü', 'utf8')));
});

const SECRET = 'a secret of enough randomness, for tests';

test('Secret box tokens are deterministic and depend on text, purpose and key', () => {
  const box = createSecretBox(SECRET);
  const token = box.token('ann@example.com', 'reader of rps_1');
  assert.match(token, /^[\w-]{43}$/);
  assert.equal(createSecretBox(SECRET).token('ann@example.com', 'reader of rps_1'), token);
  const others = [
    box.token('bob@example.com', 'reader of rps_1'),
    box.token('ann@example.com', 'reader of rps_2'),
    // The position of the parts matters, not only their text.
    box.token('reader of rps_1', 'ann@example.com'),
    box.token('1ann@example.com', 'reader of rps_'),
    createSecretBox(`${SECRET}.`).token('ann@example.com', 'reader of rps_1'),
  ];
  assert.equal(new Set([token, ...others]).size, 6);
});

const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };

test('hashPassword uses scrypt at the OWASP cost and stores its parameters', async () => {
  const hash = await hashPassword('correct horse');
  const [name, N, r, p, salt, key] = hash.split('$');
  assert.deepEqual([name, N, r, p], ['scrypt', '32768', '8', '3']);
  const expected = scryptSync('correct horse', Buffer.from(salt!, 'base64'), 32, COST);
  assert.equal(key, expected.toString('base64'));
  assert.ok(await verifyPassword('correct horse', hash));
  assert.equal(await verifyPassword('correct house', hash), false);
  assert.equal(needsRehash(hash), false);
});

test('verifyPassword checks a hash at its own cost; needsRehash detects a different cost', async () => {
  const salt = Buffer.alloc(16, 7);
  const key = scryptSync('correct horse', salt, 32, { ...COST, p: 1 });
  const hash = `scrypt$32768$8$1$${salt.toString('base64')}$${key.toString('base64')}`;
  assert.ok(await verifyPassword('correct horse', hash));
  assert.equal(await verifyPassword('correct house', hash), false);
  assert.ok(needsRehash(hash));
});
