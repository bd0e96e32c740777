/** Creates, changes and deletes schedules, with entries in the audit log. Call these functions in `transact`. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { rejectInvalidItems } from '../lib/errors.ts';
import { cancelMail, rejectTestAddresses } from '../outbox/queue.ts';
import { audited, rowsOf } from '../store/audited.ts';
import type { Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { existingDomainIds, recipientsOf, SCHEDULE_ROW } from './queries.ts';
import type { NewSchedule, SchedulePatch } from './schema.ts';
import { nextSend, slotToSend } from './times.ts';

type ScheduleAuthor = Author & { app: App };

const MAX_SCHEDULES = 100;

export const AUDITED_SCHEDULE = audited({
  type: 'report_schedule',
  name: 'Report schedule',
  actions: [
    'report_schedule.created',
    'report_schedule.changed',
    'report_schedule.sent',
    'report_schedule.unsubscribed',
    'report_schedule.resubscribed',
    'report_schedule.deleted',
  ],
  page: (id) => `/reports/schedules/${id}`,
  withPage: rowsOf('report_schedules'),
});

/** Throws `conflict` if there are too many schedules, and `validation_failed` for an unknown domain. */
export async function createSchedule(
  tx: Tx,
  author: ScheduleAuthor,
  { recipients, domains = null, include_sections, enabled, ...settings }: NewSchedule,
): Promise<ReportScheduleRow> {
  await requireBelowLimit(tx, tx.selectFrom('report_schedules'), {
    max: MAX_SCHEDULES,
    noun: 'report schedules',
  });
  rejectTestAddresses(author.app.config, recipients);
  await requireDomains(tx, domains);
  const { newId, clock } = author.app;
  const now = clock.now();
  const row: ReportScheduleRow = {
    id: newId('rps'),
    ...settings,
    ...SCHEDULE_ROW.encode({ recipients, domains, include_sections, enabled }),
    next_send_at: enabled ? isoTime(nextSend(settings, now)) : null,
    created_at: isoTime(now),
    lease: null,
    leased_until: null,
  };
  await tx.insertInto('report_schedules').values(row).execute();
  const details = { ...settings, recipients, domains, include_sections, enabled };
  await audit(tx, author, AUDITED_SCHEDULE, 'report_schedule.created', row.id, details);
  return row;
}

async function requireDomains(tx: Tx, ids: string[] | null): Promise<void> {
  if (ids === null) return;
  const existing = await existingDomainIds(tx, ids);
  rejectInvalidItems('domains', ids, (id) => !existing.has(id), 'is not the ID of a domain');
}

/** Applies the values that differ and returns the new row. */
export async function changeSchedule(
  tx: Tx,
  author: ScheduleAuthor,
  current: ReportScheduleRow,
  patch: SchedulePatch,
): Promise<ReportScheduleRow> {
  const { columns: change, details } = SCHEDULE_ROW.changes(current, patch);
  if (Object.keys(change).length === 0) return current;
  const { clock, newId } = author.app;
  if (change.domains !== undefined) await requireDomains(tx, patch.domains ?? null);
  // Invalidates the lease of a report that is being composed from the previous settings. Its job then
  // releases the schedule, and the report is composed again.
  const row = { ...current, ...change, lease: current.lease && newId('req') };
  if (change.recipients !== undefined) rejectTestAddresses(author.app.config, recipientsOf(row));
  if (TIMING_COLUMNS.some((column) => change[column] !== undefined))
    row.next_send_at = nextTime(row, current, clock.now());
  const { id, ...columns } = row;
  await tx.updateTable('report_schedules').set(columns).where('id', '=', id).execute();
  await cancelObsoleteCopies(tx, current, row);
  await audit(tx, author, AUDITED_SCHEDULE, 'report_schedule.changed', id, details);
  return row;
}

/** A report that is already due keeps its time and is sent first. The new times apply after it. */
function nextTime(row: ReportScheduleRow, previous: ReportScheduleRow, now: number): string | null {
  if (row.enabled === 0) return null;
  const dueAt = previous.next_send_at && Date.parse(previous.next_send_at);
  if (dueAt && dueAt <= now) return isoTime(slotToSend(previous, dueAt, now));
  return isoTime(nextSend(row, now));
}

/**
 * Cancels queued copies for removed recipients, or all copies if the schedule was disabled. Unsubscribe
 * links keep working, because a recipient may be added again.
 */
async function cancelObsoleteCopies(
  tx: Tx,
  previous: ReportScheduleRow,
  row: ReportScheduleRow,
): Promise<void> {
  if (previous.enabled === 1 && row.enabled === 0) {
    const reason = 'the report schedule was disabled';
    await cancelCopies(tx, row.id, { status: 'failed', reason });
  }
  const remaining = new Set(recipientsOf(row));
  const recipients = recipientsOf(previous).filter((email) => !remaining.has(email));
  if (recipients.length === 0) return;
  const reason = 'the recipient was removed from the report schedule';
  await cancelCopies(tx, row.id, { recipients, status: 'failed', reason });
}

const TIMING_COLUMNS = [
  'frequency',
  'send_hour',
  'timezone',
  'weekday',
  'day_of_month',
  'enabled',
] as const;

/** Deletes a schedule with its runs. Queued copies are canceled, because their unsubscribe links stop working. */
export async function deleteSchedule(
  tx: Tx,
  author: ScheduleAuthor,
  { id, name }: ReportScheduleRow,
): Promise<void> {
  const reason = 'the report schedule was deleted';
  await cancelCopies(tx, id, { status: 'failed', reason });
  await tx.deleteFrom('report_schedules').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_SCHEDULE, 'report_schedule.deleted', id, { name });
}

// Cancels queued copies and records the reason.

interface Cancellation {
  /** Default: all. */
  recipients?: string[];
  status: 'failed' | 'unsubscribed';
  /** Recorded in the outbox, and in a copy with status `failed`. */
  reason: string;
}

/** Cancels the queued copies of all runs. A copy that is already being sent may still become `sent`. */
export async function cancelCopies(
  tx: Tx,
  scheduleId: string,
  { recipients, status, reason }: Cancellation,
): Promise<void> {
  let query = tx
    .selectFrom('report_copies as copy')
    .innerJoin('report_runs as run', 'run.id', 'copy.run_id')
    .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
    .select('outbox.id')
    .where('run.schedule_id', '=', scheduleId)
    .where('copy.status', '=', 'queued')
    .where('outbox.status', '=', 'queued');
  if (recipients) query = query.where('copy.recipient', 'in', recipients);
  const mailIds = (await query.execute()).map(({ id }) => id);
  if (mailIds.length === 0) return;
  const error = `it was canceled: ${reason}`;
  await cancelMail(tx, mailIds, error);
  await tx
    .updateTable('report_copies')
    .set({ status, error: status === 'failed' ? error : null })
    .where('mail_id', 'in', mailIds)
    .execute();
}
