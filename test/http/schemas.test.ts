/** Names, and query parameters of lists. */

// @one-database: about schemas.

import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import * as v from 'valibot';
import { Name } from '../../src/http/schemas.ts';
import { startTestService } from '../helpers/app.ts';

const TAKEN: [given: string, kept: string][] = [
  ['Ann', 'Ann'],
  ['  Ann Smith\u00a0', 'Ann Smith'],
  ['7', '7'],
  ['+', '+'],
  ['שרה', 'שרה'],
  ['नी', 'नी'],
  ['👩‍💻', '👩‍💻'],
  ['می‌خواهم', 'می‌خواهم'],
  ['x'.repeat(200), 'x'.repeat(200)],
];

const BLANK = 'must not be blank';
const TURNS = 'must not contain characters that change the text direction';
const REFUSED: [given: unknown, said: string][] = [
  ['', 'must not be empty'],
  [' ', BLANK],
  ['\u00a0\u2003', BLANK],
  ['\u200b', BLANK],
  ['\u3164', BLANK],
  ['\u2800', BLANK],
  ['\u0301', BLANK],
  ['Ann\u202emoc', TURNS],
  ['\u2067Ann', TURNS],
  ['Ann\u200f', TURNS],
  ['Ann\u2028Bob', TURNS],
  ['Ann\tBob', 'must not contain control characters'],
  ['Ann\u0085Bob', 'must not contain control characters'],
  ['Ann\ud800', 'must be well-formed Unicode'],
  ['x'.repeat(201), 'must have at most 200 characters'],
  [7, 'must be a string'],
];

test('Name accepts visible text and trims whitespace', () => {
  for (const [given, kept] of TAKEN) assert.equal(v.parse(Name, given), kept);
});

test('Name rejects blank, invisible, bidi and control characters with the reason', () => {
  for (const [given, said] of REFUSED) {
    const { success, issues } = v.safeParse(Name, given);
    assert.equal(success, false, JSON.stringify(given));
    assert.ok(
      issues?.some(({ message }) => message === said),
      `${JSON.stringify(given)}: ${issues?.map(({ message }) => message)}`,
    );
  }
});

// Query parameters of lists (contract §1).

interface Problem {
  errors: { param: string }[];
}

it('List queries reject both cursors together and invalid limits', async (t) => {
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
  for (const limit of ['0', '101', '-1', '1.5', '', '1e1'])
    assert.deepEqual(await wrong(`limit=${limit}`), ['limit'], limit);
});

it('Lists return 20 items by default and 100 at most', async (t) => {
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
