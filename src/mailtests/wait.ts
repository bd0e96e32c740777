/** Waiting for a test to end, for `?wait=`. */

import type { App } from '../app.ts';
import type { TestRow } from '../store/tables.ts';

/**
 * Resolves with the test as soon as it has ended, or as it is after `ms` milliseconds or when the
 * client goes away.
 */
export async function waitForEnd(
  { signals, clock }: Pick<App, 'signals' | 'clock'>,
  find: () => Promise<TestRow>,
  ms: number,
  abort: AbortSignal,
): Promise<TestRow> {
  const until = clock.now() + ms;
  for (;;) {
    const stop = new AbortController();
    let row = await find();
    if (isEnded(row)) return row;
    const raised = signals.wait(row.id, until - clock.now(), AbortSignal.any([abort, stop.signal]));
    // Once more, now that nothing can be missed between looking and waiting.
    row = await find();
    if (isEnded(row)) {
      stop.abort();
      return row;
    }
    if (!(await raised)) return find();
  }
}

function isEnded({ status }: TestRow): boolean {
  return status === 'completed' || status === 'failed';
}
