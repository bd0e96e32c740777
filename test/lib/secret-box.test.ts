/** Tokens that follow from the secret key: always the same, and nobody else's. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox } from '../../src/lib/secret-box.ts';

const SECRET = 'a secret of enough randomness, for tests';

test('a token is the same each time, and another for each text, purpose and key', () => {
  const box = createSecretBox(SECRET);
  const token = box.token('ann@example.com', 'reader of rps_1');
  assert.match(token, /^[\w-]{43}$/);
  assert.equal(createSecretBox(SECRET).token('ann@example.com', 'reader of rps_1'), token);
  const others = [
    box.token('bob@example.com', 'reader of rps_1'),
    box.token('ann@example.com', 'reader of rps_2'),
    // What stands where counts, not only what there is.
    box.token('reader of rps_1', 'ann@example.com'),
    box.token('1ann@example.com', 'reader of rps_'),
    createSecretBox(`${SECRET}.`).token('ann@example.com', 'reader of rps_1'),
  ];
  assert.equal(new Set([token, ...others]).size, 6);
});
