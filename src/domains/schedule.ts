/** When a domain is looked at next. */

import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Counted from the beginning of the search; hourly from the last of them on. */
const FIRST_LOOKUPS_MIN = [1, 5, 15, 30, 60];
/** So long a record is looked for before its absence is a failure. */
export const SEARCH_MS = 72 * HOUR_MS;
/** So long a record may be gone before a verified domain is verified no more. */
export const GONE_MS = 3 * DAY_MS;
/** What could not be found out is looked at again after this. */
export const RETRY_MS = HOUR_MS;

/** No plan is farther away: what is, was made before the clock was set back. */
export const FURTHEST_MS = 25 * HOUR_MS;

/** The next lookup of an unverified domain; all times in milliseconds since 1970. */
export function nextLookup(pendingSince: number, now: number): number {
  const first = FIRST_LOOKUPS_MIN.map((minutes) => pendingSince + minutes * MINUTE_MS);
  const hours = Math.max(0, Math.floor((now - pendingSince) / HOUR_MS));
  return first.find((at) => at > now) ?? pendingSince + (hours + 1) * HOUR_MS;
}

/**
 * The next daily look at a verified domain: each has its own time of day, by its id, so that ten
 * thousand do not come at once. Not within an hour, as it has just been looked at.
 */
export function nextDaily(id: string, now: number): number {
  const timeOfDay = createHash('sha256').update(id).digest().readUInt32BE(0) % DAY_MS;
  const earliest = now + HOUR_MS;
  const today = Math.floor(earliest / DAY_MS) * DAY_MS + timeOfDay;
  return today >= earliest ? today : today + DAY_MS;
}
