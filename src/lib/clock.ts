/** The only place that reads the system time; tests pass their own clock. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Set if it follows the clock of the PostgreSQL server: leases then use the server's own time. */
  readonly source?: 'database';
}

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds since some fixed moment. Nobody can set it forward or back. */
export const monotonicClock: Clock = { now: () => performance.now() };

/** Whether the text is a day such as `2026-11-21`, in the years that reports can be about, and a few more. */
export function isDay(text: string | undefined): text is string {
  if (text === undefined) return false;
  if (!/^(?:19[89]\d|2[01]\d\d)-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
    return false;
  // Date.parse takes 31 February for a day in March.
  return new Date(text).toISOString().startsWith(text);
}

/** `2026-11-21T10:00:00.000Z`: the format of every time in the API and the database. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const UTC_FORMAT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** For people: `28 Nov 2026, 10:00 UTC`. */
export const formatUtcTime = (ms: number): string => `${UTC_FORMAT.format(new Date(ms))} UTC`;
