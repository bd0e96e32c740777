/** Calculates send times independently of the service, from what local clocks show. */

import type { SendTiming } from '../../src/schedules/times.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time of a zone, as if it were UTC. */
function wallTime(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const parts = Object.fromEntries(
    format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute', number>;
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute);
}

/** The first moment at which local clocks show `wanted` or later. */
function firstMoment(timeZone: string, wanted: number): number {
  // Zones are at most 14 hours from UTC, and change by at most 3 hours.
  const noonBefore = wanted - 12 * HOUR_MS;
  const offset = wallTime(timeZone, noonBefore) - noonBefore;
  for (let at = wanted - offset - 3 * HOUR_MS; ; at += 15 * MINUTE_MS)
    if (wallTime(timeZone, at) >= wanted) return at;
}

function isDay({ frequency, weekday, day_of_month }: SendTiming, day: Date): boolean {
  if (frequency === 'daily') return true;
  if (frequency === 'weekly') return WEEKDAYS[day.getUTCDay()] === weekday;
  const last = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  return day.getUTCDate() === Math.min(day_of_month, last);
}

/** All send times after `from` up to `to`. */
export function timesBetween(schedule: SendTiming, from: number, to: number): number[] {
  const { timezone, send_hour } = schedule;
  const times: number[] = [];
  const first = Math.floor(from / DAY_MS) * DAY_MS - 2 * DAY_MS;
  for (let day = first; day <= to + 2 * DAY_MS; day += DAY_MS)
    if (isDay(schedule, new Date(day)))
      times.push(firstMoment(timezone, day + send_hour * HOUR_MS));
  return times.filter((time) => time > from && time <= to);
}
