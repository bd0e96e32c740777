/** Reads schedules and their runs, and turns them into API responses. */

import { idsWithTags, tagsInUse } from '../domains/queries.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { CLIENT_PREFIX } from '../http/tags.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { formatCount } from '../lib/format/numbers.ts';
import { MAX_MAIL_AGE_MS } from '../outbox/expire.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import { rowCodec } from '../store/row-codec.ts';
import type { ReportCopyRow, ReportRunRow, ReportScheduleRow } from '../store/tables.generated.ts';
import type { ReportCopy, ReportRun, RunStatus, Schedule, Section } from './schema.ts';

export const SCHEDULE_ROW = rowCodec<
  ReportScheduleRow,
  {
    recipients: string[];
    domains: string[] | null;
    tags: string[] | null;
    recipients_by_tag: Record<string, string[]> | null;
    include_sections: Section[];
    enabled: boolean;
  }
>({
  recipients: 'json',
  domains: 'json',
  tags: 'json',
  recipients_by_tag: 'json',
  include_sections: 'json',
  enabled: 'boolean',
});

/** Throws `not_found`. */
export async function scheduleOr404(db: Db | Tx, id: string): Promise<ReportScheduleRow> {
  const query = db.selectFrom('report_schedules').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such report schedule.');
  return row;
}

/** One page, newest first. */
export async function listSchedules(db: Db, page: Page) {
  return fetchPage(db.selectFrom('report_schedules').selectAll(), page);
}

type DomainsColumn = Pick<ReportScheduleRow, 'domains' | 'tags' | 'recipients_by_tag'>;

/** Null also for a schedule that is limited to tags instead. */
const selectedDomains = (row: DomainsColumn): string[] | null =>
  row.tags === null && row.recipients_by_tag === null ? SCHEDULE_ROW.decode(row).domains : null;

/**
 * The domains that the report covers, of those that still exist; null if it covers all. `tag`: of the recipients who get it;
 * empty if there is one report.
 */
export async function domainsOf(
  db: Db | Tx,
  row: DomainsColumn,
  tag: string,
): Promise<string[] | null> {
  const tags = tag === '' ? SCHEDULE_ROW.decode(row).tags : [tag];
  if (tags !== null) return (await idsWithTags(db, tags).execute()).map(({ id }) => id);
  const selected = selectedDomains(row);
  const existing = await existingDomainIds(db, selected ?? []);
  return selected?.filter((id) => existing.has(id)) ?? null;
}

/** The subset of the IDs that belong to existing domains. */
export async function existingDomainIds(db: Db | Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('domains').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Runs a fixed number of queries, regardless of the number of schedules. */
export async function presentSchedules(
  db: Db | Tx,
  rows: ReportScheduleRow[],
): Promise<Schedule[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const runs = Map.groupBy(await lastRuns(db, ids), ({ schedule_id }) => schedule_id);
  const clients = rows.some((row) => row.recipients_by_tag !== null) ? await tagsInUse(db) : [];
  const unsubscribed = Map.groupBy(
    await unsubscribedRecipients(db, ids),
    ({ schedule_id }) => schedule_id,
  );
  const sent = await lastSentTimes(db, ids);
  const domains = await existingDomainIds(db, [
    ...new Set(rows.flatMap((row) => selectedDomains(row) ?? [])),
  ]);
  return rows.map((row) =>
    presentSchedule({
      row,
      domains: selectedDomains(row)?.filter((id) => domains.has(id)) ?? null,
      lastStatus: overallStatus(runs.get(row.id) ?? []),
      clients,
      lastSentAt: sent.get(row.id) ?? null,
      unsubscribed: (unsubscribed.get(row.id) ?? []).map(({ email, left_at }) => ({
        email,
        left_at,
      })),
    }),
  );
}

function unsubscribedRecipients(db: Db | Tx, ids: string[]) {
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

// Schedules as the API returns them.

/** A schedule row with data from other tables. */
interface ScheduleState {
  row: ReportScheduleRow;
  /** Only domains that still exist; null means all. */
  domains: string[] | null;
  lastStatus: RunStatus | null;
  lastSentAt: string | null;
  unsubscribed: Schedule['unsubscribed'];
  clients: string[];
}

/** Who gets the same report. */
export interface Audience {
  /** The report covers its domains; empty if the schedule has one report. */
  tag: string;
  recipients: string[];
}

/** One for each tag with recipients, or the only one. */
export function audiencesOf(row: ReportScheduleRow): Audience[] {
  const { recipients, recipients_by_tag } = SCHEDULE_ROW.decode(row);
  if (recipients_by_tag === null) return [{ tag: '', recipients }];
  return Object.entries(recipients_by_tag).map(([tag, addresses]) => ({
    tag,
    recipients: addresses,
  }));
}

/** All recipients, each once. */
export const recipientsOf = (row: ReportScheduleRow): string[] => [
  ...new Set(audiencesOf(row).flatMap(({ recipients }) => recipients)),
];

const NO_DOMAINS =
  'All selected domains have been deleted, so reports include no tests. Select other domains, or set domains to null for all.';
const NO_RECIPIENTS =
  'All recipients have unsubscribed, so nobody gets this report. Add other recipients.';

function presentSchedule(state: ScheduleState): Schedule {
  const { row, domains, lastStatus, lastSentAt, unsubscribed, clients } = state;
  const { id, name, frequency, format, send_hour, timezone, weekday, day_of_month } = row;
  const { recipients, tags, recipients_by_tag, include_sections, enabled } =
    SCHEDULE_ROW.decode(row);
  const unsubscribedEmails = new Set(unsubscribed.map(({ email }) => email));
  const hasNoRecipients = recipientsOf(row).every((email) => unsubscribedEmails.has(email));
  const problems = [
    ...(domains?.length === 0 ? [NO_DOMAINS] : []),
    ...(hasNoRecipients ? [NO_RECIPIENTS] : []),
    ...(recipients_by_tag ? clientProblems(Object.keys(recipients_by_tag), clients) : []),
  ];
  return {
    id,
    object: 'report_schedule',
    name,
    frequency,
    recipients,
    domains,
    tags,
    recipients_by_tag,
    include_sections,
    format,
    send_hour,
    timezone,
    weekday,
    day_of_month,
    enabled,
    detail: problems.length > 0 ? problems.join(' ') : null,
    next_send_at: row.next_send_at,
    last_sent_at: lastSentAt,
    last_status: lastStatus,
    unsubscribed,
    created_at: row.created_at,
  };
}

const MAX_NAMED = 5;

/** Clients who get nothing, and recipients of tags that no domain has. */
function clientProblems(tags: string[], inUse: string[]): string[] {
  const left = inUse.filter((tag) => tag.startsWith(CLIENT_PREFIX) && !tags.includes(tag));
  const unused = tags.filter((tag) => !inUse.includes(tag));
  const named = (names: string[]) =>
    `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` and ${formatCount(names.length - MAX_NAMED)} more` : ''}`;
  return [
    ...(left.length > 0 ? [`No report for ${named(left)}: no recipients.`] : []),
    ...(unused.length > 0 ? [`No domain has the tag ${named(unused)}.`] : []),
  ];
}

// Runs and their copies, with data from the outbox.

/** One page, newest first. */
export async function listRuns(db: Db, scheduleId: string, page: Page) {
  return fetchPage(
    db.selectFrom('report_runs').selectAll().where('schedule_id', '=', scheduleId),
    page,
  );
}

/** Runs with the status of each copy. */
export async function presentRuns(db: Db | Tx, rows: ReportRunRow[]): Promise<ReportRun[]> {
  if (rows.length === 0) return [];
  const copies = await db
    .selectFrom('report_copies as copy')
    .leftJoin('outbox', 'outbox.id', 'copy.mail_id')
    .selectAll('copy')
    .select('outbox.error as mail_error')
    .where(
      'copy.run_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('copy.recipient')
    .execute();
  const byRun = Map.groupBy(copies as CopyState[], ({ run_id }) => run_id);
  return rows.map((row) => presentRun(row, byRun.get(row.id) ?? []));
}

/** The last run of each schedule that has one; the last for each tag, if it has reports for tags. */
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
        .groupBy(['run.schedule_id', 'run.tag']),
    )
    .execute();
  return presentRuns(db, rows);
}

/** Of the reports for all tags since the last time that the schedule was due. */
function overallStatus(runs: ReportRun[]): RunStatus | null {
  const latest = runs
    .map(({ period_to }) => period_to)
    .toSorted()
    .at(-1);
  const statuses = new Set(
    runs.filter(({ period_to }) => period_to === latest).map(({ status }) => status),
  );
  if (statuses.size <= 1) return [...statuses][0] ?? null;
  if (statuses.has('sending')) return 'sending';
  return statuses.has('sent') || statuses.has('partial') ? 'partial' : 'failed';
}

/** The maximum time from a run to the delivery of a copy: the outbox gives up earlier. */
const MAX_COPY_DELAY_MS = MAX_MAIL_AGE_MS + DAY_MS;

/** When the mail server last accepted a copy, by schedule ID. Schedules without a sent copy are missing. */
async function lastSentTimes(db: Db | Tx, scheduleIds: string[]): Promise<Map<string, string>> {
  const newest = await newestSentRuns(db, scheduleIds);
  if (newest.length === 0) return new Map();
  // A retried copy may have been sent after the copies of the next run.
  const rows = await db
    .selectFrom('report_runs as run')
    .innerJoin('report_copies as copy', 'copy.run_id', 'run.id')
    .select(({ fn }) => ['run.schedule_id', fn.max('copy.sent_at').as('sent_at')])
    .where(({ eb, and, or }) =>
      or(
        newest.map(({ schedule_id, created_at }) =>
          and([
            eb('run.schedule_id', '=', schedule_id),
            eb('run.created_at', '>=', isoTime(Date.parse(created_at) - MAX_COPY_DELAY_MS)),
          ]),
        ),
      ),
    )
    .groupBy('run.schedule_id')
    .execute();
  return new Map(rows.map(({ schedule_id, sent_at }) => [schedule_id, sent_at!]));
}

/** For each schedule, the creation time of its newest run with a sent copy. */
async function newestSentRuns(db: Db | Tx, scheduleIds: string[]) {
  const rows = await db
    .selectFrom('report_schedules as schedule')
    .select('schedule.id as schedule_id')
    .select(({ selectFrom }) =>
      selectFrom('report_runs as run')
        .select('run.created_at')
        .whereRef('run.schedule_id', '=', 'schedule.id')
        .where((eb) =>
          eb.exists(
            eb
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

// Runs as the API returns them.

/** `mail_error` is the error of the last attempt while the email is queued. */
type CopyState = ReportCopyRow & { mail_error: string | null };

function presentCopy(row: CopyState): ReportCopy {
  const { recipient, status, error, sent_at, mail_error } = row;
  return { recipient, status, error: status === 'queued' ? mail_error : error, sent_at };
}

/** Ignores copies for unsubscribed recipients. A run with no other copies has failed. */
function runStatus(copies: ReportCopy[]): RunStatus {
  const relevant = copies.filter(({ status }) => status !== 'unsubscribed');
  const count = (status: ReportCopy['status']) =>
    relevant.filter((copy) => copy.status === status).length;
  if (count('queued') > 0) return 'sending';
  if (relevant.length === 0) return 'failed';
  if (count('sent') === relevant.length) return 'sent';
  if (count('sent') > 0) return 'partial';
  return count('not_configured') === relevant.length ? 'not_configured' : 'failed';
}

function presentRun(row: ReportRunRow, states: CopyState[]): ReportRun {
  const { id, schedule_id, trigger, slot, tag, period_from, period_to, error, created_at } = row;
  const copies = states.map(presentCopy);
  return {
    id,
    object: 'report_run',
    schedule_id,
    trigger,
    slot,
    tag: tag === '' ? null : tag,
    period_from,
    period_to,
    status: runStatus(copies),
    error,
    copies,
    created_at,
  };
}
