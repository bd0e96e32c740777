/** The rows and totals of a DMARC report, collected with bounded memory. */

import { RowSums, type SummedRow } from './fold-rows.ts';
import { LIMITS } from './limits.ts';
import type { DmarcReport, DmarcRow, DmarcTotal } from './report.ts';
import { addCounts } from './values.ts';

export interface Fold {
  rows: DmarcRow[];
  sums: RowSums;
  totals: Map<string, DmarcTotal>;
  messages: number;
}

export const newFold = (): Fold => ({
  rows: [],
  sums: new RowSums(LIMITS.sums),
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
  for (const row of fold.rows.splice(LIMITS.rows)) fold.sums.add(summedOf(row));
}

const summedOf = ({ dkimResults, spfResults, ...row }: DmarcRow): SummedRow => ({
  address: row.address,
  count: row.count,
  disposition: row.disposition,
  dkim: row.dkim,
  spf: row.spf,
  reasons: row.reasons,
  headerFrom: row.headerFrom,
  signer: passing(dkimResults),
  mailFrom: passing(spfResults),
});

const passing = (results: { domain: string | null; result: string }[]): string | null =>
  results.find(({ domain, result }) => domain !== null && result === 'pass')?.domain ?? null;

function rowOf({ signer, mailFrom, ...sum }: SummedRow): DmarcRow {
  const passed = { result: 'pass', humanResult: null };
  return {
    ...sum,
    envelopeFrom: null,
    envelopeTo: null,
    dkimResults: signer === null ? [] : [{ domain: signer, selector: null, ...passed }],
    spfResults: mailFrom === null ? [] : [{ domain: mailFrom, scope: null, ...passed }],
  };
}

/** The result, with the largest rows first. */
export function foldedRows(
  fold: Fold,
): Pick<DmarcReport, 'rows' | 'foldedRows' | 'foldedMessages' | 'totals'> {
  shrink(fold);
  const { sums } = fold;
  return {
    rows: [...fold.rows.toSorted((a, b) => b.count - a.count), ...sums.list().map(rowOf)],
    foldedRows: sums.rows,
    foldedMessages: sums.messages,
    totals: [...fold.totals.values()],
  };
}
