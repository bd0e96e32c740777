/**
 * What is kept of a report that does not count: few and short rows, within what is left for the reports of its message. One small
 * message could otherwise store megabytes.
 */

import { outcomeOf } from '../reading/dmarc-rows.ts';
import { isSum, MIN_SUMS, RowSums, type SummedRow } from '../reading/fold-rows.ts';
import { ENTRY_BYTES, PART_BYTES } from '../storage/stored.ts';
import { BATCH_ROWS, type PreparedReport } from '../thread/prepare.ts';

/** The share of the kept rows that are sums. */
const SUMS_SHARE = 1 / 4;
/** In characters. Beyond it, what is shown of a row only in detail is left out. */
const MAX_ROW_TEXT = 500;
/** The columns that go first, in this order. Rows have only some of them. */
const DETAILS =
  'results reasons reason_code envelope_to envelope_from dkim_selector spf_domain dkim_domain receiving_mx header_from'.split(
    ' ',
  );

interface Row extends Pick<SummedRow, 'address' | 'count' | 'dkim' | 'spf' | 'disposition'> {
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
  const max = Math.min(BATCH_ROWS, Math.floor(bytes / PART_BYTES));
  const all = item.batches.flatMap((batch): Row[] => JSON.parse(batch));
  if (item.type !== 'dmarc') return withRows(item, all.slice(0, Math.max(0, max)).map(shortened));
  if (all.length <= max) return withRows(item, all.map(shortened));
  const maxSums = Math.max(MIN_SUMS, Math.floor(max * SUMS_SHARE));
  const kept = all.slice(0, Math.max(0, max - maxSums));
  const left = all.slice(kept.length);
  const sums = new RowSums(maxSums);
  for (const row of left) sums.add(summedOf(row));
  const rows = [...kept.map(shortened), ...sums.list().map((sum) => sumRow(sum, all[0]!))];
  const single = left.filter(({ address }) => !isSum(address));
  const { folded_rows = 0, folded_messages = 0, ...content } = JSON.parse(item.content);
  const folded = {
    folded_rows: folded_rows + single.length,
    folded_messages: folded_messages + single.reduce((sum, { count }) => sum + count, 0),
  };
  return {
    ...withRows(item, max < MIN_SUMS ? [] : rows.map((row, position) => ({ ...row, position }))),
    content: JSON.stringify({ ...content, ...folded }),
  };
}

const withRows = (item: PreparedReport, rows: Row[]): PreparedReport => ({
  ...item,
  batches: rows.length === 0 ? [] : [JSON.stringify(rows)],
  rowCount: rows.length,
});

const summedOf = (row: Row): SummedRow => ({
  address: row.address,
  count: row.count,
  disposition: row.disposition,
  dkim: row.dkim,
  spf: row.spf,
  reasons: JSON.parse((row.reasons as string | null) ?? '[]'),
  headerFrom: row.header_from as string | null,
  signer: row.dkim_result === 'pass' ? (row.dkim_domain as string | null) : null,
  mailFrom: row.spf_result === 'pass' ? (row.spf_domain as string | null) : null,
});

/** `other`: any row of the report, for its columns and day. */
const sumRow = ({ signer, mailFrom, reasons, headerFrom, ...sum }: SummedRow, other: Row): Row => ({
  ...Object.fromEntries(Object.keys(other).map((name) => [name, null])),
  ...sum,
  day: other.day,
  outcome: outcomeOf(sum),
  header_from: headerFrom,
  dkim_domain: signer,
  dkim_result: signer === null ? null : 'pass',
  spf_domain: mailFrom,
  spf_result: mailFrom === null ? null : 'pass',
  reasons: reasons.length > 0 ? JSON.stringify(reasons) : null,
});

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
