/** Times as Microsoft SNDS writes them. */

import { HOUR_MS } from '../../lib/durations.ts';

/** Without an offset, it is Pacific time, too. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;
const TIME = /^(\d{1,2})\/(\d{1,2})\/(\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)$/i;
/** From UTC to local time in winter and in summer. */
const STANDARD_MS = -8 * HOUR_MS;
const DAYLIGHT_MS = -7 * HOUR_MS;

const HOUR_FORMAT = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hour: 'numeric',
  hourCycle: 'h23',
});

/**
 * `12/31/2026 7:00 PM` or `2026-12-31T19:00:00` in Pacific time, in milliseconds since the Unix epoch; null if it is invalid. Of an hour that
 * repeats in fall, the first is meant. A time that is skipped in spring is one hour later.
 */
export function parsePacificTime(text: string): number | null {
  const iso = ISO.exec(text);
  if (iso?.[7]) return Date.parse(text.replace(' ', 'T')) || null;
  if (iso) {
    const [, year, month, date, hour, ...rest] = iso;
    const hour12 = Number(hour) % 12 || 12;
    const clock = `${hour12}:${rest[0]}${rest[1] ? `:${rest[1]}` : ''}`;
    return Number(hour) > 23
      ? null
      : parsePacificTime(`${month}/${date}/${year} ${clock} ${Number(hour) < 12 ? 'AM' : 'PM'}`);
  }
  const match = TIME.exec(text);
  if (!match) return null;
  const [month, date, year, hour12, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  if (hour12 < 1 || hour12 > 12 || minute > 59 || second > 59) return null;
  const hour = (hour12 % 12) + (match[7]!.toUpperCase() === 'PM' ? 12 : 0);
  const local = Date.UTC(year, month - 1, date, hour, minute, second);
  // Without this, 31 February would be a day in March.
  const day = new Date(local);
  if (year < 1970 || day.getUTCMonth() !== month - 1 || day.getUTCDate() !== date) return null;
  const inSummer = local - DAYLIGHT_MS;
  return Number(HOUR_FORMAT.format(inSummer)) === hour ? inSummer : local - STANDARD_MS;
}
