/** Times as people in a time zone read them. */

import { isoTime } from '../lib/clock.ts';

/** There are fewer zones, but names of them are written in many ways. */
const MOST_FORMATS = 1000;
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (FORMATS.size > MOST_FORMATS) FORMATS.clear();
  FORMATS.set(timezone, format);
  return format;
}

/** Of an ISO 8601 time: what a calendar and a clock show there. Throws a RangeError on an unknown zone. */
export function zoned(iso: string, timezone: string) {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  ) as Record<'weekday' | 'day' | 'month' | 'year' | 'hour' | 'minute', string>;
  return { ...parts, clock: `${parts.hour}:${parts.minute}` };
}

const CLOCKS = new Map<string, Intl.DateTimeFormat>();

/** `2026-11-16 08:00`: what the calendar and the clock show there, such that a later one sorts after. */
export function clockAt(iso: string, timezone: string): string {
  // Swedes write dates so.
  const format =
    CLOCKS.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: timezone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
  if (CLOCKS.size > MOST_FORMATS) CLOCKS.clear();
  CLOCKS.set(timezone, format);
  return format.format(new Date(iso));
}

/** Zones are a multiple of a quarter of an hour away from UTC. */
const LATEST_FULL_HOUR_MS = 45 * 60_000;

/** Of the beginning of an hour of UTC: within the full hour that begins there with it, or before it ends. */
export function fullHourFrom(iso: string, timezone: string) {
  return zoned(isoTime(Date.parse(iso) + LATEST_FULL_HOUR_MS), timezone);
}

/** `Mon 16 Nov 2026, 08:00`. */
export function instantIn(iso: string, timezone: string): string {
  const { weekday, day, month, year, clock } = zoned(iso, timezone);
  return `${weekday} ${day} ${month} ${year}, ${clock}`;
}

export function isMidnight(iso: string, timezone: string): boolean {
  return zoned(iso, timezone).clock === '00:00';
}

// Times as mails and messages write them.

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** Of an ISO 8601 time: `28 November 2026 at 10:00 UTC`. */
export function timeInWords(time: string): string {
  return `${FORMAT.format(new Date(time))} UTC`;
}
