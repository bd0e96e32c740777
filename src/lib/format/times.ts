/** Formats times for people. */

import { formatUtcTime } from '../clock.ts';

/** Bounds the cache: time zones are few, but their names have many spellings. */
const MAX_CACHED_FORMATS = 1000;
const ZONED_FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const cached = ZONED_FORMATS.get(timezone);
  if (cached) return cached;
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
  if (ZONED_FORMATS.size > MAX_CACHED_FORMATS) ZONED_FORMATS.clear();
  ZONED_FORMATS.set(timezone, format);
  return format;
}

/** Date and time of day of an ISO 8601 time in a zone. Throws a RangeError for an unknown zone. */
export function zonedParts(iso: string, timezone: string) {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  ) as Record<'weekday' | 'day' | 'month' | 'year' | 'hour' | 'minute', string>;
  return { ...parts, clock: `${parts.hour}:${parts.minute}` };
}

const SORTABLE_FORMATS = new Map<string, Intl.DateTimeFormat>();

/** `2026-11-16 08:00`: local date and time in a form that sorts. */
export function clockAt(iso: string, timezone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  const format =
    SORTABLE_FORMATS.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: timezone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
  if (SORTABLE_FORMATS.size > MAX_CACHED_FORMATS) SORTABLE_FORMATS.clear();
  SORTABLE_FORMATS.set(timezone, format);
  return format.format(new Date(iso));
}

/** `Mon 16 Nov 2026, 08:00`. */
export function instantIn(iso: string, timezone: string): string {
  return `${dateIn(iso, timezone)}, ${zonedParts(iso, timezone).clock}`;
}

/** `Mon 16 Nov 2026`. */
export function dateIn(iso: string, timezone: string): string {
  const { weekday, day, month, year } = zonedParts(iso, timezone);
  return `${weekday} ${day} ${month} ${year}`;
}

// Times on pages.

export interface TimeFormat {
  /** An IANA name; null for UTC. */
  timeZone: string | null;
  /** A BCP 47 tag. */
  locale: string;
  /** Only the day. */
  day?: boolean;
}

/** "22 Nov 2026, 10:00 UTC". */
export function formatTime(at: string, { timeZone, locale, day = false }: TimeFormat): string {
  return new Intl.DateTimeFormat(locale, {
    timeZone: timeZone ?? 'UTC',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    ...(day ? {} : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' }),
  }).format(new Date(at));
}

const DAY_FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Days in UTC. Kept, because a chart writes hundreds of days, and a new format takes longer than all of them. */
export function dayFormat(locale: string, withYear: boolean): Intl.DateTimeFormat {
  const key = `${locale} ${withYear}`;
  const format =
    DAY_FORMATS.get(key) ??
    new Intl.DateTimeFormat(locale, {
      timeZone: 'UTC',
      day: 'numeric',
      month: 'short',
      ...(withYear ? { year: 'numeric' } : {}),
    });
  if (DAY_FORMATS.size > MAX_CACHED_FORMATS) DAY_FORMATS.clear();
  DAY_FORMATS.set(key, format);
  return format;
}

/** A day such as `2026-11-21` as `21 Nov 2026`. */
export const dayInWords = (day: string): string => dayFormat('en-GB', true).format(new Date(day));

// Times in emails and Slack messages.

/** An ISO 8601 time as `28 Nov 2026, 10:00 UTC`. */
export function timeInWords(time: string): string {
  return formatUtcTime(Date.parse(time));
}
