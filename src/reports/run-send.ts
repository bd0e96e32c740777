/** The job that sends reports at their times: claim, gather and write, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { claimingJob } from '../scheduler/claiming-job.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { writeLetters } from './run-letters.ts';
import { type ClaimedSchedule, recordSending } from './run-record.ts';
import {
  type Covered,
  lastSend,
  periodOf,
  periodUntil,
  replanned,
  slotToSend,
} from './schedule-times.ts';

const SEND_REPORTS_JOB = 'reports.send';

/** A report is made in a moment; more at once would only wait for each other. */
const AT_ONCE = 2;
/** How long others leave a claimed schedule alone, and when it is tried again where it could not be made. */
const LEASE_MS = 5 * 60_000;
/** What cannot be made for so long is given up, so that the next one has its turn. */
const GIVE_UP_MS = 2 * 3_600_000;
const REPLAN_EVERY_MS = 60_000;

export function sendReportsJob(app: App): Job {
  let replannedAt: number | null = null;
  return claimingJob({
    name: SEND_REPORTS_JOB,
    atOnce: AT_ONCE,
    async claim(limit) {
      const now = app.clock.now();
      // Also as soon as the clock has been set back.
      if (replannedAt === null || now < replannedAt || now - replannedAt >= REPLAN_EVERY_MS) {
        replannedAt = now;
        await replanSchedules(app);
      }
      return claimDueSchedules(app, limit);
    },
    work: (schedule) => sendReport(app, schedule),
    // The lease runs out, and it is tried again.
    failed: ({ id }, error) =>
      app.log.error('a report could not be sent', { schedule: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(SEND_REPORTS_JOB),
  });
}

async function claimDueSchedules(
  app: Pick<App, 'db' | 'clock' | 'newId'>,
  limit: number,
): Promise<ClaimedSchedule[]> {
  const due = app.db
    .selectFrom('report_schedules')
    .selectAll()
    .where('next_send_at', '<=', isoTime(app.clock.now()))
    .orderBy('next_send_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(app, { table: 'report_schedules', due, leaseMs: LEASE_MS });
}

async function sendReport(app: App, schedule: ClaimedSchedule): Promise<void> {
  const now = app.clock.now();
  const slot = slotToSend(schedule, Date.parse(schedule.next_send_at!), now);
  const covered = coveredAt(schedule, slot);
  const sending = { slot, covered, letters: new Map(), error: null };
  try {
    const letters = await writeLetters(app, schedule, { covered, at: slot });
    await recordSending(app, schedule, { ...sending, letters });
  } catch (error) {
    // What was missed while the service was off has its time from the start on.
    if (now - Math.max(slot, app.startedAt) < GIVE_UP_MS) throw error;
    app.log.error('a report was given up', { schedule: schedule.id, error: errorMessage(error) });
    await recordSending(app, schedule, {
      ...sending,
      error: 'the report could not be made; the log of the service says why',
    });
  }
}

const HOUR_MS = 3_600_000;

/** A time of before a change is none of the times of now, and may be close to one of them. */
const coveredAt = (schedule: ClaimedSchedule, slot: number): Covered =>
  lastSend(schedule, slot) === slot
    ? periodOf(schedule, slot)
    : periodUntil(schedule, slot - HOUR_MS);

/** A clock that was set back must not leave a schedule waiting for a time far away. */
async function replanSchedules({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const waiting = await db
    .selectFrom('report_schedules')
    .selectAll()
    .where('next_send_at', '>', isoTime(now))
    .execute();
  for (const schedule of waiting) {
    const planned = Date.parse(schedule.next_send_at!);
    const wanted = replanned(schedule, planned, now);
    if (wanted === planned) continue;
    await db
      .updateTable('report_schedules')
      .set({ next_send_at: isoTime(wanted) })
      .where('id', '=', schedule.id)
      .where('next_send_at', '=', schedule.next_send_at)
      .execute();
  }
}
