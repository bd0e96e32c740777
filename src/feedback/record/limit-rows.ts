/** The rows of a report that does not count: few and short, so that one small message cannot store megabytes. */

import { BATCH_ROWS, type PreparedReport } from '../thread/prepare.ts';

/** With the sums of those that are left out, they are one batch. */
const MAX_ROWS = BATCH_ROWS - 20;
/** In characters. Beyond it, what is shown of a row only in detail is left out. */
const MAX_ROW_TEXT = 500;

interface Row {
  position: number;
  day: string;
  count: number;
  dkim: string;
  spf: string;
  disposition: string;
  [column: string]: unknown;
}

/** The sums of the report stay exact. */
export function limitRows(item: PreparedReport): PreparedReport {
  if (item.type === 'dmarc') return limitDmarcRows(item);
  if (item.rowCount <= MAX_ROWS) return item;
  const rows: object[] = JSON.parse(item.batches[0]!).slice(0, MAX_ROWS);
  return { ...item, batches: [JSON.stringify(rows)], rowCount: rows.length };
}

function limitDmarcRows(item: PreparedReport): PreparedReport {
  if (item.rowCount === 0) return item;
  const all = item.batches.flatMap((batch): Row[] => JSON.parse(batch));
  const rows = all.slice(0, MAX_ROWS).map(shortened);
  const sums = new Map<string, Row>();
  for (const { dkim, spf, disposition, count, day, outcome } of all.slice(MAX_ROWS)) {
    const key = `${dkim} ${spf} ${disposition}`;
    const sum = sums.get(key);
    if (sum) sum.count += count;
    else
      sums.set(key, {
        ...(Object.fromEntries(Object.keys(all[0]!).map((name) => [name, null])) as unknown as Row),
        position: rows.length + sums.size,
        day,
        count,
        outcome,
        dkim,
        spf,
        disposition,
      });
  }
  const kept = [...rows, ...sums.values()];
  const content = JSON.parse(item.content);
  const folded_rows = (content.folded_rows ?? 0) + Math.max(0, all.length - rows.length);
  return {
    ...item,
    content: JSON.stringify({ ...content, folded_rows }),
    batches: [JSON.stringify(kept)],
    rowCount: kept.length,
  };
}

function shortened(row: Row): Row {
  const length = Object.values(row).reduce<number>((sum, value) => sum + String(value).length, 0);
  return length <= MAX_ROW_TEXT ? row : { ...row, results: null, reasons: null };
}
