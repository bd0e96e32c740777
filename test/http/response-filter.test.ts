/** What is not declared does not leave, at any depth. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as v from 'valibot';
import { responseFilter } from '../../src/http/response-filter.ts';
import type { Schema } from '../../src/http/route.ts';
import { storedJson, toJson } from '../../src/http/stored-json.ts';

const Inner = v.object({ id: v.string(), note: v.nullable(v.string()) });
const secret = { password: 's3cret' };

function filtered(schema: Schema, value: unknown): unknown {
  return responseFilter(schema)(value);
}

it('an object keeps its declared fields alone, and its own is not touched', () => {
  const value = { id: 'a', note: null, ...secret };
  const copy = filtered(Inner, value);
  assert.deepEqual(copy, { id: 'a', note: null });
  assert.equal(value.password, 's3cret');
});

it('so do objects in objects, in lists, in lists of lists, and where null may stand', () => {
  const inner = { id: 'a', note: 'n', ...secret };
  const schema = v.object({
    one: Inner,
    many: v.array(Inner),
    rows: v.array(v.array(Inner)),
    maybe: v.nullable(Inner),
    nothing: v.nullable(Inner),
    optional: v.optional(Inner),
    either: v.nullish(v.array(Inner)),
    strict: v.strictObject({ id: v.string() }),
    piped: v.pipe(
      Inner,
      v.check(() => true),
    ),
  });
  const answer = filtered(schema, {
    one: inner,
    many: [inner, inner],
    rows: [[inner]],
    maybe: inner,
    nothing: null,
    optional: inner,
    either: [inner],
    strict: inner,
    piped: inner,
    ...secret,
  });
  assert.ok(!JSON.stringify(answer).includes('s3cret'));
  const clean = { id: 'a', note: 'n' };
  assert.deepEqual(answer, {
    one: clean,
    many: [clean, clean],
    rows: [[clean]],
    maybe: clean,
    nothing: null,
    optional: clean,
    either: [clean],
    strict: { id: 'a' },
    piped: clean,
  });
});

it('fields that are not there stay away; those that are false, zero or empty stay', () => {
  const schema = v.object({
    a: v.optional(v.string()),
    b: v.boolean(),
    c: v.number(),
    d: v.string(),
    e: v.array(Inner),
  });
  assert.deepEqual(filtered(schema, { b: false, c: 0, d: '', e: [] }), {
    b: false,
    c: 0,
    d: '',
    e: [],
  });
  assert.ok(!Object.hasOwn(filtered(schema, { a: undefined }) as object, 'a'));
});

it('records and unions pass whole, as the declaration says', () => {
  const schema = v.object({
    record: v.record(v.string(), v.string()),
    union: v.union([v.string(), v.number()]),
    list: v.array(v.string()),
  });
  const value = { record: { any: 'x' }, union: 7, list: ['a'] };
  assert.deepEqual(filtered(schema, value), value);
});

it('stored JSON passes the filter and is written as it is', () => {
  const schema = v.object({ id: v.string(), checks: v.array(Inner), cap: v.nullable(Inner) });
  const checks = '[{"id":"spf","note":"\\u00fc"}]';
  const answer = filtered(schema, { id: 'a', checks: storedJson(checks), cap: null, ...secret });
  const text = toJson(answer);
  assert.ok(text.includes(`"checks":${checks}`), text);
  assert.deepEqual(JSON.parse(text), { id: 'a', cap: null, checks: [{ id: 'spf', note: 'ü' }] });
});

it('an answer of stored JSON alone, of several, or of none is whole JSON', () => {
  const cases: [answer: object, json: unknown][] = [
    [{ a: storedJson('[1]') }, { a: [1] }],
    [
      { a: storedJson('[1]'), 'b"c': storedJson('null'), d: 2 },
      { a: [1], 'b"c': null, d: 2 },
    ],
    [
      { a: 1, b: [null, 'x'] },
      { a: 1, b: [null, 'x'] },
    ],
    [{}, {}],
  ];
  for (const [answer, json] of cases) assert.deepEqual(JSON.parse(toJson(answer)), json);
});
