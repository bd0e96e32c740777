/** CSV: quoting, and text that a spreadsheet would take for a formula. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvFile } from '../../src/http/streamed.ts';
import { toCsv } from '../../src/lib/csv.ts';

async function csvOf(values: (string | number | null)[]): Promise<string> {
  const parts: string[] = [];
  for await (const part of toCsv([['value', (value: (typeof values)[number]) => value]], values))
    parts.push(part);
  return parts.join('');
}

test('CSV has a line of names, quotes only what needs it, and ends lines as RFC 4180 says', async () => {
  assert.equal(
    await csvOf(['plain', 'a,b', 'say "x"', 'two\r\nlines', null, 0, -5, 'café']),
    'value\r\nplain\r\n"a,b"\r\n"say ""x"""\r\n"two\r\nlines"\r\n\r\n0\r\n-5\r\ncafé\r\n',
  );
});

test('A spreadsheet runs no cell of a CSV file as a formula', async () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠a'];
  const lines = (await csvOf(formulas)).split('\r\n').slice(1, -1);
  assert.deepEqual(
    lines,
    formulas.map((formula) => `'${formula}`),
  );
  assert.equal(await csvOf(['\r=1', '\n=1']), 'value\r\n"\'\r=1"\r\n"\'\n=1"\r\n');
  assert.equal(await csvOf(['\t=1']), 'value\r\n"\'\t=1"\r\n');
  // Where lists are separated by semicolons, an unquoted one would begin the next cell.
  assert.equal(await csvOf(['x;=1+1']), 'value\r\n"x;=1+1"\r\n');
  assert.equal(await csvOf(['=cmd|"/c calc"!A1']), 'value\r\n"\'=cmd|""/c calc""!A1"\r\n');
  assert.equal(await csvOf(['a=b', '1-2']), 'value\r\na=b\r\n1-2\r\n');
});

test('A CSV file is saved under its name, with the fields and the values of its columns', async () => {
  const items = [{ day: '2026-11-21', counts: { passed: 4 } }];
  const file = csvFile('days', ['day', ['passed', ({ counts }) => counts.passed]], items);
  assert.equal(await file.text(), 'day,passed\r\n2026-11-21,4\r\n');
  assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(file.headers.get('content-disposition'), 'attachment; filename="days.csv"');
});
