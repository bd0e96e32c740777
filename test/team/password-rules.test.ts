/** New passwords must be long enough and not commonly used. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPassword, findPasswordProblem } from '../../src/team/password-rules.ts';

const EMAIL = 'Ann.Marie.Lee@example.com';

test('Password length is 10 to 200 characters, counted as Unicode code points', () => {
  const length = 'must have 10 to 200 characters';
  for (const password of ['', 'ninechars', 'a'.repeat(201), '🐎'.repeat(9)])
    assert.equal(findPasswordProblem(password, EMAIL), length, password);
  for (const password of ['ten chars.', 'Üben in Öl', `${'🐎'.repeat(9)}🔋`, 'ab'.repeat(100)])
    assert.equal(findPasswordProblem(password, EMAIL), null, password);
});

test('Passwords need no mix of letters, digits or symbols', () => {
  for (const password of ['onlysmallletters', 'ONLYCAPITALS', '4711081542', 'with a blank '])
    assert.equal(findPasswordProblem(password, EMAIL), null, password);
});

test('Passwords equal to the address, common or repeating one character are rejected', () => {
  const address = 'must not be the email address';
  const common = 'must not be a commonly used password';
  for (const [password, fault] of [
    ['ann.marie.lee@example.com', address],
    ['ANN.MARIE.LEE@EXAMPLE.COM', address],
    ['Ann.Marie.Lee', address],
    ['password123', common],
    ['Password123', common],
    ['ｐａｓｓｗｏｒｄ１２３', common],
    ['1234567890', common],
    ['qwertyuiop', common],
    ['Deliverability', common],
    ['aaaaaaaaaaaa', common],
    ['🐎'.repeat(12), common],
    ['\ud800'.repeat(12), 'must be well-formed Unicode'],
  ] as const)
    assert.equal(findPasswordProblem(password, EMAIL), fault, password);
});

test('checkPassword reports the fault under the given field name', () => {
  checkPassword('correct horse battery', EMAIL);
  assert.throws(() => checkPassword('short', EMAIL, 'secret'), {
    code: 'validation_failed',
    params: [{ param: 'secret', code: 'invalid', message: 'must have 10 to 200 characters' }],
  });
});
