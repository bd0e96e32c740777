/** What was found out about somebody's mail, told in the transaction that stores it. */

import type { Tx } from '../store/open.ts';
import type { TestRow } from '../store/tables.ts';
import type { MonitorRow, MonitorRunRow } from '../store/watching-tables.ts';

export type Result =
  /** A live test that has completed now; a reanalysis is none. */
  { kind: 'test'; test: TestRow } | { kind: 'run'; run: MonitorRunRow; monitor: MonitorRow };

/** Called inside the transaction, so that what it writes stands or falls with the result. */
export type ResultSubscriber = (tx: Tx, result: Result) => Promise<void>;

/** Who hears of results; `app.ts` passes the list, so that no feature imports upwards. */
export interface ResultContext {
  results: ResultSubscriber[];
}

/** To be called in `transact`, once the result is stored; rejects where a subscriber does. */
export async function publishResult(
  tx: Tx,
  result: Result,
  { results }: ResultContext,
): Promise<void> {
  for (const subscriber of results) await subscriber(tx, result);
}
