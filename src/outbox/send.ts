/** The job that sends what waits in the outbox: claim, send, record. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { MAX_RETRY_DELAY_MS, retryAfterMs } from '../lib/retry.ts';
import { CLOSED, type Mailer, type MailOutcome } from '../net/smtp/mailer.ts';
import { claimingJob, type Job } from '../scheduler/scheduler.ts';
import { bringForward, claimRows } from '../store/leases.ts';
import { transact } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.generated.ts';
import { failLateMail, GIVE_UP_MS, mailEnded, TOO_LATE } from './expire.ts';
import { openMail, SEND_JOB } from './queue.ts';

/** So many at once: a server that is slow with one holds up few others. */
const MAX_CONCURRENT_MAILS = 5;
/** How long others leave a claimed mail alone: longer than a sending may take. */
const LEASE_MS = 120_000;

const UNREADABLE: MailOutcome = {
  ok: false,
  // Whoever mends the row in time gets it sent.
  temporary: true,
  reason: 'its content cannot be decrypted: it is damaged, or was encrypted with another key',
};

/** Of these places, bulk mail leaves some to other mail, however slow the server is. */
const MAX_BULK_MAILS = 3;

export function sendMailJob(app: App): Job {
  const bulk = new Set<string>();
  return claimingJob({
    name: SEND_JOB,
    concurrency: MAX_CONCURRENT_MAILS,
    claim: async (limit) => {
      if (app.mailer === null) return [];
      const claimed = await claimDueMail(app, limit, MAX_BULK_MAILS - bulk.size);
      for (const mail of claimed) if (mail.bulk === 1) bulk.add(mail.id);
      return claimed;
    },
    work: (mail) =>
      sendOne(app, app.mailer!, mail).finally(() => {
        // There may be more, although what was claimed did not fill all places.
        if (bulk.delete(mail.id)) app.scheduler.wake(SEND_JOB);
      }),
    // The lease runs out, and it is sent again.
    failed: ({ id }, error) =>
      app.log.error('sending mail failed', { mail: id, error: errorMessage(error) }),
    wake: () => app.scheduler.wake(SEND_JOB),
  });
}

/**
 * Takes due mail that nobody has, the longest due first, and bulk mail, of which there may be a lot,
 * where nothing else is due. What is of no use any more fails instead.
 */
export async function claimDueMail(
  context: Pick<App, 'db' | 'clock' | 'newId' | 'subscribers'>,
  limit: number,
  mostBulk = limit,
): Promise<ClaimedMail[]> {
  await bringForward(context, 'outbox', MAX_RETRY_DELAY_MS);
  const first = await claimOf(context, 0, limit);
  const room = Math.min(limit - first.length, mostBulk);
  return room <= 0 ? first : [...first, ...(await claimOf(context, 1, room))];
}

function claimOf(
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
    .where('created_at', '>=', isoTime(clock.now() - GIVE_UP_MS))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit);
  return claimRows(context, {
    table: 'outbox',
    due,
    leaseMs: LEASE_MS,
    before: (tx) => failLateMail(tx, context, now),
  });
}

async function sendOne(app: App, mailer: Mailer, claimed: ClaimedMail): Promise<void> {
  const mail = claimed.content && openMail(app.secrets, claimed.id, claimed.content);
  const outcome = mail ? await mailer.send(mail) : UNREADABLE;
  // The next start sends it.
  if (outcome === CLOSED) return;
  await recordOutcome(app, claimed, outcome);
}

// Writes down what became of a mail: sent, to be tried again, or failed.

/** A mail taken for as long as the lease holds. */
type ClaimedMail = Pick<OutboxRow, 'id' | 'content' | 'attempts' | 'useful_until' | 'bulk'> & {
  lease: string;
};

/**
 * What it said goes with the end of it, whichever it is. Who has lost the lease, as the mail was taken
 * back or another has it, has no say any more, but for a success: then it did go out.
 */
export async function recordOutcome(
  app: Pick<App, 'db' | 'clock' | 'log' | 'subscribers'>,
  { id, lease, attempts: before, useful_until }: ClaimedMail,
  outcome: MailOutcome,
): Promise<void> {
  const { db, clock, log } = app;
  const attempts = before + 1;
  const { change, wait } = changeFor({ attempts, useful_until }, outcome, clock.now());
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
      await app.subscribers.publish(mailEnded, tx, [{ id, status, error, sent_at }]);
    return true;
  });
  if (!recorded) return;
  if (outcome.ok) log.info('sent mail', { mail: id, attempts });
  else
    log.warn(wait === null ? 'mail failed' : 'mail is tried again', {
      mail: id,
      attempts,
      reason: outcome.reason,
    });
}

/** `wait`: milliseconds to the next attempt; null where there is none. */
function changeFor(
  { attempts, useful_until }: Pick<ClaimedMail, 'attempts' | 'useful_until'>,
  outcome: MailOutcome,
  now: number,
): { change: Partial<OutboxRow>; wait: number | null } {
  const free = { attempts, lease: null, leased_until: null };
  const over = { ...free, content: null, due_at: null };
  if (outcome.ok)
    return {
      change: { ...over, status: 'sent', sent_at: isoTime(now), error: null },
      wait: null,
    };
  const { reason } = outcome;
  const wait = outcome.temporary ? retryAfterMs(attempts) : null;
  if (wait === null) return { change: { ...over, status: 'failed', error: reason }, wait };
  const next = isoTime(now + wait);
  if (useful_until === null || useful_until > next)
    return { change: { ...free, due_at: next, error: reason }, wait };
  const error = `${TOO_LATE}; at last, ${reason}`;
  return { change: { ...over, status: 'failed', error }, wait: null };
}
