/** Waiting for a test to end, for `?wait=`. */

import type { App } from '../app.ts';
import { waitUntil } from '../lib/signals.ts';
import type { TestRow } from '../store/tables.ts';

/** Resolves with the test once it has ended, or as it is after `ms` milliseconds or when the client goes away. */
export function waitForEnd(
  app: Pick<App, 'signals' | 'clock'>,
  { id, ms, abort }: { id: string; ms: number; abort: AbortSignal },
  find: () => Promise<TestRow>,
): Promise<TestRow> {
  return waitUntil(app, { name: id, ms, abort }, find, isEnded);
}

function isEnded({ status }: TestRow): boolean {
  return status === 'completed' || status === 'failed';
}
