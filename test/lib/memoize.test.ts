import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizePerObject } from '../../src/lib/memoize.ts';

test('memoizePerObject() creates the value of an object only once, even if it is undefined', () => {
  const created: object[] = [];
  const stateOf = memoizePerObject((key: { value?: object }) => {
    created.push(key);
    return key.value;
  });
  const [a, b] = [{ value: {} }, {}];
  assert.equal(stateOf(a), a.value);
  assert.equal(stateOf(a), a.value);
  assert.equal(stateOf(b), undefined);
  assert.equal(stateOf(b), undefined);
  assert.deepEqual(created, [a, b]);
});
