/** The job that sends queued emails: claim, send, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../lib/retry.ts';
import { MAILER_CLOSED, type Mailer, type MailOutcome } from '../net/smtp/mailer.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { claimRows, makeDistantDueNow } from '../store/leases.ts';
import { transact } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.generated.ts';
import { untilAvailable } from '../store/until-available.ts';
import { EXPIRED_MAIL_ERROR, failExpiredMail, MAX_MAIL_AGE_MS, mailSettled } from './expire.ts';
import { decryptMail, SEND_JOB } from './queue.ts';

/** Several at once, so that one slow delivery does not block the others. */
const MAX_CONCURRENT_MAILS = 5;
/** Longer than sending an email can take. */
const LEASE_MS = 120_000;

const UNREADABLE: MailOutcome = {
  ok: false,
  // If the row is repaired in time, the email is sent.
  temporary: true,
  reason: 'its content cannot be decrypted: it is damaged or was encrypted with a different key',
};

/** Lower than the limit for all emails, so that slow bulk emails never block others. */
const MAX_CONCURRENT_BULK_MAILS = 3;

export function sendMailJob(app: App): Job {
  const bulk = new Set<string>();
  return claimingJob({
    name: SEND_JOB,
    concurrency: MAX_CONCURRENT_MAILS,
    claim: async (limit) => {
      if (app.mailer === null) return [];
      const claimed = await claimDueMail(app, limit, MAX_CONCURRENT_BULK_MAILS - bulk.size);
      for (const mail of claimed) if (mail.bulk === 1) bulk.add(mail.id);
      return claimed;
    },
    work: (mail) =>
      sendOne(app, app.mailer!, mail).finally(() => {
        // More bulk emails may be due, although the last claim did not use the full capacity.
        if (bulk.delete(mail.id)) app.scheduler.wakeHere(SEND_JOB);
      }),
    // It is sent again when its lease expires.
    onError: ({ id }, error) =>
      app.log.error('could not process an email', { mail: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wakeHere(SEND_JOB),
  });
}

/**
 * Claims due emails that are not leased, longest due first, and bulk emails only if there is
 * capacity left. Expired emails fail instead.
 */
export async function claimDueMail(
  context: Pick<App, 'db' | 'clock' | 'newId' | 'node' | 'subscribers'>,
  limit: number,
  maxBulk = limit,
): Promise<ClaimedMail[]> {
  await makeDistantDueNow(context, 'outbox', MAX_RETRY_DELAY_MS);
  const first = await claimByKind(context, 0, limit);
  const capacity = Math.min(limit - first.length, maxBulk);
  return capacity <= 0 ? first : [...first, ...(await claimByKind(context, 1, capacity))];
}

function claimByKind(
  context: Parameters<typeof claimDueMail>[0],
  bulk: 0 | 1,
  limit: number,
): Promise<ClaimedMail[]> {
  const { db, clock } = context;
  const now = isoTime(clock.now());
  const due = db
    .selectFrom('outbox')
    .select(['id', 'content', 'attempts', 'useful_until', 'bulk'])
    .where('bulk', '=', bulk)
    .where('due_at', '<=', now)
    .where('created_at', '>=', isoTime(clock.now() - MAX_MAIL_AGE_MS))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(context, {
    table: 'outbox',
    due,
    leaseMs: LEASE_MS,
    before: (tx) => failExpiredMail(tx, context),
  });
}

async function sendOne(app: App, mailer: Mailer, claimed: ClaimedMail): Promise<void> {
  const mail = claimed.content && decryptMail(app.secrets, claimed.id, claimed.content);
  const outcome = mail ? await mailer.send(mail) : UNREADABLE;
  // The service is stopping: the next start sends it.
  if (outcome === MAILER_CLOSED) return;
  // Otherwise the email would be sent again.
  await untilAvailable(() => recordOutcome(app, claimed, outcome));
}

// Records the outcome of an attempt: sent, to be retried, or failed.

/** An email claimed until its lease expires. */
type ClaimedMail = Pick<OutboxRow, 'id' | 'content' | 'attempts' | 'useful_until' | 'bulk'> & {
  lease: string;
};

/**
 * A final outcome deletes the content. If the lease was lost, because the email was canceled or claimed
 * again, only a success is recorded: the email was sent after all.
 */
export async function recordOutcome(
  app: Pick<App, 'db' | 'clock' | 'log' | 'metrics' | 'subscribers'>,
  { id, lease, attempts: previousAttempts, useful_until }: ClaimedMail,
  outcome: MailOutcome,
): Promise<void> {
  const { db, clock, log } = app;
  const attempts = previousAttempts + 1;
  const { change, retryDelayMs } = changeFor({ attempts, useful_until }, outcome, clock.now());
  const recorded = await transact(db, async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('outbox')
      .set(change)
      .where('id', '=', id)
      .where((eb) => (outcome.ok ? eb('status', '!=', 'sent') : eb('lease', '=', lease)))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    const { status, error = null, sent_at = null } = change;
    if (status === 'sent' || status === 'failed')
      await app.subscribers.publish(mailSettled, tx, [{ id, status, error, sent_at }]);
    return true;
  });
  const failed = retryDelayMs === null ? 'failed' : 'retried';
  app.metrics.mailAttempts.inc({ outcome: outcome.ok ? 'sent' : failed });
  if (!recorded) return;
  if (outcome.ok) log.info('sent mail', { mail: id, attempts });
  else
    log.warn(retryDelayMs === null ? 'sending mail failed' : 'sending mail failed, will retry', {
      mail: id,
      attempts,
      reason: outcome.reason,
    });
}

/** `retryDelayMs`: time until the next attempt; null if there is none. */
function changeFor(
  { attempts, useful_until }: Pick<ClaimedMail, 'attempts' | 'useful_until'>,
  outcome: MailOutcome,
  now: number,
): { change: Partial<OutboxRow>; retryDelayMs: number | null } {
  const released = { attempts, lease: null, leased_until: null };
  const final = { ...released, content: null, due_at: null };
  if (outcome.ok)
    return {
      change: { ...final, status: 'sent', sent_at: isoTime(now), error: null },
      retryDelayMs: null,
    };
  const { reason } = outcome;
  const retryDelayMs = outcome.temporary ? retryAfterMs(attempts) : null;
  if (retryDelayMs === null)
    return { change: { ...final, status: 'failed', error: reason }, retryDelayMs };
  const next = isoTime(now + retryDelayMs);
  if (useful_until === null || useful_until > next)
    return { change: { ...released, due_at: next, error: reason }, retryDelayMs };
  const error = `${EXPIRED_MAIL_ERROR}; last error: ${reason}`;
  return { change: { ...final, status: 'failed', error }, retryDelayMs: null };
}
