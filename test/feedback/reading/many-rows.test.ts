/** Of a report with very many rows, the largest are kept. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/feedback/reading/limits.ts';
import { readFeedback } from '../../../src/feedback/reading/read.ts';
import { BEGIN, dmarc, record } from './builders.ts';

const NOW = (BEGIN + 2 * 86_400) * 1000;

test('Of many rows, those with the most messages are kept, and the others are summed up by result', async () => {
  const records = Array.from({ length: 20_000 }, (_, index) =>
    record({
      source: `192.0.${index >> 8}.${index & 255}`,
      count: String(index),
      spf: index % 2 === 0 ? 'pass' : 'fail',
      dkim: 'fail',
    }),
  ).join('');
  const [item] = await readFeedback(Buffer.from(dmarc({ records })), { now: NOW });
  assert.ok(item?.ok && item.report.type === 'dmarc');
  const { rows, foldedRows, totals } = item.report;
  const sum = (20_000 * 19_999) / 2;
  assert.equal(foldedRows, 20_000 - LIMITS.rows);
  assert.equal(rows.length, LIMITS.rows + 2);
  assert.equal(rows[0]!.count, 19_999);
  assert.equal(rows[LIMITS.rows - 1]!.count, 15_000);
  assert.equal(
    rows.reduce((all, { count }) => all + count, 0),
    sum,
  );
  assert.deepEqual(totals.map(({ outcome, count }) => [outcome, count]).sort(), [
    ['fail', sum / 2 + 5000],
    ['pass', sum / 2 - 5000],
  ]);
});
