/** What is secret in a path is not in the log, whatever follows it and whoever asks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedPaths } from '../../src/http/logged-path.ts';

const logged = loggedPaths([
  { path: '/v1/tests/:id' },
  { path: '/password/:token', secretParams: ['token'] },
  { path: '/teams/:team/doors/:token', secretParams: ['token'] },
]);

test('a secret part comes out as its name, with all that follows it', () => {
  for (const [path, expected] of [
    ['/password/kJ8v', '/password/:token'],
    ['/password/kJ8v/', '/password/:token'],
    ['/password/kJ8v/and/more', '/password/:token'],
    ['//password//kJ8v', '//password//:token'],
    ['/PASSWORD/kJ8v', '/PASSWORD/:token'],
    ['/password/%0A%2Fk', '/password/:token'],
    ['/teams/a/doors/kJ8v', '/teams/a/doors/:token'],
  ] as const)
    assert.equal(logged(path), expected);
});

test('what is no secret stays', () => {
  for (const path of [
    '/',
    '/v1/tests/test_01',
    '/password',
    '/password/',
    '/passwords/of/the/world',
    '/teams/a/doors/',
    '/v1/password/x',
  ])
    assert.equal(logged(path), path);
});

test('a long path of slashes is looked at in no time', () => {
  const path = `${'/'.repeat(10_000)}password${'/'.repeat(10_000)}`;
  assert.equal(logged(path), path);
});
