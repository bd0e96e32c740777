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
    assert.equal(logged(path, true), expected);
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
    '/v1/tests/test_01kajtb3kzg2v4n8q6r0s5w7xy',
  ])
    assert.equal(logged(path, true), path);
});

test('a long path of slashes is looked at in no time', () => {
  const path = `${'/'.repeat(10_000)}password${'/'.repeat(10_000)}`;
  assert.equal(logged(path, false), path);
});

const TOKEN = 'kJ8v-2_Zr0pQyXw5LtB7nMdGhCfEsA1uIoV3kR9jT4c';

test('in a path of no route nothing is left that may be a token', () => {
  for (const path of [
    `/invitations%2F${TOKEN}`,
    `/%70assword/${TOKEN}`,
    `/password;/${TOKEN}`,
    `/password%20/${TOKEN}`,
    `/x/password/${TOKEN}`,
    `/v1/team/invitations/accept/${TOKEN}`,
    `/x/${TOKEN.slice(0, 20)}`,
    `/x/${TOKEN.replaceAll('v', '%76')}`,
    `/x/dlv_live_${TOKEN}`,
    `/x/dlv%5Flive%5F${TOKEN}`,
    '/x/dlv_live_short',
  ]) {
    const line = logged(path, false);
    assert.doesNotMatch(line, /kJ8|%76|short/, line);
  }
  assert.equal(logged(`/x/password/${TOKEN}`, false), '/x/password/:masked');
  assert.equal(logged('/nowhere/at/all.php', false), '/nowhere/at/all.php');
});

test('in a path of a route no token takes the place of an id', () => {
  assert.equal(logged(`/v1/tests/${TOKEN}`, true), '/v1/tests/:masked');
  assert.equal(logged(`/v1/api_keys/%64lv_live_${TOKEN}`, true), '/v1/api_keys/:masked');
});
