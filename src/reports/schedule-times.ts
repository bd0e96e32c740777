/** When the reports of a schedule are sent, by the clock of its time zone, and which hours each of them covers. */

import { Cron } from 'croner';
import type { ReportScheduleRow } from '../store/report-tables.ts';
import type { Span } from './summary.ts';

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
  const { timezone } = schedule;
  const from = new Date(after);
  const times = patternsOf(schedule).map((pattern) =>
    new Cron(pattern, { timezone }).nextRun(from)!.getTime(),
  );
  return Math.min(...times);
}

/** A day that a month does not have is its last one. */
function patternsOf({ frequency, send_hour, weekday, day_of_month }: Timed): string[] {
  const at = `0 0 ${send_hour}`;
  if (frequency === 'daily') return [`${at} * * *`];
  if (frequency === 'weekly') return [`${at} * * ${weekday.slice(0, 3).toUpperCase()}`];
  if (day_of_month === 31) return [`${at} L * *`];
  if (day_of_month <= 28) return [`${at} ${day_of_month} * *`];
  return [`${at} ${day_of_month} 1,3-12 *`, `${at} L 2 *`];
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

/** Hours of a day, days of a week or a month. */
export interface Covered extends Span {
  /** Where the period before begins, which ends where this one begins. */
  before: number;
}

/** What the report of a time covers: all since the time before. */
export function periodOf(schedule: Timed, slot: number): Covered {
  const former = lastSend(schedule, slot - 1);
  const from = wholeHour(former);
  const to = wholeHour(slot);
  const before = wholeHour(lastSend(schedule, former - 1));
  return { from, to, before, slices: slicesOf(schedule, to - from) };
}

/** What a report covers that is sent now, beside the plan: as much as the next one will, until this hour is over. */
export function periodUntil(schedule: Timed, now: number): Covered {
  const next = periodOf(schedule, nextSend(schedule, now));
  const days = Math.round((next.to - next.from) / DAY_MS);
  const length = days * DAY_MS;
  const to = wholeHour(now) + HOUR_MS;
  const from = to - length;
  return { from, to, before: from - length, slices: slicesOf(schedule, length) };
}

const wholeHour = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;

/** A day has 23 or 25 hours where the clocks are changed. */
function slicesOf({ frequency }: Timed, length: number): number {
  if (frequency === 'weekly') return 7;
  return Math.round(length / (frequency === 'daily' ? HOUR_MS : DAY_MS));
}
