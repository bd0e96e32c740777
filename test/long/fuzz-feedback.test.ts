/** Mutated reports of receivers: each is read or refused, and every count is a number. */

// @one-database: opens no database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from '../../src/feedback/reading/read.ts';
import type { ReadItem } from '../../src/feedback/reading/report.ts';
import { CORPUS } from '../feedback/reading/corpus.ts';
import { mutate } from '../helpers/mutate.ts';
import { seededRandom } from '../helpers/random.ts';

const CASES = Number(process.env.FUZZ_CASES ?? 10_000);
/** With the number of a case in FUZZ_CASE, this repeats it alone. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_127);
const ONLY = process.env.FUZZ_CASE;
const MAX_STALL_MS = 200;
const MAX_REPEATS = 3;
const MAX_BYTES = 100_000;
const NOW = Date.UTC(2026, 10, 23);

const TOKENS = [
  '<record>',
  '</record>',
  '<row><source_ip>192.0.2.1</source_ip><count>5</count></row>',
  '<count>-1</count>',
  '<count>1e9</count>',
  '<count>9007199254740993</count>',
  '<a/>',
  '<xs:schema ',
  '<!DOCTYPE x [<!ENTITY a "b">]>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '<?xml version="1.0" encoding="UTF-16"?>',
  '&#x110000;',
  '&#xD800;',
  '&amp;&lt;',
  '"failed-session-count":"7"',
  '"policies":[{',
  '"summary":{"total-successful-session-count":1e400}',
  '[[[[[[[[',
  'null',
  '\u001f\u008b\b\0',
  'PK\u0003\u0004',
  'PK\u0001\u0002',
  'PK\u0005\u0006',
  'Feedback-Type: abuse\r\n',
  'Feedback-Type: auth-failure\r\n',
  'Content-Type: message/feedback-report\r\n\r\n',
  'Content-Type: message/delivery-status\r\n\r\n',
  'Action: failed\r\nStatus: 5.7.1\r\nFinal-Recipient: rfc822; a@b\r\n\r\n',
  'Incidents: 99999999999999999999\r\n',
  '\r\n\r\n',
  '\r\n--b0\r\n',
  '\0',
  '\u00ff\u00fe',
];

/** Every number in the result is a whole one of zero or more, or a time. */
function requireNumbers(value: unknown, path: string): void {
  if (typeof value === 'number') {
    assert.ok(Number.isSafeInteger(value), `${path} is ${value}`);
    if (/count|succeeded|failed|sessions|incidents|foldedRows/.test(path))
      assert.ok(value >= 0, `${path} is ${value}`);
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) requireNumbers(inner, `${path}.${key}`);
}

async function run(number: number): Promise<{ milliseconds: number; items: ReadItem[] }> {
  const random = seededRandom(SEED + number * 7919);
  const inputs = CORPUS.map(({ bytes }) => Buffer.from(bytes));
  const raw = mutate(inputs, TOKENS, MAX_BYTES, random);
  const started = process.threadCpuUsage();
  const items = await readFeedback(raw, { now: NOW });
  const { user, system } = process.threadCpuUsage(started);
  assert.ok(items.length > 0);
  requireNumbers(items, '');
  assert.ok(JSON.stringify(items).isWellFormed());
  return { milliseconds: (user + system) / 1000, items };
}

test(`${CASES} mutated reports are read without a fault or a stall over ${MAX_STALL_MS} ms`, {
  timeout: 3_600_000,
}, async (t) => {
  t.diagnostic(`FUZZ_SEED=${SEED}`);
  await run(0);
  const figures = { cases: 0, read: 0, refused: 0, stalls: 0, max_cpu_ms: 0 };
  const stalls: string[] = [];
  const numbers = ONLY === undefined ? Array.from({ length: CASES }, (_, i) => i) : [Number(ONLY)];
  for (const number of numbers) {
    const of = `FUZZ_SEED=${SEED} FUZZ_CASE=${number}`;
    let { milliseconds, items } = await run(number).catch((error) => {
      throw new Error(`${of}: ${error.stack}`, { cause: error });
    });
    // Garbage collection of earlier cases is no stall of this one: the fastest run decides.
    for (let again = 0; milliseconds >= MAX_STALL_MS && again < MAX_REPEATS; again++)
      ({ milliseconds } = await run(number));
    if (milliseconds >= MAX_STALL_MS) {
      figures.stalls += 1;
      stalls.push(`${of}: ${Math.round(milliseconds)} ms`);
    }
    figures.cases += 1;
    if (items.some((item) => item.ok)) figures.read += 1;
    else figures.refused += 1;
    figures.max_cpu_ms = Math.max(figures.max_cpu_ms, Math.round(milliseconds));
  }
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(stalls, []);
});
