/**
 * What is kept of a report that does not count: few and short rows, within what is left for the reports of its message. One small
 * message could otherwise store megabytes.
 */

import { ENTRY_BYTES, PART_BYTES } from '../storage/stored.ts';
import { BATCH_ROWS, type PreparedReport } from '../thread/prepare.ts';

/** With the sums of those that are left out, they are one batch. */
const MAX_ROWS = BATCH_ROWS - 20;
/** One for each combination of DKIM result, SPF result and disposition. */
const MAX_SUMS = 12;
/** In characters. Beyond it, what is shown of a row only in detail is left out. */
const MAX_ROW_TEXT = 500;
/** The columns that go first, in this order. Rows have only some of them. */
const DETAILS =
  'results reasons reason_code envelope_to envelope_from dkim_selector spf_domain dkim_domain receiving_mx header_from'.split(
    ' ',
  );

interface Row {
  position: number;
  day: string;
  count: number;
  dkim: string;
  spf: string;
  disposition: string;
  [column: string]: unknown;
}

/** With the sums by day, so that a report that counts later need not be read again. */
export const contentOf = ({ content, dmarcDays, tlsDays }: PreparedReport): string =>
  JSON.stringify({ ...JSON.parse(content), dmarc_days: dmarcDays, tls_days: tlsDays });

/** The sums of the report stay exact, except those of a bounce. Null if not even its content fits into `bytes`. */
export function limitReport(item: PreparedReport, bytes: number): PreparedReport | null {
  const left = bytes - Buffer.byteLength(contentOf(item));
  if (left < (item.complaint ? ENTRY_BYTES : 0)) return null;
  if (item.bounces.length > 0) return limitBounces(item, left);
  return item.rowCount === 0 ? item : limitRows(item, left);
}

function limitRows(item: PreparedReport, bytes: number): PreparedReport {
  const fitting = Math.min(MAX_ROWS, Math.floor(bytes / PART_BYTES) - MAX_SUMS);
  const all = item.batches.flatMap((batch): Row[] => JSON.parse(batch));
  const rows = all.slice(0, Math.max(0, fitting)).map(shortened);
  if (item.type !== 'dmarc') return withRows(item, rows);
  const left = all.slice(rows.length);
  const content = JSON.parse(item.content);
  const folded_rows = (content.folded_rows ?? 0) + left.length;
  const kept = fitting < 0 ? [] : [...rows, ...sumRows(left, rows.length)];
  return { ...withRows(item, kept), content: JSON.stringify({ ...content, folded_rows }) };
}

const withRows = (item: PreparedReport, rows: Row[]): PreparedReport => ({
  ...item,
  batches: rows.length === 0 ? [] : [JSON.stringify(rows)],
  rowCount: rows.length,
});

/** One row for each combination of results, without anything else. */
function sumRows(rows: Row[], firstPosition: number): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const { dkim, spf, disposition, count, day, outcome } = row;
    const key = `${dkim} ${spf} ${disposition}`;
    const sum = sums.get(key);
    if (sum) sum.count += count;
    else
      sums.set(key, {
        ...(Object.fromEntries(Object.keys(row).map((name) => [name, null])) as unknown as Row),
        position: firstPosition + sums.size,
        day,
        count,
        outcome,
        dkim,
        spf,
        disposition,
      });
  }
  return [...sums.values()];
}

function shortened(row: Row): Row {
  const short = { ...row };
  const length = () =>
    Object.values(short).reduce<number>((sum, value) => sum + textLength(value), 0);
  for (const column of DETAILS) {
    if (length() <= MAX_ROW_TEXT) break;
    if (column in short) short[column] = null;
  }
  return short;
}

const textLength = (value: unknown): number => (value === null ? 0 : String(value).length);

/** The sums of bounces are counted from what is stored. */
function limitBounces(item: PreparedReport, bytes: number): PreparedReport | null {
  let left = bytes;
  const end = item.bounces.findIndex((bounce) => {
    // At least as much as `BOUNCE_BYTES` counts for it.
    left -= ENTRY_BYTES + 3 * JSON.stringify(bounce).length;
    return left < 0;
  });
  if (end < 0) return item;
  if (end === 0) return null;
  const bounces = item.bounces.slice(0, end);
  const failed = bounces.filter(({ action }) => action === 'failed').length;
  return { ...item, bounces, messages: end, failed };
}
