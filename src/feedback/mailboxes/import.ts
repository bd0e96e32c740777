/**
 * Imports from a report mailbox. One transaction stores a message with reports and its UID. After that, the message is read, moved and
 * counted. So an interrupted import neither loses nor repeats a message.
 */

import type { App } from '../../app.ts';
import { isoTime } from '../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts';
import { AppError, errorMessage } from '../../lib/errors.ts';
import { AccountError, isTransient } from '../../net/account-error.ts';
import type { ReportFolder } from '../../net/imap/report-folder.ts';
import { timeIn } from '../../store/database-clock.ts';
import { DatabaseUnavailableError } from '../../store/errors.ts';
import { type Db, type Tx, transact } from '../../store/open.ts';
import type { FeedbackMailRow, ReportMailboxRow } from '../../store/tables.generated.ts';
import { storeFeedback } from '../intake.ts';
import { readMail } from '../read-mail.ts';
import type { RefusalReason } from '../reading/report.ts';
import type { ReportStatus } from '../status.ts';
import { requireStorage } from '../storage/require.ts';
import { readerOf } from '../thread/reader.ts';
import { openStored, trustedServers } from './connect.ts';
import { type ImportCounts, MAILBOX_ROW, NO_COUNTS, nextImport } from './stored.ts';

/** Longer than one message takes. Each message renews the lease. */
export const LEASE_MS = 900_000;
/** In one run, so that other mailboxes get their turn, also if a server is slow. The next run continues. */
const MAX_MESSAGES = 500;
const MAX_RUN_MS = 10 * MINUTE_MS;
/** The UIDs of messages without a report are saved with the next report, or after this many messages. */
const MAX_UNSAVED = 25;
/** If the process ends while it reads a message, the job reads the message after this time. */
const OWN_MS = 120_000;
/** With pauses of up to an hour. After that, the schedule decides. */
const MAX_RETRIES = 10;
const RETRY_MS = 60_000;

export type HeldMailbox = ReportMailboxRow & { lease: string };

/** The import was cancelled, or another node has taken over. */
class LeaseLostError extends Error {}

type Changes = Partial<ReportMailboxRow>;

interface Import {
  app: App;
  held: HeldMailbox;
  signal: AbortSignal;
  counts: ImportCounts;
  lastUid: number;
}

/** Reads up to 500 messages, for at most ten minutes, and records the result. */
export async function importSome(
  app: App,
  held: HeldMailbox,
  signal: AbortSignal,
  maxMessages = MAX_MESSAGES,
): Promise<void> {
  const isNew = held.started_at === null || held.finished_at !== null;
  const run: Import = {
    app,
    held,
    signal,
    counts: isNew ? structuredClone(NO_COUNTS) : MAILBOX_ROW.decode(held).counts,
    lastUid: held.last_uid,
  };
  try {
    if (isNew)
      await update(run, app.db, { started_at: isoTime(app.clock.now()), finished_at: null });
    const hasMore = await readFolder(run, maxMessages);
    // After the mailboxes that became due meanwhile.
    const goesOn = { problem: null, failures: 0, next_run_at: isoTime(app.clock.now()) };
    await release(run, hasMore || signal.aborted ? goesOn : finished(run));
  } catch (error) {
    if (error instanceof LeaseLostError || error instanceof DatabaseUnavailableError) return;
    if (signal.aborted) await release(run, {}).catch(() => {});
    else await release(run, failed(run, error));
  }
}

/** Resolves with whether there is more to read. */
async function readFolder(run: Import, maxMessages: number): Promise<boolean> {
  const { app, held, signal } = run;
  const folder = await openStored(app, held, signal);
  try {
    const isSame = folder.uidValidity === held.uid_validity;
    if (held.pending_mail !== null) await finishPending(run, isSame ? folder : null);
    if (!isSame) {
      run.lastUid = 0;
      await update(run, app.db, { uid_validity: folder.uidValidity, last_uid: 0 });
    }
    const uids = await folder.uidsAfter(run.lastUid);
    run.counts.remaining = uids.length;
    await update(run, app.db, { ...progress(run), problem: null, problem_detail: null });
    const batch = uids.slice(0, maxMessages);
    const sizes = await folder.sizes(batch);
    let unsaved = 0;
    const end = app.clock.now() + MAX_RUN_MS;
    for (const uid of batch) {
      if (signal.aborted || app.clock.now() > end) break;
      const mail = await readOne(run, folder, uid, sizes.get(uid));
      run.lastUid = uid;
      run.counts.remaining -= 1;
      unsaved += 1;
      if (mail !== null) await finish(run, folder, mail);
      else if (unsaved >= MAX_UNSAVED) await update(run, app.db, progress(run));
      else continue;
      unsaved = 0;
    }
    await update(run, app.db, progress(run));
    return run.counts.remaining > 0;
  } finally {
    await folder.end();
  }
}

/** Stores a message with reports, and counts any other. `size` is undefined if it was deleted. */
async function readOne(
  run: Import,
  folder: ReportFolder,
  uid: number,
  size: number | undefined,
): Promise<FeedbackMailRow | null> {
  const { app, held } = run;
  const skip = (reason: RefusalReason): null => {
    run.counts.read += 1;
    countRefusal(run, reason);
    return null;
  };
  const isTooLarge = size !== undefined && size > app.config.FEEDBACK_MAX_SIZE;
  const raw = isTooLarge ? null : await folder.read(uid);
  if (raw === null && size === undefined) return null;
  if (isTooLarge) return skip('too_large');
  if (raw === null) return skip('unreadable');
  // Other mail of the owner is private, so none of it is stored.
  const items = await readerOf(app).read(raw, app.clock.now());
  if (items.every((item) => !item.ok && item.reason === 'not_a_report'))
    return skip('not_a_report');
  const arrival = { raw, source: 'imap', domainId: null, envelope: null } as const;
  await requireStorage(app, arrival);
  const authserv = trustedServers(app, held);
  return storeFeedback(app, { ...arrival, suffix: null, authserv, ownMs: OWN_MS }, (work) =>
    transact(app.db, async (tx) => {
      const mails = await work(tx);
      await update(run, tx, { ...progress(run), last_uid: uid, pending_mail: mails[0]!.id });
      return mails;
    }),
  );
}

function countRefusal({ counts: { reasons } }: Import, reason: RefusalReason): void {
  reasons[reason] = (reasons[reason] ?? 0) + 1;
}

/** Finishes a message that an earlier process stored. */
async function finishPending(run: Import, folder: ReportFolder | null): Promise<void> {
  const mail = await run.app.db
    .selectFrom('feedback_mails')
    .selectAll()
    .where('id', '=', run.held.pending_mail)
    .executeTakeFirst();
  if (mail) await finish(run, folder, mail);
  else await update(run, run.app.db, { pending_mail: null });
}

/** Reads a stored message, moves it, and counts it. Each part can be repeated. */
async function finish(
  run: Import,
  folder: ReportFolder | null,
  mail: FeedbackMailRow,
): Promise<void> {
  const { app, held, counts } = run;
  const isRead = mail.due_at === null || (await readMail(app, mail));
  if (folder !== null && held.move_to !== null) {
    await folder.move(run.lastUid);
    counts.moved += 1;
  }
  counts.read += 1;
  if (!isRead) counts.undecided += 1;
  const reports = await app.db
    .selectFrom('feedback_reports')
    .select(['status', 'reason'])
    .where('mail_id', '=', mail.id)
    .execute();
  for (const { status, reason } of reports)
    if (status === 'refused') countRefusal(run, reason as RefusalReason);
    else
      counts.statuses[status as ReportStatus] = (counts.statuses[status as ReportStatus] ?? 0) + 1;
  await update(run, app.db, { ...progress(run), pending_mail: null });
}

const progress = ({ counts, lastUid }: Import): Changes => ({
  counts: JSON.stringify(counts),
  last_uid: lastUid,
});

/** Throws LeaseLostError if this node no longer has the mailbox. */
async function update({ app, held }: Import, db: Db | Tx, changes: Changes): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('report_mailboxes')
    .set({ leased_until: timeIn(app.clock, LEASE_MS), ...changes })
    .where('id', '=', held.id)
    .where('lease', '=', held.lease)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLostError();
}

const release = (run: Import, changes: Changes): Promise<void> =>
  update(run, run.app.db, { ...changes, lease: null, leased_until: null });

function finished({ app, held }: Import): Changes {
  const now = app.clock.now();
  return {
    finished_at: isoTime(now),
    problem: null,
    failures: 0,
    next_run_at: nextImport(held, now),
  };
}

/** The progress stays. The import resumes later if the problem is transient. */
function failed({ app, held }: Import, error: unknown): Changes {
  const now = app.clock.now();
  const failures = held.failures + 1;
  const { problem, detail, retryAfterMs } = problemOf(error);
  app.log[problem === 'failed' ? 'error' : 'warn']('import from a report mailbox failed', {
    mailbox: held.id,
    error: problem === 'failed' ? String((error as Error)?.stack ?? error) : detail,
  });
  const pauseMs = Math.max(RETRY_MS * 2 ** held.failures, retryAfterMs ?? 0);
  const isRetried = (problem === 'failed' || isTransient(problem)) && failures <= MAX_RETRIES;
  return {
    problem,
    problem_detail: detail,
    failures,
    next_run_at: isRetried ? isoTime(now + Math.min(pauseMs, HOUR_MS)) : nextImport(held, now),
  };
}

function problemOf(error: unknown) {
  if (error instanceof AccountError)
    return { problem: error.problem, detail: error.message, retryAfterMs: error.retryAfterMs };
  // The disk is full, or its share for feedback.
  if (error instanceof AppError)
    return { problem: 'throttled', detail: errorMessage(error), retryAfterMs: HOUR_MS };
  const detail =
    'The import failed because of an error in the service. The service retries it, and its log has the cause.';
  return { problem: 'failed', detail, retryAfterMs: null };
}
