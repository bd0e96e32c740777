/** The query of lists (contract §1). */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTestService } from '../helpers/app.ts';

interface Problem {
  errors: { param: string }[];
}

it('of the two cursors only one may be given, and neither be empty', async (t) => {
  const { call, createTest } = await startTestService(t);
  const { id } = await createTest();
  const wrong = async (query: string) => {
    const { status, body } = await call<Problem>('GET', `/v1/tests?${query}`);
    assert.equal(status, 422, query);
    return body.errors.map(({ param }) => param);
  };
  assert.deepEqual(await wrong(`starting_after=${id}&ending_before=${id}`), [
    'starting_after',
    'ending_before',
  ]);
  assert.deepEqual(await wrong('starting_after='), ['starting_after']);
  assert.deepEqual(await wrong(`ending_before=${'x'.repeat(101)}`), ['ending_before']);
  for (const limit of ['0', '101', '-1', '1.5', '', '1e1'])
    assert.deepEqual(await wrong(`limit=${limit}`), ['limit'], limit);
});

it('a page has twenty where nothing is said, a hundred at most', async (t) => {
  const { call, createTest } = await startTestService(t);
  for (let i = 0; i < 21; i++) await createTest();
  const page = async (query: string) => {
    const { body } = await call<{ data: object[]; has_more: boolean }>('GET', `/v1/tests${query}`);
    return [body.data.length, body.has_more];
  };
  assert.deepEqual(await page(''), [20, true]);
  assert.deepEqual(await page('?limit=1'), [1, true]);
  assert.deepEqual(await page('?limit=21'), [21, false]);
  assert.deepEqual(await page('?limit=100'), [21, false]);
});
