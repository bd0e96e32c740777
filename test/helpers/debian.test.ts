/** Programs that tests need: found in the PATH, skipped by name, a failure in CI. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from './debian.ts';

test('a program in the PATH is no reason to skip', () => {
  assert.equal(needs('sh', { PATH: '/nowhere:/bin:/usr/bin', CI: 'true' }), false);
});

test('a missing program is named, with the script that installs it', () => {
  const reason = needs('no-such-program', { PATH: '/bin:/usr/bin' });
  assert.equal(reason, 'no-such-program is not installed: scripts/setup-test-machine.sh');
});

test('a folder of that name is not a program', () => {
  assert.notEqual(needs('bin', { PATH: '/usr' }), false);
});

test('in CI a missing program is a failure', () => {
  const env = { PATH: '/bin:/usr/bin', CI: 'true' };
  assert.throws(() => needs('no-such-program', env), /no-such-program is not installed/);
});
