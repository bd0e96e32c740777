/** Writes down one sending of a report in one transaction with the mails that carry it, so that none is made twice. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { type OutgoingMail, queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit, transact } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { ReportCopyRow, ReportRunRow, ReportScheduleRow } from '../store/report-tables.ts';
import { recipientsOf } from './schedule-present.ts';
import { keepReader, readersGone } from './schedule-readers.ts';
import { type Covered, nextSend } from './schedule-times.ts';

/** A schedule taken for as long as the lease holds. */
export type ClaimedSchedule = ReportScheduleRow & { lease: string };

/** What is sent, and to whom it could be written. */
export interface Sending {
  /** The time of the schedule that it is for; null where somebody asked for it. */
  slot: number | null;
  covered: Covered;
  letters: Map<string, OutgoingMail>;
  /** Why there is nothing to send. */
  error: string | null;
}

/** Nothing is written where the claim holds no more: deleted, changed or taken over meanwhile. */
export async function recordSending(
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
