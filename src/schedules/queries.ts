/** Schedules in the database: found, listed, and presented with what is not in their rows. */

import { type Page, pageOf } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { GIVE_UP_MS } from '../outbox/expire.ts';
import type { Db, Tx } from '../store/open.ts';
import type { ReportCopyRow, ReportRunRow, ReportScheduleRow } from '../store/tables.generated.ts';
import type { ReportCopy, ReportRun, RunStatus, Schedule } from './schema.ts';

/** Throws `not_found`. */
export async function scheduleOr404(db: Db | Tx, id: string): Promise<ReportScheduleRow> {
  const row = await db
    .selectFrom('report_schedules')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw new AppError('not_found', 'There is no report schedule with this id.');
  return row;
}

/** One page, newest first. */
export async function listSchedules(db: Db, page: Page) {
  return pageOf(db.selectFrom('report_schedules').selectAll(), page);
}

type Named = Pick<ReportScheduleRow, 'domains'>;

const namedBy = ({ domains }: Named): string[] | null => domains && JSON.parse(domains);

/** Those that a schedule names and that are still there; null where it names none, which is all. */
export async function domainsOf(db: Db | Tx, row: Named): Promise<string[] | null> {
  const named = namedBy(row);
  const present = await presentDomains(db, named ?? []);
  return named?.filter((id) => present.has(id)) ?? null;
}

/** Of these ids, those of domains. */
export async function presentDomains(db: Db | Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('domains').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** By a fixed number of questions, however many they are. */
export async function presentSchedules(
  db: Db | Tx,
  rows: ReportScheduleRow[],
): Promise<Schedule[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const runs = new Map((await lastRuns(db, ids)).map((run) => [run.schedule_id, run]));
  const gone = Map.groupBy(await readersGone(db, ids), ({ schedule_id }) => schedule_id);
  const sent = await lastSentTimes(db, ids);
  const domains = await presentDomains(db, [...new Set(rows.flatMap((row) => namedBy(row) ?? []))]);
  return rows.map((row) =>
    presentSchedule({
      row,
      domains: namedBy(row)?.filter((id) => domains.has(id)) ?? null,
      lastStatus: runs.get(row.id)?.status ?? null,
      lastSentAt: sent.get(row.id) ?? null,
      unsubscribed: (gone.get(row.id) ?? []).map(({ email, left_at }) => ({ email, left_at })),
    }),
  );
}

function readersGone(db: Db | Tx, ids: string[]) {
  return db
    .selectFrom('report_readers')
    .select(['schedule_id', 'email', 'left_at'])
    .where('schedule_id', 'in', ids)
    .where('left_at', 'is not', null)
    .$narrowType<{ left_at: string }>()
    .orderBy('left_at')
    .orderBy('email')
    .execute();
}

// From a row to the schedule that the API answers.

/** A schedule with what is not in its row. */
interface ScheduleState {
  row: ReportScheduleRow;
  /** Those that are still there. */
  domains: string[] | null;
  lastStatus: RunStatus | null;
  lastSentAt: string | null;
  unsubscribed: Schedule['unsubscribed'];
}

export const recipientsOf = ({ recipients }: Pick<ReportScheduleRow, 'recipients'>): string[] =>
  JSON.parse(recipients);

const NO_DOMAIN_LEFT =
  'All domains that it names have been deleted, so its reports count no tests. Name others, or send null for all.';
const NOBODY_LEFT =
  'Everybody whom it names has unsubscribed, so nobody gets its reports. Name other recipients.';

function presentSchedule(state: ScheduleState): Schedule {
  const { row, domains, lastStatus, lastSentAt, unsubscribed } = state;
  const { id, name, frequency, format, send_hour, timezone, weekday, day_of_month } = row;
  const recipients = recipientsOf(row);
  const gone = new Set(unsubscribed.map(({ email }) => email));
  const nobody = recipients.every((email) => gone.has(email));
  return {
    ...{ id, object: 'report_schedule', name, frequency, recipients, domains },
    include_sections: JSON.parse(row.include_sections),
    ...{ format, send_hour, timezone, weekday, day_of_month },
    enabled: row.enabled === 1,
    detail: domains?.length === 0 ? NO_DOMAIN_LEFT : nobody ? NOBODY_LEFT : null,
    next_send_at: row.next_send_at,
    last_sent_at: lastSentAt,
    last_status: lastStatus,
    unsubscribed,
    created_at: row.created_at,
  };
}

// Runs of schedules and their copies in the database: listed, with what the outbox knows.

/** One page, newest first. */
export async function listRuns(db: Db, scheduleId: string, page: Page) {
  return pageOf(
    db.selectFrom('report_runs').selectAll().where('schedule_id', '=', scheduleId),
    page,
  );
}

/** Runs with what became of each copy. */
export async function presentRuns(db: Db | Tx, rows: ReportRunRow[]): Promise<ReportRun[]> {
  if (rows.length === 0) return [];
  const copies = await db
    .selectFrom('report_copies as own')
    .leftJoin('outbox', 'outbox.id', 'own.mail_id')
    .selectAll('own')
    .select('outbox.error as mail_error')
    .where(
      'own.run_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('own.recipient')
    .execute();
  const of = Map.groupBy(copies as CopyState[], ({ run_id }) => run_id);
  return rows.map((row) => presentRun(row, of.get(row.id) ?? []));
}

/** The last run of each schedule that has one. */
async function lastRuns(db: Db | Tx, scheduleIds: string[]): Promise<ReportRun[]> {
  if (scheduleIds.length === 0) return [];
  const rows = await db
    .selectFrom('report_runs')
    .selectAll()
    .where('id', 'in', (from) =>
      from
        .selectFrom('report_runs as run')
        .select(({ fn }) => fn.max('run.id').as('id'))
        .where('run.schedule_id', 'in', scheduleIds)
        .groupBy('run.schedule_id'),
    )
    .execute();
  return presentRuns(db, rows);
}

/** A copy is not sent later than this after its run: the outbox has given it up by then. */
const LATEST_COPY_MS = GIVE_UP_MS + 86_400_000;

/** When the server last took a copy, by schedule; none where it has taken none. */
async function lastSentTimes(db: Db | Tx, scheduleIds: string[]): Promise<Map<string, string>> {
  const newest = await newestSent(db, scheduleIds);
  if (newest.length === 0) return new Map();
  // A copy that was tried again may have gone out after those of the next run.
  const rows = await db
    .selectFrom('report_runs as run')
    .innerJoin('report_copies as copy', 'copy.run_id', 'run.id')
    .select(({ fn }) => ['run.schedule_id', fn.max('copy.sent_at').as('sent_at')])
    .where(({ eb, and, or }) =>
      or(
        newest.map(({ schedule_id, created_at }) =>
          and([
            eb('run.schedule_id', '=', schedule_id),
            eb('run.created_at', '>=', isoTime(Date.parse(created_at) - LATEST_COPY_MS)),
          ]),
        ),
      ),
    )
    .groupBy('run.schedule_id')
    .execute();
  return new Map(rows.map(({ schedule_id, sent_at }) => [schedule_id, sent_at!]));
}

/** Of each schedule, when the newest run was made of which a copy has gone out: read from the newest on. */
async function newestSent(db: Db | Tx, scheduleIds: string[]) {
  const rows = await db
    .selectFrom('report_schedules as schedule')
    .select('schedule.id as schedule_id')
    .select(({ selectFrom }) =>
      selectFrom('report_runs as run')
        .select('run.created_at')
        .whereRef('run.schedule_id', '=', 'schedule.id')
        .where((inner) =>
          inner.exists(
            inner
              .selectFrom('report_copies as copy')
              .select('copy.run_id')
              .whereRef('copy.run_id', '=', 'run.id')
              .where('copy.sent_at', 'is not', null),
          ),
        )
        .orderBy('run.id', 'desc')
        .limit(1)
        .as('created_at'),
    )
    .where('schedule.id', 'in', scheduleIds)
    .execute();
  return rows.flatMap(({ schedule_id, created_at }) =>
    created_at === null ? [] : [{ schedule_id, created_at }],
  );
}

// From rows to the runs that the API answers, and what a run has come to.

/** With what the outbox says of the last attempt, where more are to come. */
type CopyState = ReportCopyRow & { mail_error: string | null };

/** What became of a copy, or how things stand with it. */
function presentCopy(row: CopyState): ReportCopy {
  const { recipient, status, error, sent_at, mail_error } = row;
  return { recipient, status, error: status === 'queued' ? mail_error : error, sent_at };
}

/** Copies of those who have left count nowhere; a run that nobody was left to read has failed. */
function runStatus(copies: ReportCopy[]): RunStatus {
  const counting = copies.filter(({ status }) => status !== 'unsubscribed');
  const having = (wanted: ReportCopy['status']) =>
    counting.filter(({ status }) => status === wanted).length;
  if (having('queued') > 0) return 'sending';
  if (counting.length === 0) return 'failed';
  if (having('sent') === counting.length) return 'sent';
  if (having('sent') > 0) return 'partial';
  return having('not_configured') === counting.length ? 'not_configured' : 'failed';
}

function presentRun(row: ReportRunRow, states: CopyState[]): ReportRun {
  const { id, schedule_id, trigger, slot, period_from, period_to, error, created_at } = row;
  const copies = states.map(presentCopy);
  return {
    ...{ id, object: 'report_run', schedule_id, trigger, slot, period_from, period_to },
    status: runStatus(copies),
    ...{ error, copies, created_at },
  };
}
