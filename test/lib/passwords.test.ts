/** Passwords as they are kept: the cost, and that nobody learns from it whether an address is known. */

import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword, hasOtherCost, verifyPassword } from '../../src/lib/passwords.ts';

const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };

test('a hash carries its cost, and has at least the cost that OWASP names', async () => {
  const hash = await hashPassword('correct horse');
  const [name, N, r, p, salt, key] = hash.split('$');
  assert.deepEqual([name, N, r, p], ['scrypt', '32768', '8', '3']);
  const wanted = scryptSync('correct horse', Buffer.from(salt!, 'base64'), 32, COST);
  assert.equal(key, wanted.toString('base64'));
  assert.ok(await verifyPassword('correct horse', hash));
  assert.equal(await verifyPassword('correct house', hash), false);
  assert.equal(hasOtherCost(hash), false);
});

test('a hash of another cost is checked at that cost, and known for it', async () => {
  const salt = Buffer.alloc(16, 7);
  const key = scryptSync('correct horse', salt, 32, { ...COST, p: 1 });
  const hash = `scrypt$32768$8$1$${salt.toString('base64')}$${key.toString('base64')}`;
  assert.ok(await verifyPassword('correct horse', hash));
  assert.equal(await verifyPassword('correct house', hash), false);
  assert.ok(hasOtherCost(hash));
});
