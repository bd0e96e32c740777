/** Times as Microsoft SNDS writes them. */

import { HOUR_MS } from '../../lib/durations.ts';

const TIME = /^(\d{1,2})\/(\d{1,2})\/(\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AP]M)$/i;
const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;
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
  const parts = partsOf(text);
  if (parts === null || typeof parts === 'number') return parts;
  const [year, month, date, hour, minute, second] = parts;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const local = Date.UTC(year, month - 1, date, hour, minute, second);
  // Without this, 31 February would be a day in March.
  const day = new Date(local);
  if (year < 1970 || day.getUTCMonth() !== month - 1 || day.getUTCDate() !== date) return null;
  const inSummer = local - DAYLIGHT_MS;
  return Number(HOUR_FORMAT.format(inSummer)) === hour ? inSummer : local - STANDARD_MS;
}

type Parts = [
  year: number,
  month: number,
  date: number,
  hour: number,
  minute: number,
  second: number,
];

/** Of the local time, or the time itself if it has an offset. */
function partsOf(text: string): Parts | number | null {
  const iso = ISO.exec(text);
  if (iso?.[7]) return Date.parse(text.replace(' ', 'T')) || null;
  const match = iso ?? TIME.exec(text);
  if (!match) return null;
  const numbers = match.slice(1, 7).map((part) => Number(part ?? 0)) as Parts;
  if (iso) return numbers;
  const [month, date, year, hour12, minute, second] = numbers;
  if (hour12 < 1 || hour12 > 12) return null;
  const hour = (hour12 % 12) + (match[7]!.toUpperCase() === 'PM' ? 12 : 0);
  return [year, month, date, hour, minute, second];
}
