/** Unknown fields are reported at every depth. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { validate } from '../../src/http/parse.ts';
import type { Schema } from '../../src/http/route.ts';
import { AppError } from '../../src/lib/errors.ts';

const Step = v.strictObject({ kind: v.string() });
const Body = v.pipe(
  v.strictObject({
    name: v.string(),
    inner: v.optional(
      v.pipe(
        v.strictObject({ a: v.number() }),
        v.check(({ a }) => a > 0),
      ),
    ),
    steps: v.nullish(v.array(Step)),
    free: v.optional(v.record(v.string(), v.unknown())),
    either: v.optional(v.variant('kind', [v.strictObject({ kind: v.literal('k') })])),
  }),
  v.transform((body) => body),
);

function wrongOf(schema: Schema, value: unknown): string[] {
  try {
    validate(schema, value);
    return [];
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error.params.map(({ param, code }) => `${param} ${code}`).sort();
  }
}

test('validate reports unknown fields at every depth along with other errors', () => {
  const value = {
    name: 7,
    x: 1,
    y: 2,
    inner: { a: 'one', b: 1, c: 2 },
    steps: [{ kind: 'k' }, { kind: 'k', d: 1, e: 2 }, { f: 3 }],
    free: { anything: { goes: 1 } },
  };
  assert.deepEqual(wrongOf(Body, value), [
    'inner.a invalid',
    'inner.b unknown_field',
    'inner.c unknown_field',
    'name invalid',
    'steps.1.d unknown_field',
    'steps.1.e unknown_field',
    'steps.2.f unknown_field',
    'steps.2.kind required',
    'x unknown_field',
    'y unknown_field',
  ]);
});

test('validate reports unknown fields named like Object.prototype members', () => {
  const value = JSON.parse('{"name":"n","toString":1,"__proto__":{}}');
  assert.deepEqual(wrongOf(Body, value), ['__proto__ unknown_field', 'toString unknown_field']);
});

test('validate reports unknown fields inside variants', () => {
  const value = { name: 'n', either: { kind: 'k', z: 1 } };
  assert.deepEqual(wrongOf(Body, value), ['either.z unknown_field']);
});

test('validate reports nothing for valid input and loose schemas', () => {
  assert.deepEqual(wrongOf(Body, { name: 'n', inner: { a: 1 }, steps: null, free: { b: 1 } }), []);
  assert.deepEqual(wrongOf(v.looseObject({ a: v.number() }), { a: 1, b: 2 }), []);
});

test('An error about a field with fixed values lists them in words', () => {
  const schema = v.strictObject({ status: v.optional(v.picklist(['waiting', 'failed'])) });
  assert.throws(
    () => validate(schema, { status: 'bogus' }),
    ({ params }: AppError) => params[0]?.message === 'must be one of waiting, failed',
  );
});
