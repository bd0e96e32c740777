/** Which names people and things may have. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Name } from '../../src/http/schemas.ts';

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
const TURNS = 'must have no characters that turn the direction of text';
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
  ['Ann\tBob', 'must have no control characters'],
  ['Ann\u0085Bob', 'must have no control characters'],
  ['Ann\ud800', 'must be well-formed Unicode'],
  ['x'.repeat(201), 'must have at most 200 characters'],
  [7, 'must be text'],
];

test('a name can be seen, and is kept without blanks around it', () => {
  for (const [given, kept] of TAKEN) assert.equal(v.parse(Name, given), kept);
});

test('what cannot be seen or turns the text beside it is no name, and is told so', () => {
  for (const [given, said] of REFUSED) {
    const { success, issues } = v.safeParse(Name, given);
    assert.equal(success, false, JSON.stringify(given));
    assert.ok(
      issues?.some(({ message }) => message === said),
      `${JSON.stringify(given)}: ${issues?.map(({ message }) => message)}`,
    );
  }
});
