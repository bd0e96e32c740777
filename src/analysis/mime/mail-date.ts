/** Parses the date-time of RFC 5322 §3.3 and recognizes the obsolete forms of §4.3. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const OBSOLETE_ZONES: Record<string, number> = {
  ut: 0,
  gmt: 0,
  edt: -4,
  est: -5,
  cdt: -5,
  cst: -6,
  mdt: -6,
  mst: -7,
  pdt: -7,
  pst: -8,
};

const DATE_TIME =
  /^(?:([a-z]{3})\s*,\s*)?(\d{1,2})\s+([a-z]{3})\s+(\d{2,4})\s+(\d{1,2})\s*:\s*(\d{2})(?:\s*:\s*(\d{2}))?\s+([+-]\d{4}|[a-z]{1,4})$/i;

export interface MailDate {
  /** Milliseconds since the Unix epoch. */
  ms: number;
  /** What a strict parser would reject, continuing "it …"; null for the current form. */
  deviation: string | null;
}

/** null if the value is not a date. Never throws. */
export function parseMailDate(value: string): MailDate | null {
  const match = DATE_TIME.exec(withoutComments(value.slice(0, 200)).trim());
  if (!match) return null;
  const [, weekday, day, monthName, yearText, hour, minute, second, zone] = match;
  const month = MONTHS.indexOf(monthName!.toLowerCase());
  const [h, m, s] = [Number(hour), Number(minute), Number(second ?? 0)];
  const offset = zoneMinutes(zone!);
  // 60 is a leap second (§3.3).
  if (month < 0 || h > 23 || m > 59 || s > 60 || offset === null) return null;
  const year = fullYear(yearText!);
  const local = Date.UTC(year, month, Number(day), h, m, s);
  const midnight = new Date(Date.UTC(year, month, Number(day)));
  if (midnight.getUTCDate() !== Number(day) || Number(day) === 0) return null;
  return {
    ms: local - offset * 60_000,
    deviation: deviationOf(weekday, midnight.getUTCDay(), yearText!, zone!),
  };
}

/** Replaces comments by a space. They nest (RFC 5322 §3.2.2); an unclosed one extends to the end. */
export function withoutComments(text: string): string {
  let depth = 0;
  let result = '';
  for (const character of text) {
    if (character === '(') depth++;
    if (depth === 0) result += character;
    if (character === ')' && depth > 0) {
      depth--;
      result += ' ';
    }
  }
  return result;
}

/** §4.3: two-digit years below 50 count from 2000, all other short years from 1900. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length === 4) return year;
  return text.length === 2 && year < 50 ? 2000 + year : 1900 + year;
}

/** §4.3: an unknown zone name means -0000. */
function zoneMinutes(zone: string): number | null {
  if (!/^[+-]/.test(zone)) return (OBSOLETE_ZONES[zone.toLowerCase()] ?? 0) * 60;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3));
  if (minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

function deviationOf(weekday: string | undefined, actual: number, year: string, zone: string) {
  if (weekday && DAYS.indexOf(weekday.toLowerCase()) !== actual)
    return 'has the wrong day of the week for this date';
  if (year.length < 4) return 'has a year with fewer than four digits';
  // GMT is formally obsolete, but widely used.
  if (/^[a-z]/i.test(zone) && !/^(?:gmt|ut)$/i.test(zone))
    return `uses a time zone name (${zone}) instead of an offset such as +0000`;
  return null;
}

/** Formats milliseconds since the Unix epoch by RFC 5322 §3.3: `Sat, 21 Nov 2026 10:00:00 +0000`. */
export function mailDate(ms: number): string {
  return new Date(ms).toUTCString().replace('GMT', '+0000');
}
