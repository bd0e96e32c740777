/** When the reports of a schedule are sent, in its time zone, and the period that each report covers. */

import { Cron } from 'croner';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { clockAt } from '../lib/format/times.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import type { SummarySpan } from '../summary/summary.ts';

/** The settings that decide when a report is sent. */
export type SendTiming = Pick<
  ReportScheduleRow,
  'frequency' | 'send_hour' | 'timezone' | 'weekday' | 'day_of_month'
>;

/**
 * The first send time after `after`; both in milliseconds since the Unix epoch. If daylight saving skips the
 * hour, the report is sent right after the skipped time. If the hour repeats, its first occurrence is used.
 */
export function nextSend(schedule: SendTiming, after: number): number {
  for (const { at } of sendsFrom(schedule, after - MAX_NOON_DISTANCE_MS)) if (at > after) return at;
  throw new Error('Unreachable: send times are infinite.');
}

/** The maximum distance between a send time and noon of its day. */
const MAX_NOON_DISTANCE_MS = 16 * HOUR_MS;

/** The send times of all days whose noon is after `after`, with that noon; infinite. */
function* sendsFrom(schedule: SendTiming, after: number): Generator<{ at: number; noon: number }> {
  const { timezone, send_hour } = schedule;
  const noonCrons = patternsOf(schedule).map((pattern) => new Cron(pattern, { timezone }));
  for (let noon = after; ; ) {
    const from = new Date(noon);
    noon = Math.min(...noonCrons.map((cron) => cron.nextRun(from)!.getTime()));
    yield { at: timeOfHour(noon, send_hour, timezone), noon };
  }
}

/**
 * Cron patterns for noon on each send day. Daylight saving may skip other hours, but
 * never noon. In a month without the day, the last day is used.
 */
function patternsOf({ frequency, weekday, day_of_month }: SendTiming): string[] {
  const noon = '0 0 12';
  if (frequency === 'daily') return [`${noon} * * *`];
  if (frequency === 'weekly') return [`${noon} * * ${weekday.slice(0, 3).toUpperCase()}`];
  if (day_of_month === 31) return [`${noon} L * *`];
  if (day_of_month <= 28) return [`${noon} ${day_of_month} * *`];
  return [`${noon} ${day_of_month} 1,3-12 *`, `${noon} L 2 *`];
}

/** Clock changes are multiples of this. */
const CLOCK_STEP_MS = 15 * 60_000;
/** Clock changes are smaller than this. */
const MAX_CLOCK_CHANGE_MS = 3 * HOUR_MS;

/** The first moment of the day of `noon` at which local clocks show this hour or a later time. */
function timeOfHour(noon: number, hour: number, timezone: string): number {
  const [day] = clockAt(isoTime(noon), timezone).split(' ');
  const targetClock = `${day} ${String(hour).padStart(2, '0')}:00`;
  let time = noon + (hour - 12) * HOUR_MS - MAX_CLOCK_CHANGE_MS;
  while (clockAt(isoTime(time), timezone) < targetClock) time += CLOCK_STEP_MS;
  return time;
}

/** Longer than the time between two reports, even if a time zone skips a whole day. */
const MAX_PERIOD_MS: Record<SendTiming['frequency'], number> = {
  daily: 2 * DAY_MS + 3 * HOUR_MS,
  weekly: 14 * DAY_MS + 3 * HOUR_MS,
  monthly: 33 * DAY_MS,
};

/** The last send time up to and including `now`. */
export function lastSend(schedule: SendTiming, now: number): number {
  let slot = nextSend(schedule, now - MAX_PERIOD_MS[schedule.frequency]);
  for (let next = slot; next <= now; next = nextSend(schedule, slot)) slot = next;
  return slot;
}

/** The latest send time since `planned`. Reports missed before it are not sent. */
export function slotToSend(schedule: SendTiming, planned: number, now: number): number {
  return Math.max(planned, lastSend(schedule, now));
}

/**
 * Returns `planned`, unless it is so far ahead that the clock must have been set back. Then it returns
 * the next send time.
 */
export function correctedSlot(schedule: SendTiming, planned: number, now: number): number {
  const latestPlausible = now + 2 * MAX_PERIOD_MS[schedule.frequency];
  return planned > latestPlausible ? nextSend(schedule, now) : planned;
}

/**
 * The period of a report: whole days in the zone of its schedule. Its slices are local hours for daily reports,
 * local days otherwise.
 */
export type ReportPeriod = SummarySpan;

/**
 * The period of the report with this send time: from the day of the previous send time to the day before
 * this one. No day is missing from the reports, and none is in two of them.
 */
export function periodOf(schedule: SendTiming, slot: number): ReportPeriod {
  const starts: number[] = [];
  for (const { at, noon } of sendsFrom(schedule, slot - 3 * MAX_PERIOD_MS[schedule.frequency])) {
    if (at > slot) break;
    // Not the day that clocks show at the send time: a skipped hour may have moved it to the next day.
    starts.push(timeOfHour(noon, 0, schedule.timezone));
  }
  const [previousFrom, from, to] = starts.slice(-3) as [number, number, number];
  return {
    previousFrom,
    from,
    to,
    boundaries: boundariesOf(schedule, dayStarts(schedule, from, to)),
  };
}

/** The period of a report that is sent manually now: the last complete days, as many as in the next report. */
export function periodUntil(schedule: SendTiming, now: number): ReportPeriod {
  const next = periodOf(schedule, nextSend(schedule, now));
  const days = dayStarts(schedule, next.from, next.to).length - 1;
  // One more day than needed, because days can have 25 hours.
  const starts = dayStarts(schedule, now - (2 * days + 2) * DAY_MS, now).slice(-2 * days - 1);
  const [previousFrom, from, to] = [starts[0]!, starts[days]!, starts.at(-1)!];
  return { previousFrom, from, to, boundaries: boundariesOf(schedule, starts.slice(days)) };
}

/** When each day in the zone of the schedule begins, from `from` up to and including `to`. */
function dayStarts({ timezone }: SendTiming, from: number, to: number): number[] {
  const starts: number[] = [];
  const noons = new Cron('0 0 12 * * *', { timezone });
  for (let noon = from - MAX_NOON_DISTANCE_MS; ; ) {
    noon = noons.nextRun(new Date(noon))!.getTime();
    const start = timeOfHour(noon, 0, timezone);
    if (start > to) return starts;
    if (start >= from) starts.push(start);
  }
}

/** The days, or for a daily report the times at which clocks show a full hour. */
function boundariesOf({ frequency, timezone }: SendTiming, days: number[]): number[] {
  if (frequency !== 'daily') return days;
  const [from, to] = [days[0]!, days.at(-1)!];
  const boundaries = [from];
  for (let at = from + CLOCK_STEP_MS; at < to; at += CLOCK_STEP_MS)
    if (clockAt(isoTime(at), timezone).endsWith(':00')) boundaries.push(at);
  return [...boundaries, to];
}

// Local dates.

/** The local date (`2026-11-21`) at a time in milliseconds since the Unix epoch. */
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
