/** When what somebody else's server has refused is tried again: at growing distances, for about eleven hours. */

const MINUTE_MS = 60_000;
const RETRY_AFTER_MS = [1, 5, 30, 120, 480].map((minutes) => minutes * MINUTE_MS);

/** No attempt is ever planned for later than this. */
export const LONGEST_WAIT_MS = Math.max(...RETRY_AFTER_MS);

/** Milliseconds from the end of the attempt that was the nth to fail; null where it was the last. */
export function retryAfterMs(failures: number): number | null {
  return RETRY_AFTER_MS[failures - 1] ?? null;
}
