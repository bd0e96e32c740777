/** When the attempts of a delivery are made: at once, and after failures at growing distances (contract §9). */

const MIN_MS = 60_000;
/** From the end of the first attempt to the second, and so on: six attempts in all. */
const RETRY_AFTER_MS = [1, 5, 30, 120, 480].map((minutes) => minutes * MIN_MS);

/** Milliseconds from the end of the failed attempt; null where so many failures end the round. */
export function retryAfterMs(failures: number): number | null {
  return RETRY_AFTER_MS[failures - 1] ?? null;
}

/** An endpoint that fails for so long without one success is disabled. */
export const DISABLE_AFTER_MS = 5 * 86_400_000;
