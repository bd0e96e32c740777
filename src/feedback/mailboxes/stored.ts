/** Report mailboxes in the database: added, changed and removed, and their imports started and cancelled. */

import type { App } from '../../app.ts';
import { fetchPage, type Page } from '../../http/schemas.ts';
import { isoTime } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import { AppError, invalidParams } from '../../lib/errors.ts';
import { audited, rowsOf } from '../../store/audited.ts';
import { afterCommit, type Db, lockIn, type Tx } from '../../store/open.ts';
import { requireBelowLimit } from '../../store/queries.ts';
import { rowCodec } from '../../store/row-codec.ts';
import type { ReportMailboxRow } from '../../store/tables.generated.ts';
import { type Author, audit } from '../../team/audit.ts';
import type { RefusalReason } from '../reading/report.ts';
import type { ReportStatus } from '../status.ts';
import { passwordPurpose, trustedServers } from './connect.ts';
import type { NewReportMailbox, ReportMailbox, ReportMailboxPatch, Schedule } from './schema.ts';

export const IMPORT_JOB = 'feedback.import';

export const AUDITED_MAILBOX = audited({
  type: 'report_mailbox',
  name: 'Report mailbox',
  actions: [
    'report_mailbox.created',
    'report_mailbox.changed',
    'report_mailbox.deleted',
    'report_mailbox.import_started',
    'report_mailbox.import_cancelled',
  ],
  page: (id) => `/feedback/mailboxes/${id}`,
  withPage: rowsOf('report_mailboxes'),
});

const MAX_MAILBOXES = 20;

type MailboxAuthor = Author & { app: App };

/** What an import has read so far. */
export interface ImportCounts {
  read: number;
  remaining: number;
  moved: number;
  undecided: number;
  statuses: Partial<Record<ReportStatus, number>>;
  reasons: Partial<Record<RefusalReason, number>>;
}

export const MAILBOX_ROW = rowCodec<ReportMailboxRow, { counts: ImportCounts }>({ counts: 'json' });

export const NO_COUNTS: ImportCounts = {
  read: 0,
  remaining: 0,
  moved: 0,
  undecided: 0,
  statuses: {},
  reasons: {},
};

/** Before the first import, and after a change of what is read. */
const NEW_IMPORT = {
  started_at: null,
  finished_at: null,
  counts: JSON.stringify(NO_COUNTS),
  problem: null,
  problem_detail: null,
  failures: 0,
  lease: null,
  leased_until: null,
};
const FROM_THE_START = { uid_validity: null, last_uid: 0, pending_mail: null };

const INTERVALS: Record<Schedule, number | null> = { off: null, hourly: HOUR_MS, daily: DAY_MS };

/** When the next import starts; null if nothing is scheduled. */
export function nextImport({ schedule }: Pick<ReportMailboxRow, 'schedule'>, now: number) {
  const interval = INTERVALS[schedule as Schedule];
  return interval === null ? null : isoTime(now + interval);
}

type Settings = Pick<
  ReportMailboxRow,
  | 'name'
  | 'sign_in'
  | 'host'
  | 'port'
  | 'tls'
  | 'username'
  | 'authserv_id'
  | 'folder'
  | 'move_to'
  | 'schedule'
>;

/** Adds a mailbox, and starts its first import. Throws `conflict` and `validation_failed`. */
export async function createMailbox(
  tx: Tx,
  author: MailboxAuthor,
  { password, ...given }: NewReportMailbox,
): Promise<ReportMailboxRow> {
  const { app } = author;
  await requireBelowLimit(tx, tx.selectFrom('report_mailboxes'), {
    max: MAX_MAILBOXES,
    noun: 'report mailboxes',
  });
  const id = app.newId('fbx');
  const settings = settingsOf(app, given, password !== undefined);
  await requireFreeName(tx, settings.name, id);
  const now = isoTime(app.clock.now());
  const row: ReportMailboxRow = {
    id,
    ...settings,
    password: settings.sign_in === null ? app.secrets.seal(password!, passwordPurpose(id)) : null,
    ...FROM_THE_START,
    ...NEW_IMPORT,
    next_run_at: now,
    created_at: now,
  };
  await tx.insertInto('report_mailboxes').values(row).execute();
  await audit(tx, author, AUDITED_MAILBOX, 'report_mailbox.created', id, { ...settings });
  afterCommit(tx, () => app.scheduler.wake(IMPORT_JOB));
  return row;
}

/** The settings with defaults. Throws `validation_failed` if they do not say how to sign in. */
function settingsOf(
  { config }: Pick<App, 'config'>,
  given: Partial<Settings> & { name: string },
  hasPassword: boolean,
): Settings {
  const { sign_in = null, host = null, username = null, authserv_id = null } = given;
  const { move_to = null, folder = 'INBOX', schedule = 'off', name } = given;
  const problem = (param: string, code: string, message: string) => ({ param, code, message });
  const problems =
    sign_in === null
      ? Object.entries({ host, username, password: hasPassword || null })
          .filter(([, value]) => value === null || value === '')
          .map(([param]) =>
            problem(
              param,
              'required',
              `is required ${param === 'password' ? 'for this server' : 'without a sign-in'}`,
            ),
          )
      : [
          ...(host === null && !hasPassword
            ? []
            : [
                problem('sign_in', 'invalid', 'excludes a server and a password: leave them empty'),
              ]),
          ...(config.SEED_MAILBOXES.some((seed) => seed.name === sign_in)
            ? []
            : [problem('sign_in', 'invalid', 'is not the name of a configured seed mailbox')]),
        ];
  if (move_to !== null && move_to === folder)
    problems.push(problem('move_to', 'invalid', 'must not be the folder that is read'));
  if (problems.length > 0) throw invalidParams(problems);
  const common = { name, folder, move_to, schedule, sign_in, authserv_id };
  if (sign_in !== null) return { ...common, host: null, port: null, tls: null, username: null };
  const tls = given.tls ?? 'implicit';
  const port = given.port ?? (tls === 'implicit' ? 993 : 143);
  return { ...common, host: host!.toLowerCase(), port, tls, username };
}

/** `feedback import --imap` identifies a mailbox by its name. */
async function requireFreeName(tx: Tx, name: string, ownId: string): Promise<void> {
  const taken = await tx
    .selectFrom('report_mailboxes')
    .select('id')
    .where('name', '=', name)
    .where('id', '!=', ownId)
    .executeTakeFirst();
  if (taken)
    throw new AppError(
      'conflict',
      `A report mailbox named “${name}” already exists. Choose another name.`,
    );
}

const CONNECTION = ['sign_in', 'host', 'port', 'tls', 'username'] as const;

/** After a change of these, UIDs belong to other messages, or the same messages have another signer. */
const FOLDER = ['sign_in', 'host', 'username', 'folder', 'authserv_id'];

/** Applies a patch. If it changes the connection, an import starts at once. */
export async function changeMailbox(
  tx: Tx,
  author: MailboxAuthor,
  current: ReportMailboxRow,
  { password, ...patch }: ReportMailboxPatch,
): Promise<ReportMailboxRow> {
  const { app } = author;
  const now = app.clock.now();
  // A sign-in replaces the server, and the other way round.
  const former = patch.sign_in
    ? { ...current, host: null, username: null, password: null }
    : current;
  const given = { ...former, ...patch } as Settings;
  const hasPassword = password !== undefined || former.password !== null;
  const settings = settingsOf(app, given, hasPassword);
  const isOtherServer = settings.host !== former.host || settings.port !== former.port;
  // Otherwise, an admin could have the stored password sent to a server of their own.
  if (password === undefined && former.password !== null && isOtherServer)
    throw invalidParams([
      { param: 'password', code: 'required', message: 'is required for another server or port' },
    ]);
  const secret =
    password === undefined ? null : app.secrets.seal(password, passwordPurpose(current.id));
  const { columns, details } = MAILBOX_ROW.changes(current, settings);
  if (Object.keys(columns).length === 0 && secret === null) return current;
  await requireFreeName(tx, settings.name, current.id);
  const changes = (names: readonly string[]) => names.some((name) => Object.hasOwn(columns, name));
  const isMoved = changes(FOLDER);
  const row: ReportMailboxRow = {
    ...current,
    ...settings,
    password: settings.sign_in === null ? (secret ?? former.password) : null,
    ...(changes(['schedule']) && !isActive(current)
      ? { next_run_at: nextImport(settings, now) }
      : {}),
    ...(isMoved ? FROM_THE_START : {}),
    ...(isMoved || changes(CONNECTION) || secret !== null || changes(['move_to'])
      ? { ...NEW_IMPORT, next_run_at: isoTime(now) }
      : {}),
  };
  const { id, ...changed } = row;
  await tx.updateTable('report_mailboxes').set(changed).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MAILBOX, 'report_mailbox.changed', id, {
    ...details,
    ...(secret === null ? {} : { password: 'changed' }),
  });
  afterCommit(tx, () => app.scheduler.wake(IMPORT_JOB));
  return row;
}

/** Deletes the mailbox; imported reports stay. */
export async function deleteMailbox(
  tx: Tx,
  author: MailboxAuthor,
  { id, name }: ReportMailboxRow,
): Promise<void> {
  await tx.deleteFrom('report_mailboxes').where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MAILBOX, 'report_mailbox.deleted', id, { name });
}

// Imports.

/** Whether an import is queued, running, or waiting to resume. */
const isActive = ({ finished_at, next_run_at }: ReportMailboxRow): boolean =>
  finished_at === null && next_run_at !== null;

/** Imports new messages, or resumes a failed import. */
export async function startImport(
  tx: Tx,
  author: MailboxAuthor,
  current: ReportMailboxRow,
): Promise<ReportMailboxRow> {
  const { app } = author;
  const now = isoTime(app.clock.now());
  if (isActive(current) && current.next_run_at! <= now) return current;
  const { id } = current;
  const changed = {
    ...(current.finished_at === null ? {} : NEW_IMPORT),
    problem: null,
    problem_detail: null,
    failures: 0,
    next_run_at: now,
  };
  await tx.updateTable('report_mailboxes').set(changed).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MAILBOX, 'report_mailbox.import_started', id, {
    name: current.name,
  });
  afterCommit(tx, () => app.scheduler.wake(IMPORT_JOB));
  return { ...current, ...changed };
}

export const CANCELLED = 'cancelled';

/** Takes the lease away, so that the import ends before the next message. Throws `conflict` if no import is active. */
export async function cancelImport(
  tx: Tx,
  author: MailboxAuthor,
  current: ReportMailboxRow,
): Promise<ReportMailboxRow> {
  const now = author.app.clock.now();
  if (!isActive(current))
    throw new AppError('conflict', 'No import is running, so there is nothing to cancel.');
  const { id, name } = current;
  const changed = {
    finished_at: isoTime(now),
    problem: CANCELLED,
    problem_detail: null,
    failures: 0,
    next_run_at: nextImport(current, now),
    lease: null,
    leased_until: null,
  };
  await tx.updateTable('report_mailboxes').set(changed).where('id', '=', id).execute();
  await audit(tx, author, AUDITED_MAILBOX, 'report_mailbox.import_cancelled', id, { name });
  return { ...current, ...changed };
}

// Queries.

/** Throws `not_found`. */
export async function mailboxOr404(db: Db | Tx, id: string): Promise<ReportMailboxRow> {
  const query = db.selectFrom('report_mailboxes').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such report mailbox.');
  return row;
}

/** One page, newest first. */
export const listMailboxes = (db: Db, page: Page) =>
  fetchPage(db.selectFrom('report_mailboxes').selectAll(), page);

function statusOf({ problem, finished_at, started_at, next_run_at }: ReportMailboxRow) {
  if (problem === CANCELLED) return 'cancelled';
  if (problem !== null) return 'failed';
  if (finished_at !== null) return 'completed';
  return started_at === null && next_run_at !== null ? 'queued' : 'running';
}

const entries = <Key extends string>(counts: Partial<Record<Key, number>>): [Key, number][] =>
  Object.entries(counts) as [Key, number][];

export function presentMailbox(app: Pick<App, 'config'>, row: ReportMailboxRow): ReportMailbox {
  const { read, remaining, moved, undecided, statuses, reasons } = MAILBOX_ROW.decode(row).counts;
  const { not_a_report = 0, ...refused } = reasons;
  return {
    id: row.id,
    object: 'report_mailbox',
    name: row.name,
    sign_in: row.sign_in,
    host: row.host,
    port: row.port,
    tls: row.tls as ReportMailbox['tls'],
    username: row.username,
    authserv_id: row.authserv_id,
    folder: row.folder,
    move_to: row.move_to,
    schedule: row.schedule as Schedule,
    trusted_servers: trustedServers(app, row).flatMap((name) => name.replace(/^\./, '') || []),
    import: {
      status: statusOf(row),
      started_at: row.started_at,
      finished_at: row.finished_at,
      read,
      remaining,
      moved,
      undecided,
      reports: entries(statuses).map(([status, count]) => ({ status, count })),
      refused: entries(refused).map(([reason, count]) => ({ reason, count })),
      not_reports: not_a_report,
    },
    problem: row.problem === CANCELLED ? null : row.problem_detail,
    next_import_at: row.next_run_at,
    created_at: row.created_at,
  };
}
