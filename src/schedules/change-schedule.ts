/** Changes of schedules: made, changed, deleted, each noted in the audit log. All to be called in `transact`. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { refuseEach } from '../lib/errors.ts';
import { refuseOwnAddresses, withdrawMail } from '../outbox/queue.ts';
import type { Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { presentDomains, recipientsOf } from './queries.ts';
import type { NewSchedule, SchedulePatch } from './schema.ts';
import { nextSend, slotToSend } from './times.ts';

type Changer = Author & { app: App };

const MOST_SCHEDULES = 100;

/** Throws `conflict` where there are too many, and `validation_failed` for an unknown domain. */
export async function createSchedule(
  tx: Tx,
  author: Changer,
  { recipients, domains = null, include_sections, enabled, ...asked }: NewSchedule,
): Promise<ReportScheduleRow> {
  await requireBelowLimit(tx.selectFrom('report_schedules'), {
    max: MOST_SCHEDULES,
    things: 'report schedules',
  });
  refuseOwnAddresses(author.app.config, recipients);
  await requireDomains(tx, domains);
  const { newId, clock } = author.app;
  const now = clock.now();
  const row: ReportScheduleRow = {
    id: newId('rps'),
    ...asked,
    recipients: JSON.stringify(recipients),
    domains: domains && JSON.stringify(domains),
    include_sections: JSON.stringify(include_sections),
    enabled: enabled ? 1 : 0,
    next_send_at: enabled ? isoTime(nextSend(asked, now)) : null,
    created_at: isoTime(now),
    lease: null,
    leased_until: null,
  };
  await tx.insertInto('report_schedules').values(row).execute();
  const details = { ...asked, recipients, domains, include_sections, enabled };
  await noteSchedule(tx, author, 'created', row.id, details);
  return row;
}

async function requireDomains(tx: Tx, ids: string[] | null): Promise<void> {
  if (ids === null) return;
  const present = await presentDomains(tx, ids);
  refuseEach('domains', ids, (id) => !present.has(id), 'is the id of no domain');
}

/** Changes what is given and is not so already; gives the row as it is then. */
export async function changeSchedule(
  tx: Tx,
  author: Changer,
  present: ReportScheduleRow,
  patch: SchedulePatch,
): Promise<ReportScheduleRow> {
  const change = changeOf(present, patch);
  if (Object.keys(change).length === 0) return present;
  const { clock, newId } = author.app;
  if (change.domains !== undefined) await requireDomains(tx, patch.domains ?? null);
  // A report that is being made of what was before has no say any more: whoever makes it has lost the
  // lease, and lets it go for one that is made of what is now.
  const row = { ...present, ...change, lease: present.lease && newId('req') };
  if (change.recipients !== undefined) refuseOwnAddresses(author.app.config, recipientsOf(row));
  if (TIMING.some((column) => change[column] !== undefined))
    row.next_send_at = nextTime(row, present, clock.now());
  const { id, ...columns } = row;
  await tx.updateTable('report_schedules').set(columns).where('id', '=', id).execute();
  await takeBack(tx, present, row);
  await noteSchedule(tx, author, 'changed', id, detailsOf(present, change));
  return row;
}

/** What is due by the plan of before is sent first, once; the times of now come after it. */
function nextTime(row: ReportScheduleRow, before: ReportScheduleRow, now: number): string | null {
  if (row.enabled === 0) return null;
  const planned = before.next_send_at && Date.parse(before.next_send_at);
  if (planned && planned <= now) return isoTime(slotToSend(before, planned, now));
  return isoTime(nextSend(row, now));
}

/** Copies that wait for those who get no more. Their link goes on working: who is named again may have left by it. */
async function takeBack(tx: Tx, before: ReportScheduleRow, row: ReportScheduleRow): Promise<void> {
  if (before.enabled === 1 && row.enabled === 0) {
    const reason = 'the schedule of the report was switched off';
    await withdrawCopies(tx, row.id, { status: 'failed', reason });
  }
  const left = new Set(recipientsOf(row));
  const recipients = recipientsOf(before).filter((email) => !left.has(email));
  if (recipients.length === 0) return;
  const reason = 'its reader was taken off the schedule of the report';
  await withdrawCopies(tx, row.id, { recipients, status: 'failed', reason });
}

const TIMING = [
  'frequency',
  'send_hour',
  'timezone',
  'weekday',
  'day_of_month',
  'enabled',
] as const;

type Change = Partial<
  Omit<ReportScheduleRow, 'id' | 'next_send_at' | 'created_at' | 'lease' | 'leased_until'>
>;

/** Columns whose JSON or number stands for something else. */
const LISTS: (keyof Change)[] = ['recipients', 'domains', 'include_sections'];

function changeOf(present: ReportScheduleRow, patch: SchedulePatch): Change {
  const wanted = Object.entries(patch).map(([column, value]) => [
    column,
    value === null || typeof value === 'string' || typeof value === 'number'
      ? value
      : typeof value === 'boolean'
        ? Number(value)
        : JSON.stringify(value),
  ]);
  return Object.fromEntries(
    wanted.filter(([column, value]) => present[column as keyof Change] !== value),
  );
}

function detailsOf(present: ReportScheduleRow, change: Change): Record<string, object> {
  const shown = (column: keyof Change, value: unknown) =>
    column === 'enabled'
      ? value === 1
      : LISTS.includes(column) && value !== null
        ? JSON.parse(String(value))
        : value;
  return Object.fromEntries(
    (Object.keys(change) as (keyof Change)[]).map((column) => [
      column,
      { from: shown(column, present[column]), to: shown(column, change[column]) },
    ]),
  );
}

/** With its runs. Copies that still wait are not sent: the link to leave would lead nowhere. */
export async function deleteSchedule(
  tx: Tx,
  author: Changer,
  { id, name }: ReportScheduleRow,
): Promise<void> {
  const reason = 'the schedule of the report was deleted';
  await withdrawCopies(tx, id, { status: 'failed', reason });
  await tx.deleteFrom('report_schedules').where('id', '=', id).execute();
  await noteSchedule(tx, author, 'deleted', id, { name });
}

export async function noteSchedule(
  tx: Tx,
  author: Author,
  what: string,
  id: string,
  details: object,
): Promise<void> {
  const object = { type: 'report_schedule', id };
  await audit(tx, author, { action: `report_schedule.${what}`, object, details: { ...details } });
}

// Takes back copies of reports that still wait, and notes with each why.

interface Withdrawal {
  /** Whose copies; everybody's where it is not given. */
  recipients?: string[];
  status: 'failed' | 'unsubscribed';
  /** Said in the outbox, and with a copy that has `failed`. */
  reason: string;
}

/** Of all runs of the schedule. What is being sent at this moment may go out, and is `sent` then. */
export async function withdrawCopies(
  tx: Tx,
  scheduleId: string,
  { recipients, status, reason }: Withdrawal,
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
  const waiting = (await query.execute()).map(({ id }) => id);
  if (waiting.length === 0) return;
  const error = `it was taken back: ${reason}`;
  await withdrawMail(tx, waiting, error);
  await tx
    .updateTable('report_copies')
    .set({ status, error: status === 'failed' ? error : null })
    .where('mail_id', 'in', waiting)
    .execute();
}
