/** The job that sends reports at their times: claim, gather and write, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import type { MailEnd } from '../outbox/expire.ts';
import { type OutgoingMail, queueMail, SEND_JOB } from '../outbox/queue.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { afterCommit, type Tx, transact } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import type { ReportCopyRow, ReportRunRow, ReportScheduleRow } from '../store/tables.generated.ts';
import { composeReportMails } from './compose-report-mails.ts';
import { recipientsOf } from './queries.ts';
import { keepReader, readersGone } from './readers.ts';
import {
  type Covered,
  lastSend,
  nextSend,
  periodOf,
  periodUntil,
  replanned,
  slotToSend,
} from './times.ts';

const SEND_REPORTS_JOB = 'reports.send';

/** A report is made in a moment; more at once would only wait for each other. */
const MAX_CONCURRENT_REPORTS = 2;
/** How long others leave a claimed schedule alone, and when it is tried again where it could not be made. */
const LEASE_MS = 5 * 60_000;
/** What cannot be made for so long is given up, so that the next one has its turn. */
const GIVE_UP_MS = 2 * 3_600_000;
const REPLAN_EVERY_MS = 60_000;

export function sendReportsJob(app: App): Job {
  let replannedAt: number | null = null;
  return claimingJob({
    name: SEND_REPORTS_JOB,
    concurrency: MAX_CONCURRENT_REPORTS,
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
    const letters = await composeReportMails(app, schedule, { covered, at: slot });
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

// Writes down one sending of a report in one transaction with the mails that carry it, so that none is made twice.

/** A schedule taken for as long as the lease holds. */
type ClaimedSchedule = ReportScheduleRow & { lease: string };

/** What is sent, and to whom it could be written. */
interface Sending {
  /** The time of the schedule that it is for; null where somebody asked for it. */
  slot: number | null;
  covered: Covered;
  letters: Map<string, OutgoingMail>;
  /** Why there is nothing to send. */
  error: string | null;
}

/** Writes nothing if the claim is no longer valid: the schedule was deleted, changed or claimed again meanwhile. */
async function recordSending(
  app: App,
  { id, lease, leased_until }: ClaimedSchedule,
  sending: Sending & { slot: number },
): Promise<void> {
  await transact(app.db, async (tx) => {
    const held = await tx
      .selectFrom('report_schedules')
      .selectAll()
      .where('id', '=', id)
      .where('lease', '=', lease)
      .executeTakeFirst();
    if (!held) return letGo(tx, id, leased_until);
    if (!(await isSent(tx, id, sending.slot))) await writeRun(tx, app, held, sending);
    const next = nextSend(held, Math.max(sending.slot, app.clock.now()));
    await tx
      .updateTable('report_schedules')
      .set({ next_send_at: isoTime(next), lease: null, leased_until: null })
      .where('id', '=', id)
      .execute();
  });
}

/** A schedule that was changed since it was taken is free for a report by what it says now. */
async function letGo(tx: Tx, id: string, leased_until: string | null): Promise<void> {
  await tx
    .updateTable('report_schedules')
    .set({ lease: null, leased_until: null })
    .where('id', '=', id)
    // Who has taken it over has it for longer.
    .where('leased_until', '=', leased_until)
    .execute();
}

/** A clock that was set back comes to the same time once more. */
async function isSent(tx: Tx, schedule_id: string, slot: number): Promise<boolean> {
  const run = await tx
    .selectFrom('report_runs')
    .select('id')
    .where('schedule_id', '=', schedule_id)
    .where('slot', '=', isoTime(slot))
    .executeTakeFirst();
  return run !== undefined;
}

/** To be called in `transact`. */
export async function writeRun(
  tx: Tx,
  app: App,
  schedule: ReportScheduleRow,
  { slot, covered, letters, error }: Sending,
): Promise<ReportRunRow> {
  const everybody = recipientsOf(schedule);
  const gone = await readersGone(tx, schedule.id, everybody);
  const nobody = everybody.every((email) => gone.has(email));
  const run: ReportRunRow = {
    id: app.newId('rpr'),
    schedule_id: schedule.id,
    trigger: slot === null ? 'manual' : 'schedule',
    slot: slot === null ? null : isoTime(slot),
    period_from: isoTime(covered.from),
    period_to: isoTime(covered.to),
    created_at: isoTime(app.clock.now()),
    error: error ?? (nobody ? 'everybody whom the schedule names has unsubscribed' : null),
  };
  await tx.insertInto('report_runs').values(run).execute();
  if (error !== null) return run;
  for (const recipient of everybody) {
    // Who has come back since the report was made gets the next one.
    const letter = gone.has(recipient) ? undefined : letters.get(recipient);
    const row = { run_id: run.id, recipient, mail_id: null, error: null, sent_at: null };
    const copy: ReportCopyRow = { ...row, status: 'unsubscribed' };
    if (letter) {
      await keepReader(tx, app, schedule.id, recipient);
      copy.mail_id = await queueMail(tx, app, letter, null, { bulk: true });
      copy.status = 'queued';
    } else if (app.mailer === null && !gone.has(recipient)) copy.status = 'not_configured';
    await tx.insertInto('report_copies').values(copy).execute();
  }
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
  return run;
}

// What became of the copies of a report, kept with them: the outbox forgets its mail after a month.

/** Of one that its reader has left meanwhile, it counts only that it had gone out already. */
export async function keepCopyEnds(tx: Tx, ends: MailEnd[]): Promise<void> {
  for (const { id, status, error, sent_at } of ends)
    await tx
      .updateTable('report_copies')
      .set({ status, error, sent_at })
      .where('mail_id', '=', id)
      .$if(status === 'failed', (update) => update.where('status', '=', 'queued'))
      .execute();
}

// Deletes runs of long ago, with what became of their copies.

const RUN_RETENTION_MS = 400 * 86_400_000;

export function expireReportRunsJob(app: App): Job {
  return { name: 'reports.expire', tick: '0 17 * * * *', run: () => expireReportRuns(app) };
}

export async function expireReportRuns({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const before = isoTime(clock.now() - RUN_RETENTION_MS);
  const old = db.selectFrom('report_runs').select('id').where('created_at', '<', before);
  await deleteInBatches(db, 'report_runs', old);
}
