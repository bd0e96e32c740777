/** When the reports of a schedule are sent, by the clock of its time zone, and which hours each of them covers. */

import { Cron } from 'croner';
import { isoTime } from '../lib/clock.ts';
import { clockAt, fullHourFrom } from '../report/times.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { bordersEvery, type Span } from '../summary/summary.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What tells when a report is sent. */
export type Timed = Pick<
  ReportScheduleRow,
  'frequency' | 'send_hour' | 'timezone' | 'weekday' | 'day_of_month'
>;

/**
 * The first time after `after` at which a report is sent; both in milliseconds since 1970. An hour
 * that the clocks leave out is made up for as soon as they go on; of one that comes twice the first counts.
 */
export function nextSend(schedule: Timed, after: number): number {
  for (const time of sendsFrom(schedule, after - FARTHEST_FROM_NOON_MS))
    if (time > after) return time;
  throw new Error('A schedule has no end.');
}

/** Its hour, or the beginning of the next day, is no farther from the noon of a day. */
const FARTHEST_FROM_NOON_MS = 16 * HOUR_MS;

/** The times of the days whose noons come after `after`, without end. */
function* sendsFrom(schedule: Timed, after: number): Generator<number> {
  const { timezone, send_hour } = schedule;
  const noons = patternsOf(schedule).map((pattern) => new Cron(pattern, { timezone }));
  for (let noon = after; ; ) {
    const from = new Date(noon);
    noon = Math.min(...noons.map((cron) => cron.nextRun(from)!.getTime()));
    yield hourOfDay(noon, send_hour, timezone);
  }
}

/**
 * The noons of the days: no clock leaves one out, as it does with other hours, so that the day is not
 * left out with its hour where that is the last one. A day that a month does not have is its last one.
 */
function patternsOf({ frequency, weekday, day_of_month }: Timed): string[] {
  const noon = '0 0 12';
  if (frequency === 'daily') return [`${noon} * * *`];
  if (frequency === 'weekly') return [`${noon} * * ${weekday.slice(0, 3).toUpperCase()}`];
  if (day_of_month === 31) return [`${noon} L * *`];
  if (day_of_month <= 28) return [`${noon} ${day_of_month} * *`];
  return [`${noon} ${day_of_month} 1,3-12 *`, `${noon} L 2 *`];
}

/** Clocks are moved by a multiple of the one, and by less than the other. */
const STEP_MS = 15 * 60_000;
const FARTHEST_MS = 3 * HOUR_MS;

/** The first moment at which the clocks show this hour of the day of a noon, or have gone past it. */
function hourOfDay(noon: number, hour: number, timezone: string): number {
  const [day] = clockAt(isoTime(noon), timezone).split(' ');
  const wanted = `${day} ${String(hour).padStart(2, '0')}:00`;
  let time = noon + (hour - 12) * HOUR_MS - FARTHEST_MS;
  while (clockAt(isoTime(time), timezone) < wanted) time += STEP_MS;
  return time;
}

/** Longer than it is from one time to the next, also where a zone leaves out a whole day. */
const LONGER_THAN_A_PERIOD_MS: Record<Timed['frequency'], number> = {
  daily: 2 * DAY_MS + 3 * HOUR_MS,
  weekly: 14 * DAY_MS + 3 * HOUR_MS,
  monthly: 33 * DAY_MS,
};

/** The last time at which a report was to be sent, `now` included. */
export function lastSend(schedule: Timed, now: number): number {
  let slot = nextSend(schedule, now - LONGER_THAN_A_PERIOD_MS[schedule.frequency]);
  for (let next = slot; next <= now; next = nextSend(schedule, slot)) slot = next;
  return slot;
}

/** Of all that were missed since `planned`, the last one alone. */
export function slotToSend(schedule: Timed, planned: number, now: number): number {
  return Math.max(planned, lastSend(schedule, now));
}

/**
 * Where a time seems so far away that the clock must have been set back: the next one by the clock of
 * now. Below that, waiting meets no time twice.
 */
export function replanned(schedule: Timed, planned: number, now: number): number {
  const far = now + 2 * LONGER_THAN_A_PERIOD_MS[schedule.frequency];
  return planned > far ? nextSend(schedule, now) : planned;
}

/** Hours of a day, days of a week or a month by the clocks of the zone. */
export type Covered = Span;

/** What the report of a time covers: all since the time before. */
export function periodOf(schedule: Timed, slot: number): Covered {
  const former = lastSend(schedule, slot - 1);
  const [from, to] = [wholeHour(former), wholeHour(slot)];
  const before = wholeHour(lastSend(schedule, former - 1));
  const borders =
    schedule.frequency === 'daily'
      ? bordersEvery(1, from, to)
      : [from, ...daysBetween(schedule, former, slot), to];
  return { from, to, before, borders };
}

/** What a report covers that is sent now, beside the plan: as many days as the next one will, until this hour is over. */
export function periodUntil(schedule: Timed, now: number): Covered {
  const next = periodOf(schedule, nextSend(schedule, now));
  const days = Math.round((next.to - next.from) / DAY_MS);
  const to = wholeHour(now) + HOUR_MS;
  const { hour } = fullHourFrom(isoTime(to), schedule.timezone);
  // More than are needed, and none that is this hour itself where the clocks show it twice.
  const begins = daysBetween(
    { ...schedule, send_hour: Number(hour) },
    to - (2 * days + 2) * DAY_MS,
    to - DAY_MS / 2,
  );
  const [before, from] = [begins.at(-2 * days)!, begins.at(-days)!];
  const borders =
    schedule.frequency === 'daily' ? bordersEvery(1, from, to) : [...begins.slice(-days), to];
  return { from, to, before, borders };
}

const wholeHour = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;

/** When the clocks show the hour of the schedule, day by day between two times. */
function daysBetween(schedule: Timed, after: number, before: number): number[] {
  const daily = { ...schedule, frequency: 'daily' as const };
  const days: number[] = [];
  for (const at of sendsFrom(daily, after - FARTHEST_FROM_NOON_MS)) {
    if (at >= before) return days;
    if (at > after) days.push(wholeHour(at));
  }
  return days;
}

// Names of time zones as they are spelled, and the day that it is in one.

/** An offset, which the runtime takes too, is none: it knows no summer time. */
const LIKE_A_ZONE = /^[A-Za-z][\w+/-]{0,63}$/;

/** As the runtime takes it: in capitals or not. */
export function isTimeZone(text: string): boolean {
  try {
    return LIKE_A_ZONE.test(text) && Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** What the rules below do not tell. */
const ODD = new Map(
  [
    'America/Argentina/ComodRivadavia',
    'America/Knox_IN',
    'Antarctica/DumontDUrville',
    'Antarctica/McMurdo',
    'Australia/ACT',
    'Australia/LHI',
    'Australia/NSW',
    'Brazil/DeNoronha',
    'Chile/EasterIsland',
    'GB-Eire',
    'Mexico/BajaNorte',
    'Mexico/BajaSur',
  ].map((name) => [name.toLowerCase(), name]),
);
const SMALL_WORDS = ['au', 'es', 'of'];

/**
 * The name with its capitals, as the IANA database writes it. Only the case is mended: another name of
 * the same zone stays, where the runtime would answer an older one.
 */
export function spelledZone(name: string): string {
  const lower = name.toLowerCase();
  const odd = ODD.get(lower);
  if (odd) return odd;
  const parts = lower.split('/');
  // `UTC`, `EST5EDT`, `W-SU`, but `Japan`.
  if (parts.length === 1)
    return lower.length <= 3 || /[\d-]/.test(lower) ? lower.toUpperCase() : capitals(lower);
  const [area, ...rest] = parts;
  if (area === 'systemv') return `SystemV/${rest.join('/').toUpperCase()}`;
  if (area === 'etc') return `Etc/${rest.map(etcetera).join('/')}`;
  return [area === 'us' ? 'US' : capitals(area!), ...rest.map(capitals)].join('/');
}

/** `GMT+5`, `UTC`, `Zulu`. */
const etcetera = (part: string): string =>
  /^(?:gmt|utc|uct)/.test(part) ? part.toUpperCase() : capitals(part);

const capitals = (part: string): string =>
  part.replace(/[a-z]+/g, (word, at: number) =>
    at > 0 && SMALL_WORDS.includes(word) ? word : word[0]!.toUpperCase() + word.slice(1),
  );

/** `2026-11-21`: what the calendar shows there at a time in milliseconds since 1970. */
export function localDate(time: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
}
