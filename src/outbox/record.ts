/** Writes down what became of a mail: sent, to be tried again, or failed. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry-times.ts';
import type { MailOutcome } from '../net/mailer.ts';
import { transact } from '../store/after-commit.ts';
import type { OutboxRow } from '../store/tables.ts';
import { publishEnds } from './ends.ts';
import { TOO_LATE } from './expire.ts';

/** A mail taken for as long as the lease holds. */
export type ClaimedMail = Pick<
  OutboxRow,
  'id' | 'content' | 'attempts' | 'useful_until' | 'bulk'
> & {
  lease: string;
};

/**
 * What it said goes with the end of it, whichever it is. Who has lost the lease, as the mail was taken
 * back or another has it, has no say any more, but for a success: then it did go out.
 */
export async function recordOutcome(
  app: Pick<App, 'db' | 'clock' | 'log' | 'mailEnded'>,
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
      await publishEnds(tx, [{ id, status, error, sent_at }], app);
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
