/** Schedules monitors in fixed UTC slots, each at its own offset within the hour. Fixed slots don't drift. */

import { sha256 } from '../lib/crypto.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import type { MonitorRow } from '../store/tables.generated.ts';

export const FREQUENCIES = ['hourly', 'every_6_hours', 'daily', 'weekly'] as const;

const PERIOD_MS: Record<MonitorRow['frequency'], number> = {
  hourly: HOUR_MS,
  every_6_hours: 6 * HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
};
/** 1 January 1970 was a Thursday; weeks start on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** If the clock is set back by more than this, slots are recalculated. Otherwise, no slot runs twice. */
const MAX_CLOCK_STEP_BACK_MS = DAY_MS;
/** A run that is overdue by less than this starts at once, for example after a restart. */
const MAX_IMMEDIATE_DELAY_MS = 15 * 60_000;

/** The columns that determine the slots of a monitor. */
type Schedule = Pick<MonitorRow, 'id' | 'frequency'>;

/** The first slot after a time; both in ms since the epoch. */
export function nextSlot({ id, frequency }: Schedule, after: number): number {
  const period = PERIOD_MS[frequency];
  const first = (frequency === 'weekly' ? FIRST_MONDAY_MS : 0) + offsetOf(id);
  return first + (Math.floor((after - first) / period) + 1) * period;
}

/** A monitor's offset within the hour: milliseconds in whole seconds. Spreads the load of many monitors. */
const offsetOf = (id: string): number =>
  (Number.parseInt(sha256(id).slice(0, 8), 16) % 3600) * 1000;

/**
 * The slot after a run that was planned for `planned` and ends now, even if the clock changed meanwhile.
 * A run without a result is repeated within an hour, so that a DNS outage doesn't disable a weekly
 * monitor for a week.
 */
export function slotAfterRun(
  monitor: Schedule,
  { planned, now, isKnown }: { planned: number; now: number; isKnown: boolean },
): number {
  const after = Math.max(planned, now);
  const slot = nextSlot(isKnown ? monitor : { ...monitor, frequency: 'hourly' }, after);
  return correctedSlot(monitor, slot, now);
}

/** The planned slot, or the next one if the planned slot is so far away that the clock was set back. */
export function correctedSlot(monitor: Schedule, planned: number, now: number): number {
  return planned > now + maxSlotDelay(monitor.frequency) ? nextSlot(monitor, now) : planned;
}

/** The longest plausible time until the next slot, in milliseconds. */
export function maxSlotDelay(frequency: MonitorRow['frequency']): number {
  return PERIOD_MS[frequency] + MAX_CLOCK_STEP_BACK_MS;
}

/**
 * The slot after an outage: one catch-up run at the monitor's own offset within the next hour, so that
 * not all monitors run at startup.
 */
export function catchUpSlot(monitor: Schedule, planned: number, now: number): number {
  if (planned > now - MAX_IMMEDIATE_DELAY_MS) return correctedSlot(monitor, planned, now);
  return nextSlot({ ...monitor, frequency: 'hourly' }, now);
}

// The job's name, used to wake it, and the rows that it claims.

export const RUN_MONITORS_JOB = 'monitors.run';

export interface ClaimedMonitor extends MonitorRow {
  next_run_at: string;
  lease: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
}
