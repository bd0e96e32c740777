/** When monitors run: at slots of a fixed grid in UTC, so that nothing drifts, each monitor at a moment of its own. */

import { sha256 } from '../lib/crypto.ts';
import type { MonitorRow } from '../store/tables.generated.ts';

export const FREQUENCIES = ['hourly', 'every_6_hours', 'daily', 'weekly'] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PERIOD_MS: Record<MonitorRow['frequency'], number> = {
  hourly: HOUR_MS,
  every_6_hours: 6 * HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
};
/** 1970 began on a Thursday; weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** How far a clock may be set back before slots are planned anew: until then none is met twice. */
const STEP_BACK_MS = DAY_MS;
/** A slot that was missed by less is made up for at once: a restart is no outage. */
const SHORT_MS = 15 * 60_000;

/** What tells when a monitor runs. */
type Planned = Pick<MonitorRow, 'id' | 'frequency'>;

/** The first slot after a time; both in milliseconds since 1970. */
export function nextSlot({ id, frequency }: Planned, after: number): number {
  const period = PERIOD_MS[frequency];
  const first = (frequency === 'weekly' ? FIRST_MONDAY_MS : 0) + momentOf(id);
  return first + (Math.floor((after - first) / period) + 1) * period;
}

/** Where in the hour a monitor has its slots, in whole seconds: ten thousand of them do not come at once. */
const momentOf = (id: string): number =>
  (Number.parseInt(sha256(id).slice(0, 8), 16) % 3600) * 1000;

/**
 * The slot after a run that was planned for `planned` and ends now, whatever happened to the clock
 * meanwhile. What a run found nothing out about is looked at again within the hour: an outage of the
 * DNS must not blind a weekly monitor for a week.
 */
export function slotAfterRun(
  monitor: Planned,
  { planned, now, isKnown }: { planned: number; now: number; isKnown: boolean },
): number {
  const after = Math.max(planned, now);
  const slot = nextSlot(isKnown ? monitor : { ...monitor, frequency: 'hourly' }, after);
  return replanned(monitor, slot, now);
}

/** Where a slot seems so far away that the clock must have been set back: the next one by the clock of now. */
export function replanned(monitor: Planned, planned: number, now: number): number {
  return planned > now + furthestAhead(monitor.frequency) ? nextSlot(monitor, now) : planned;
}

/** How far away, in milliseconds, a slot is at most unless the clock has been set back by much. */
export function furthestAhead(frequency: MonitorRow['frequency']): number {
  return PERIOD_MS[frequency] + STEP_BACK_MS;
}

/**
 * After an outage: what was missed is made up for once, at the monitor's own moment of the hour, so
 * that not all of them come with the start.
 */
export function catchUpSlot(monitor: Planned, planned: number, now: number): number {
  if (planned > now - SHORT_MS) return replanned(monitor, planned, now);
  return nextSlot({ ...monitor, frequency: 'hourly' }, now);
}

// The name of the job of monitors, by which it is woken, and what it claims.

export const RUN_MONITORS_JOB = 'monitors.run';

/** Those that are run; where mail arrives cannot be looked at without seed mailboxes. */
export type RunType = Exclude<MonitorRow['type'], 'placement'>;

export interface ClaimedMonitor extends MonitorRow {
  next_run_at: string;
  lease: string;
  /** Milliseconds since 1970. */
  startedAt: number;
}
