/** Every file of the corpus is read as a person reads it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../../../src/feedback/reading/dmarc-rows.ts';
import { readFeedback } from '../../../src/feedback/reading/read.ts';
import type { ReadItem, Report } from '../../../src/feedback/reading/report.ts';
import { CORPUS } from './corpus.ts';

const NOW = Date.UTC(2026, 10, 23);

function summaryOf(item: ReadItem): string {
  if (!item.ok) return `refused ${item.reason}`;
  return [figuresOf(item.report), item.repaired.join(', ')].filter(Boolean).join(' | ');
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0);

function figuresOf(report: Report): string {
  switch (report.type) {
    case 'dmarc': {
      const passed = report.rows.filter((row) => outcomeOf(row) === 'pass');
      const messages = sum(report.rows.map(({ count }) => count));
      assert.equal(sum(report.totals.map(({ count }) => count)), messages);
      return `dmarc ${report.reporter} ${report.reportId} ${report.domain} ${messages} passed ${sum(passed.map(({ count }) => count))}`;
    }
    case 'tls': {
      const { policies } = report;
      return `tls ${report.reporter} ${report.reportId} ${policies[0]?.policyDomain ?? null} ${sum(policies.map(({ succeeded }) => succeeded))} failed ${sum(policies.map(({ failed }) => failed))}`;
    }
    case 'complaint':
      return `complaint ${report.kind} ${report.sourceAddress} ${report.domain} ${report.message.messageId}${derived(report.derived)}`;
    case 'dmarc_failure':
      return `failure ${report.authFailure.join(' ')} ${report.deliveryResult} ${report.sourceAddress} ${report.domain} ${report.message.messageId}${derived(report.derived)}`;
    case 'bounce':
      return `bounce ${report.domain} ${report.recipients.map((one) => `${one.action} ${one.class} ${one.status} ${one.domain}`).join(', ')}`;
  }
}

const derived = (names: string[]): string =>
  names.length > 0 ? ` | derived ${names.join(' ')}` : '';

test('The corpus has at least 80 files, each with its own name', () => {
  assert.ok(CORPUS.length >= 80);
  assert.equal(new Set(CORPUS.map(({ name }) => name)).size, CORPUS.length);
});

for (const { name, bytes, expected } of CORPUS)
  test(`${name} is read as a person reads it`, async () => {
    const items = await readFeedback(bytes, { now: NOW });
    assert.deepEqual(items.map(summaryOf), expected, JSON.stringify(items).slice(0, 1500));
  });
