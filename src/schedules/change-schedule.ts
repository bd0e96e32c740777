/** Creates, changes and deletes schedules, with entries in the audit log. Call these functions in `transact`. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { invalidParams, rejectInvalidItems } from '../lib/errors.ts';
import { cancelMail, rejectTestAddresses } from '../outbox/queue.ts';
import { audited, rowsOf } from '../store/audited.ts';
import type { Tx } from '../store/open.ts';
import { requireBelowLimit } from '../store/queries.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { audiencesOf, existingDomainIds, SCHEDULE_ROW } from './queries.ts';
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
  input: NewSchedule,
): Promise<ReportScheduleRow> {
  await requireBelowLimit(tx, tx.selectFrom('report_schedules'), {
    max: MAX_SCHEDULES,
    noun: 'report schedules',
  });
  const { recipients = [], domains = null, tags = null, recipients_by_tag = null } = input;
  const scope = { recipients, domains, tags, recipients_by_tag };
  requireScope(author.app, scope);
  await requireDomains(tx, domains);
  const { newId, clock } = author.app;
  const now = clock.now();
  const row: ReportScheduleRow = {
    id: newId('rps'),
    ...SCHEDULE_ROW.encode({ ...input, ...storedScope(scope) }),
    next_send_at: input.enabled ? isoTime(nextSend(input, now)) : null,
    created_at: isoTime(now),
    lease: null,
    leased_until: null,
  };
  await tx.insertInto('report_schedules').values(row).execute();
  const details = { ...input, ...scope };
  await audit(tx, author, AUDITED_SCHEDULE, 'report_schedule.created', row.id, details);
  return row;
}

interface Scope {
  recipients: string[];
  domains: string[] | null;
  tags: string[] | null;
  recipients_by_tag: Record<string, string[]> | null;
}

/** An older version of the program, which knows no tags, finds no domains, or nobody to send to. */
const storedScope = ({ domains, ...scope }: Scope): Scope => ({
  ...scope,
  domains: scope.tags === null && scope.recipients_by_tag === null ? domains : [],
});

/** Throws `validation_failed` unless there are recipients, and at most one choice of domains. */
function requireScope({ config }: App, scope: Scope): void {
  const { recipients, domains, tags, recipients_by_tag: byTag } = scope;
  const conflict = (param: string, message: string) =>
    invalidParams([{ param, code: 'invalid', message }]);
  if (byTag === null && recipients.length === 0)
    throw invalidParams([{ param: 'recipients', code: 'required', message: 'is required' }]);
  if (byTag !== null && recipients.length > 0)
    throw conflict('recipients', 'must be absent with recipients_by_tag');
  if (domains !== null && (tags ?? byTag) !== null)
    throw conflict('domains', `must be null with ${tags ? 'tags' : 'recipients_by_tag'}`);
  if (tags !== null && byTag !== null)
    throw conflict('tags', 'must be null with recipients_by_tag');
  rejectTestAddresses(config, [...recipients, ...Object.values(byTag ?? {}).flat()]);
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
  const scope = nextScope(current, patch);
  const { columns: change, details } = SCHEDULE_ROW.changes(current, {
    ...patch,
    ...storedScope(scope),
  });
  if (Object.keys(change).length === 0) return current;
  const { clock, newId } = author.app;
  if (SCOPE_COLUMNS.some((column) => change[column] !== undefined)) requireScope(author.app, scope);
  if (change.domains !== undefined) await requireDomains(tx, patch.domains ?? null);
  // Invalidates the lease of a report that is being composed from the previous settings. Its job then
  // releases the schedule, and the report is composed again.
  const row = { ...current, ...change, lease: current.lease && newId('req') };
  if (TIMING_COLUMNS.some((column) => change[column] !== undefined))
    row.next_send_at = nextTime(row, current, clock.now());
  const { id, ...columns } = row;
  await tx.updateTable('report_schedules').set(columns).where('id', '=', id).execute();
  await cancelObsoleteCopies(tx, current, row);
  await audit(tx, author, AUDITED_SCHEDULE, 'report_schedule.changed', id, details);
  return row;
}

const SCOPE_COLUMNS = ['recipients', 'domains', 'tags', 'recipients_by_tag'] as const;

/** A choice of one kind replaces that of another, unless the patch has both. */
function nextScope(current: ReportScheduleRow, patch: SchedulePatch): Scope {
  const before = SCHEDULE_ROW.decode(current);
  const kept = <T>(name: keyof Scope, value: T, empty: T, others: (keyof Scope)[]): T => {
    if (patch[name] !== undefined) return patch[name] as T;
    return others.some((other) => patch[other]) ? empty : value;
  };
  const domains =
    current.tags === null && current.recipients_by_tag === null ? before.domains : null;
  return {
    recipients: kept('recipients', before.recipients, [], ['recipients_by_tag']),
    domains: kept('domains', domains, null, ['tags', 'recipients_by_tag']),
    tags: kept('tags', before.tags, null, ['domains', 'recipients_by_tag']),
    recipients_by_tag: kept('recipients_by_tag', before.recipients_by_tag, null, [
      'recipients',
      'domains',
      'tags',
    ]),
  };
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
  const remaining = new Map(audiencesOf(row).map(({ tag, recipients }) => [tag, recipients]));
  const reason = 'the recipient was removed from the report schedule';
  for (const { tag, recipients: before } of audiencesOf(previous)) {
    const recipients = before.filter((email) => !remaining.get(tag)?.includes(email));
    if (recipients.length > 0)
      await cancelCopies(tx, row.id, { recipients, tag, status: 'failed', reason });
  }
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
  /** Of the reports for this tag. Default: of all. */
  tag?: string;
  status: 'failed' | 'unsubscribed';
  /** Recorded in the outbox, and in a copy with status `failed`. */
  reason: string;
}

/** Cancels the queued copies of all runs. A copy that is already being sent may still become `sent`. */
export async function cancelCopies(
  tx: Tx,
  scheduleId: string,
  { recipients, tag, status, reason }: Cancellation,
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
  if (tag !== undefined) query = query.where('run.tag', '=', tag);
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
