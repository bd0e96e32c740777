/** What is made once for an object is the same whenever it is asked for. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oncePer } from '../../src/lib/once-per.ts';

test('a value is made once for each object, undefined too', () => {
  const made: object[] = [];
  const stateOf = oncePer((key: { value?: object }) => {
    made.push(key);
    return key.value;
  });
  const [a, b] = [{ value: {} }, {}];
  assert.equal(stateOf(a), a.value);
  assert.equal(stateOf(a), a.value);
  assert.equal(stateOf(b), undefined);
  assert.equal(stateOf(b), undefined);
  assert.deepEqual(made, [a, b]);
});
