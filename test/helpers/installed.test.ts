import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipUnlessInstalled } from './installed.ts';

test('needs() does not skip when the program is in PATH', () => {
  assert.equal(skipUnlessInstalled('sh', { PATH: '/nowhere:/bin:/usr/bin', CI: 'true' }), false);
});

test('needs() names a missing program and its install script', () => {
  const reason = skipUnlessInstalled('no-such-program', { PATH: '/bin:/usr/bin' });
  assert.equal(reason, 'no-such-program is not installed: scripts/setup-test-machine.sh');
});

test('needs() does not accept a directory as a program', () => {
  assert.notEqual(skipUnlessInstalled('bin', { PATH: '/usr' }), false);
});

test('needs() fails for a missing program in CI', () => {
  const env = { PATH: '/bin:/usr/bin', CI: 'true' };
  assert.throws(
    () => skipUnlessInstalled('no-such-program', env),
    /no-such-program is not installed/,
  );
});
