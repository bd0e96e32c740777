/** Responses contain declared fields only, at every depth. */

// @one-database: about the form of responses.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import * as v from 'valibot';
import { jsonBody, responseFilter, storedJson, toJson } from '../../src/http/response.ts';
import type { Schema } from '../../src/http/route.ts';
import type { Test } from '../../src/mailtests/schema.ts';
import { startTestService } from '../helpers/app.ts';

const Inner = v.object({ id: v.string(), note: v.nullable(v.string()) });
const secret = { password: 's3cret' };

function filtered(schema: Schema, value: unknown): unknown {
  return responseFilter(schema)(value);
}

it('responseFilter keeps only declared fields and does not modify its input', () => {
  const value = { id: 'a', note: null, ...secret };
  const copy = filtered(Inner, value);
  assert.deepEqual(copy, { id: 'a', note: null });
  assert.equal(value.password, 's3cret');
});

it('responseFilter filters nested objects, lists and nullable fields', () => {
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

it('responseFilter keeps falsy values and adds no missing fields', () => {
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

it('responseFilter passes records and unions unchanged', () => {
  const schema = v.object({
    record: v.record(v.string(), v.string()),
    union: v.union([v.string(), v.number()]),
    list: v.array(v.string()),
  });
  const value = { record: { any: 'x' }, union: 7, list: ['a'] };
  assert.deepEqual(filtered(schema, value), value);
});

it('responseFilter passes stored JSON, which is written verbatim', () => {
  const schema = v.object({ id: v.string(), checks: v.array(Inner), cap: v.nullable(Inner) });
  const checks = '[{"id":"spf","note":"\\u00fc"}]';
  const answer = filtered(schema, { id: 'a', checks: storedJson(checks), cap: null, ...secret });
  const text = toJson(answer);
  assert.ok(text.includes(`"checks":${checks}`), text);
  assert.deepEqual(JSON.parse(text), { id: 'a', cap: null, checks: [{ id: 'spf', note: 'ü' }] });
});

it('jsonBody is the UTF-8 of the same JSON if a stored field is in UTF-8', () => {
  const value = { id: 'é', a: storedJson(Buffer.from('["ü…"]')), b: storedJson('[1]') };
  const text = '{"id":"é","a":["ü…"],"b":[1]}';
  assert.deepEqual(jsonBody(value), Buffer.from(text));
  assert.equal(toJson(value), text);
  assert.equal(jsonBody({ b: storedJson('[1]') }), '{"b":[1]}');
});

it('toJson combines stored JSON and values into valid JSON', () => {
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

// ETags and conditional requests.

async function start(t: TestContext) {
  const service = await startTestService(t);
  const { status, headers, body } = await service.call<Test>('POST', '/v1/tests', {
    json: { name: 'a', metadata: { build: '7' } },
  });
  assert.equal(status, 201);
  const path = `/v1/tests/${body.id}`;
  const get = (header?: string, method = 'GET') =>
    service.call<Test>(method, path, { headers: header ? { 'if-none-match': header } : {} });
  const patch = (name: string, header?: string) =>
    service.call<Test>('PATCH', path, {
      json: { name },
      headers: header ? { 'if-match': header } : {},
    });
  const remove = (header: string) =>
    service.call('DELETE', path, { headers: { 'if-match': header } });
  return { ...service, id: body.id, path, created: headers.get('etag')!, get, patch, remove };
}

it('ETag is the same after create, read and update of an object', async (t) => {
  const { created, get, patch } = await start(t);
  assert.match(created, /^"[\w-]{22}"$/);
  assert.equal((await get()).headers.get('etag'), created);
  const changed = await patch('b');
  assert.notEqual(changed.headers.get('etag'), created);
  assert.equal((await get()).headers.get('etag'), changed.headers.get('etag'));
});

it('GET of an object returns it whatever If-None-Match says, because its state may have changed', async (t) => {
  const { created, get } = await start(t);
  for (const header of [created, `W/${created}`, '*']) {
    const { status, body, headers } = await get(header);
    assert.deepEqual([status, headers.get('etag')], [200, created], header);
    assert.equal(body.status, 'waiting');
  }
});

it('PATCH and DELETE with a stale If-Match get 412 and change nothing', async (t) => {
  const { created, get, patch, remove } = await start(t);
  const other = await patch('b', created);
  assert.equal(other.status, 200);
  for (const header of [created, '"x"', `W/${other.headers.get('etag')}`, 'nonsense', ' ']) {
    const refused = await patch('c', header);
    assert.equal(refused.status, 412, header);
    assert.equal((refused.body as never as { code: string }).code, 'precondition_failed');
    assert.equal((await remove(header)).status, 412, header);
  }
  assert.equal((await get()).body.name, 'b');
  assert.equal((await patch('c', `"x", ${other.headers.get('etag')}`)).status, 200);
  assert.equal((await patch('d', '*')).status, 200);
  assert.equal((await patch('e')).status, 200);
  const deleted = await remove((await get()).headers.get('etag')!);
  assert.deepEqual([deleted.status, deleted.headers.get('etag')], [200, null]);
  assert.equal((await patch('f', '*')).status, 404);
});

it('Concurrent PATCH with the same If-Match: one succeeds, the rest get 412', async (t) => {
  const { created, patch, get } = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => patch(`name ${i}`, created)),
  );
  const [winner, ...others] = answers.filter(({ status }) => status === 200);
  assert.deepEqual(others, []);
  assert.equal(answers.filter(({ status }) => status === 412).length, 19);
  assert.equal((await get()).body.name, winner!.body.name);
});

it('The ETag of a test stays when its result is stored', async (t) => {
  const { app, id, get, patch, created } = await start(t);
  const check = { id: 'spf', category: 'authentication', label: 'SPF', status: 'pass' };
  const result = {
    title: 't',
    detail: 'd',
    evidence: {},
    points: 1,
    earned: 1,
    gain: 0,
    goes_with: null,
    fix: null,
  };
  const reference = { name: 'RFC 7208', url: 'https://www.rfc-editor.org/rfc/rfc7208' };
  const checks = JSON.stringify([{ ...check, ...result, reference }]);
  const change = {
    status: 'completed',
    checks,
    providers: '[]',
    score: 97,
    coverage: 0.95,
  } as const;
  await app.db.updateTable('tests').set(change).where('id', '=', id).execute();
  const read = (await get()).headers.get('etag')!;
  assert.equal(read, created);
  const changed = await patch('b', created);
  assert.equal(changed.status, 200);
  assert.equal((await get()).headers.get('etag'), changed.headers.get('etag'));
});

it('Lists and errors have no ETag', async (t) => {
  const { call } = await start(t);
  assert.equal((await call('GET', '/v1/tests')).headers.get('etag'), null);
  assert.equal((await call('GET', '/v1/tests/x')).headers.get('etag'), null);
});
