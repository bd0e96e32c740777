/** When to retry a failed delivery: at growing intervals, for about eleven hours. */

import { MINUTE_MS } from './durations.ts';

const RETRY_DELAYS_MS = [1, 5, 30, 120, 480].map((minutes) => minutes * MINUTE_MS);

/** The longest time from a failed attempt to its retry. */
export const MAX_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_MS);

/** Milliseconds from the end of the nth failed attempt to the next one; null after the last. */
export function retryAfterMs(failures: number): number | null {
  return RETRY_DELAYS_MS[failures - 1] ?? null;
}
