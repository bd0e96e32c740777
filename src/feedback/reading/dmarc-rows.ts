/** The rows and totals of a DMARC report, collected with bounded memory. */

import { LIMITS } from './limits.ts';
import type { DmarcReport, DmarcRow, DmarcTotal } from './report.ts';
import { addCounts } from './values.ts';

export interface Fold {
  rows: DmarcRow[];
  /** One for each combination of results. */
  sums: Map<string, DmarcRow>;
  foldedRows: number;
  totals: Map<string, DmarcTotal>;
  messages: number;
}

export const newFold = (): Fold => ({
  rows: [],
  sums: new Map(),
  foldedRows: 0,
  totals: new Map(),
  messages: 0,
});

/** A message fails only if both evaluated results do. */
export const outcomeOf = ({ dkim, spf }: Pick<DmarcRow, 'dkim' | 'spf'>): 'pass' | 'fail' =>
  dkim === 'pass' || spf === 'pass' ? 'pass' : 'fail';

export function addTotal(fold: Fold, row: DmarcRow): void {
  fold.messages = addCounts(fold.messages, row.count);
  const outcome = outcomeOf(row);
  const overridden = row.reasons.length > 0;
  const key = `${outcome} ${row.disposition} ${overridden}`;
  const total = fold.totals.get(key);
  if (total) total.count += row.count;
  else
    fold.totals.set(key, {
      outcome,
      disposition: row.disposition,
      overridden,
      count: row.count,
    });
}

export function addFolded(fold: Fold, row: DmarcRow): void {
  fold.rows.push(row);
  if (fold.rows.length >= 2 * LIMITS.rows) shrink(fold);
}

/** Keeps the rows with the most messages, and adds the others to the sums. */
function shrink(fold: Fold): void {
  if (fold.rows.length <= LIMITS.rows) return;
  fold.rows.sort((a, b) => b.count - a.count);
  for (const row of fold.rows.splice(LIMITS.rows)) {
    fold.foldedRows += 1;
    const key = `${row.dkim} ${row.spf} ${row.disposition}`;
    const sum = fold.sums.get(key);
    if (sum) sum.count += row.count;
    else
      fold.sums.set(key, {
        address: null,
        headerFrom: null,
        envelopeFrom: null,
        envelopeTo: null,
        reasons: [],
        dkimResults: [],
        spfResults: [],
        count: row.count,
        disposition: row.disposition,
        dkim: row.dkim,
        spf: row.spf,
      });
  }
}

/** The result, with the largest rows first. */
export function foldedRows(fold: Fold): Pick<DmarcReport, 'rows' | 'foldedRows' | 'totals'> {
  shrink(fold);
  const rows = [...fold.rows.toSorted((a, b) => b.count - a.count), ...fold.sums.values()];
  return { rows, foldedRows: fold.foldedRows, totals: [...fold.totals.values()] };
}
