/** The one place that reads the time; tests pass a clock of their own. */

export interface Clock {
  /** Milliseconds since the Unix epoch-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** `2026-11-21T10:00:00.000Z`: how every time is written, in the API and in the database. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
