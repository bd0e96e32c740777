/** The job that sends due reports: claim, compose, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { errorMessage } from '../lib/errors.ts';
import type { SettledMail } from '../outbox/expire.ts';
import { type OutgoingMail, queueMail, SEND_JOB } from '../outbox/queue.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows } from '../store/leases.ts';
import { afterCommit, type Db, lockIn, type Tx, transact } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import type { ReportCopyRow, ReportRunRow, ReportScheduleRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { hiddenFrom } from '../team/hidden-from.ts';
import { composeReportMails } from './compose-report-mails.ts';
import { type Audience, audiencesOf, domainsOf } from './queries.ts';
import { findUnsubscribed, saveRecipient } from './recipients.ts';
import {
  correctedSlot,
  lastSend,
  nextSend,
  periodOf,
  periodUntil,
  type ReportPeriod,
  slotToSend,
} from './times.ts';

const SEND_REPORTS_JOB = 'reports.send';

/** Composing a report is fast. More concurrent reports would only slow each other down. */
const MAX_CONCURRENT_REPORTS = 2;
/** Also the delay before a failed report is retried. */
const LEASE_MS = 5 * 60_000;
/** After this time a report fails for good, so that the next one can be sent. */
const MAX_REPORT_DELAY_MS = 2 * HOUR_MS;
const REPLAN_INTERVAL_MS = 60_000;

export function sendReportsJob(app: App): Job {
  let replannedAt: number | null = null;
  return claimingJob({
    name: SEND_REPORTS_JOB,
    concurrency: MAX_CONCURRENT_REPORTS,
    async claim(limit) {
      const now = app.clock.now();
      // Replans immediately if the clock was set back.
      if (replannedAt === null || now < replannedAt || now - replannedAt >= REPLAN_INTERVAL_MS) {
        replannedAt = now;
        await replanSchedules(app);
      }
      return claimDueSchedules(app, limit);
    },
    work: (schedule) => untilAvailable(() => sendReport(app, schedule)),
    // The report is retried when its lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not send a scheduled report', {
        schedule: id,
        error: errorMessage(error),
      }),
    wake: () => app.scheduler.wakeHere(SEND_REPORTS_JOB),
  });
}

async function claimDueSchedules(
  app: Pick<App, 'db' | 'clock' | 'newId' | 'node'>,
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
  const period = periodAt(schedule, slot);
  // For a report missed while the service was down, the delay counts from startup.
  const isLate = now - Math.max(slot, app.startedAt) >= MAX_REPORT_DELAY_MS;
  const audiences = audiencesOf(schedule);
  let failure: unknown = null;
  for (const audience of audiences) {
    if (await isSent(app.db, schedule.id, slot, audience.tag)) continue;
    const run = await composeRun(app, schedule, audience, { slot, period, at: slot }).catch(
      (error: unknown) => {
        // What is wrong with one report does not stop those for other tags.
        if (!isLate) {
          failure ??= error;
          return null;
        }
        app.log.error('gave up on a scheduled report', {
          schedule: schedule.id,
          error: errorMessage(error),
        });
        return { slot, ...failedRun(audience, period) };
      },
    );
    // Each is recorded at once, and the last one together with the next time: an interruption repeats none.
    const isLast = failure === null && audience === audiences.at(-1);
    if (run && !(await recordRun(app, schedule, run, isLast))) return;
    if (isLast) return;
  }
  if (failure !== null) throw failure;
  await recordRun(app, schedule, { slot }, true);
}

export const failedRun = (audience: Audience, period: ReportPeriod) => ({
  period,
  audience,
  mails: new Map<string, OutgoingMail>(),
  error: 'the report could not be generated; see the server log',
});

/** Without emails if no domain has the tag any longer. Rejects as `composeReportMails`. */
export async function composeRun<Slot extends number | null>(
  app: App,
  schedule: ReportScheduleRow,
  audience: Audience,
  { slot, period, at }: { slot: Slot; period: ReportPeriod; at: number },
): Promise<NewRun & { slot: Slot }> {
  const { tag } = audience;
  if (tag !== '' && (await domainsOf(app.db, schedule, tag))?.length === 0)
    return { slot, ...failedRun(audience, period), error: `no domain has the tag ${tag}` };
  const mails = await composeReportMails(app, schedule, audience, { period, at });
  return { slot, period, audience, mails, error: null };
}

/** A slot from before a schedule change does not match the new send times, and may be close to one of them. */
const periodAt = (schedule: ClaimedSchedule, slot: number): ReportPeriod =>
  lastSend(schedule, slot) === slot ? periodOf(schedule, slot) : periodUntil(schedule, slot);

/** Prevents schedules from waiting for a time in the distant future after the clock was set back. */
async function replanSchedules({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  const pending = await db
    .selectFrom('report_schedules')
    .selectAll()
    .where('next_send_at', '>', isoTime(now))
    .execute();
  for (const schedule of pending) {
    const plannedSlot = Date.parse(schedule.next_send_at!);
    const newSlot = correctedSlot(schedule, plannedSlot, now);
    if (newSlot === plannedSlot) continue;
    await db
      .updateTable('report_schedules')
      .set({ next_send_at: isoTime(newSlot) })
      .where('id', '=', schedule.id)
      .where('next_send_at', '=', schedule.next_send_at)
      .execute();
  }
}

// Recording a run in one transaction with its emails, so that no report is sent twice.

/** A schedule claimed until its lease expires. */
type ClaimedSchedule = ReportScheduleRow & { lease: string };

interface NewRun {
  /** The scheduled time; null for a report that was sent manually. */
  slot: number | null;
  period: ReportPeriod;
  audience: Audience;
  /** By recipient. */
  mails: Map<string, OutgoingMail>;
  /** Why nothing is sent; null otherwise. */
  error: string | null;
}

/**
 * Writes nothing and resolves with false if the schedule was deleted, changed, or claimed again since it was claimed. Without
 * `audience`, there is nothing left to send.
 */
async function recordRun(
  app: App,
  { id, lease, leased_until }: ClaimedSchedule,
  run: (NewRun & { slot: number }) | { slot: number; audience?: undefined },
  isLast: boolean,
): Promise<boolean> {
  return transact(app.db, async (tx) => {
    const claimed = tx
      .selectFrom('report_schedules')
      .selectAll()
      .where('id', '=', id)
      .where('lease', '=', lease);
    const schedule = await lockIn(tx, claimed).executeTakeFirst();
    if (!schedule) {
      await releaseLease(tx, id, leased_until);
      return false;
    }
    if (run.audience && !(await isSent(tx, id, run.slot, run.audience.tag)))
      await recordReportRun(tx, app, schedule, run);
    if (!isLast) return true;
    const next = nextSend(schedule, Math.max(run.slot, app.clock.now()));
    await tx
      .updateTable('report_schedules')
      .set({ next_send_at: isoTime(next), lease: null, leased_until: null })
      .where('id', '=', id)
      .execute();
    return true;
  });
}

/** Lets a schedule that changed after it was claimed be claimed again with its new settings. */
async function releaseLease(tx: Tx, id: string, leased_until: string | null): Promise<void> {
  await tx
    .updateTable('report_schedules')
    .set({ lease: null, leased_until: null })
    .where('id', '=', id)
    // Does not match if another job has claimed it since.
    .where('leased_until', '=', leased_until)
    .execute();
}

/** Prevents a second report for a slot that is due again because the clock was set back. */
async function isSent(
  db: Db | Tx,
  schedule_id: string,
  slot: number,
  tag: string,
): Promise<boolean> {
  const run = await db
    .selectFrom('report_runs')
    .select('id')
    .where('schedule_id', '=', schedule_id)
    .where('slot', '=', isoTime(slot))
    .where('tag', '=', tag)
    .executeTakeFirst();
  return run !== undefined;
}

const BEYOND_LIMIT = 'the recipient is limited to tags, and the report shows more';

/** Whether a limited member sees all domains of a report; null stands for those of the whole team. */
async function seesReport(db: Db, domains: string[] | null): Promise<boolean> {
  if (domains === null) return false;
  const seen = await db.selectFrom('domains').select('id').where('id', 'in', domains).execute();
  return seen.length === new Set(domains).size;
}

/** Records a run and queues its emails. Call it in `transact`. */
export async function recordReportRun(
  tx: Tx,
  app: App,
  schedule: ReportScheduleRow,
  { slot, period, audience: { tag, recipients }, mails, error }: NewRun,
): Promise<ReportRunRow> {
  const unsubscribed = await findUnsubscribed(tx, schedule.id, recipients);
  const domains = await domainsOf(tx, schedule, tag);
  const hidden = await hiddenFrom(tx, recipients, (db) => seesReport(db, domains));
  const hasNoRecipients = recipients.every((email) => unsubscribed.has(email));
  const run: ReportRunRow = {
    id: app.newId('rpr'),
    schedule_id: schedule.id,
    trigger: slot === null ? 'manual' : 'schedule',
    slot: slot === null ? null : isoTime(slot),
    tag,
    period_from: isoTime(period.from),
    period_to: isoTime(period.to),
    created_at: isoTime(app.clock.now()),
    error: error ?? (hasNoRecipients ? 'all recipients have unsubscribed' : null),
  };
  await tx.insertInto('report_runs').values(run).execute();
  if (error !== null) return run;
  for (const recipient of recipients) {
    // A recipient who resubscribed while the report was composed gets the next one.
    const isBarred = hidden.has(recipient);
    const mail = unsubscribed.has(recipient) || isBarred ? undefined : mails.get(recipient);
    const row = { run_id: run.id, recipient, mail_id: null, error: null, sent_at: null };
    const copy: ReportCopyRow = { ...row, status: 'unsubscribed' };
    if (mail) {
      await saveRecipient(tx, app, schedule.id, recipient);
      copy.mail_id = await queueMail(tx, app, mail, null, { bulk: true });
      copy.status = 'queued';
    } else if (isBarred) Object.assign(copy, { status: 'failed', error: BEYOND_LIMIT });
    else if (app.mailer === null && !unsubscribed.has(recipient)) copy.status = 'not_configured';
    await tx.insertInto('report_copies').values(copy).execute();
  }
  afterCommit(tx, () => app.scheduler.wake(SEND_JOB));
  return run;
}

// Copies store the final status of their emails, because the outbox deletes its rows after a month.

/** A failure counts for queued copies only, so a canceled copy keeps its status unless it was sent after all. */
export async function recordCopyOutcomes(tx: Tx, settled: SettledMail[]): Promise<void> {
  for (const { id, status, error, sent_at } of settled)
    await tx
      .updateTable('report_copies')
      .set({ status, error, sent_at })
      .where('mail_id', '=', id)
      .$if(status === 'failed', (update) => update.where('status', '=', 'queued'))
      .execute();
}

// Deletes old runs with their copies.

const RUN_RETENTION_MS = 400 * DAY_MS;

export function expireReportRunsJob(app: App): Job {
  return { name: 'reports.expire', tick: '0 17 * * * *', run: () => expireReportRuns(app) };
}

export async function expireReportRuns({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const cutoff = isoTime(clock.now() - RUN_RETENTION_MS);
  const old = db.selectFrom('report_runs').select('id').where('created_at', '<', cutoff);
  await deleteInSteps(db, 'report_runs', old);
}
