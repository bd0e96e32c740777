/** Repeats work whose result would be lost if the database is away for a moment. */

import { setTimeout as pause } from 'node:timers/promises';
import { monotonicClock } from '../lib/clock.ts';
import { isUnavailable } from './errors.ts';

const RETRY_INTERVAL_MS = 500;
/** Shorter than the leases of the work, with time for an attempt that fails slowly. */
const MAX_WAIT_MS = 60_000;

/**
 * Runs `work` again while the database is unavailable, for up to a minute. A commit whose outcome is unknown
 * is repeated too, so `work` must change nothing the second time.
 */
export async function untilAvailable<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = monotonicClock.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isTooLate = monotonicClock.now() - startedAt > MAX_WAIT_MS;
      if (isTooLate || !isUnavailable(error)) throw error;
    }
    await pause(RETRY_INTERVAL_MS);
  }
}
