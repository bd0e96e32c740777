/** All tests that match as CSV (RFC 4180) or JSON lines, streamed. */

import type { ListedTest } from './schema.ts';

const COLUMNS: [string, (test: ListedTest) => string | number | null][] = [
  ['id', (t) => t.id],
  ['created_at', (t) => t.created_at],
  ['name', (t) => t.name],
  ['status', (t) => t.status],
  ['failure_reason', (t) => t.failure_reason],
  ['score', (t) => t.score],
  ['grade', (t) => t.grade],
  ['spf', (t) => t.auth_results.spf],
  ['dkim', (t) => t.auth_results.dkim],
  ['dmarc', (t) => t.auth_results.dmarc],
  ['from_address', (t) => t.from_address],
  ['subject', (t) => t.subject],
  ['kind', (t) => t.kind],
  ['message_size', (t) => t.message_size],
  ['coverage', (t) => t.coverage],
  ['received_at', (t) => t.received_at],
  ['completed_at', (t) => t.completed_at],
  ['summary', (t) => t.summary],
];

/**
 * One cell. Text that a spreadsheet would run as a formula gets an apostrophe in front, which it
 * shows as text.
 */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvLine = (cells: string[]): string => `${cells.join(',')}\r\n`;

export async function* toCsv(tests: AsyncIterable<ListedTest>): AsyncGenerator<string> {
  yield csvLine(COLUMNS.map(([name]) => name));
  for await (const test of tests) yield csvLine(COLUMNS.map(([, value]) => csvCell(value(test))));
}

export async function* toJsonLines(tests: AsyncIterable<ListedTest>): AsyncGenerator<string> {
  for await (const test of tests) yield `${JSON.stringify(test)}\n`;
}

/** A body that is made as it is read. */
export function streamed(parts: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}
