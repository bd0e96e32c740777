/** Reports with 25,000 senders, as large domains get them each day, in each form and packing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFeedback } from '../../src/feedback/reading/read.ts';
import { BEGIN, dmarc, gzip, zip } from '../feedback/reading/builders.ts';
import { INDENTED, indented, senders } from '../feedback/reading/large.ts';

const NOW = (BEGIN + 2 * 86_400) * 1000;
const sent = senders(25_000);
const xml = dmarc({ records: sent.map((sender) => sender.xml).join('') });
const sum = (rows: { count: number }[]) => rows.reduce((all, { count }) => all + count, 0);

const PACKINGS: [string, (text: string) => Uint8Array][] = [
  ['plain', (text) => Buffer.from(text)],
  ['gzip', gzip],
  ['zip', (text) => zip([{ name: 'report.xml', data: text }])],
];

for (const [name, form] of Object.entries(INDENTED))
  for (const [packing, pack] of PACKINGS)
    test(`A report with 25,000 senders, ${name}, ${packing}, is read completely`, async () => {
      const [item] = await readFeedback(pack(indented(xml, form)), { now: NOW });
      assert.ok(item?.ok && item.report.type === 'dmarc', JSON.stringify(item).slice(0, 300));
      const { rows, totals, foldedRows, foldedMessages } = item.report;
      assert.equal(sum(rows), sum(sent));
      assert.equal(sum(totals), sum(sent));
      assert.equal(foldedRows, 20_000);
      assert.equal(foldedMessages, sum(rows.slice(5000)));
      assert.deepEqual(item.repaired, []);
    });
