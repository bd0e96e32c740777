/** Writes down what became of a mail: sent, to be tried again, or failed. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry-times.ts';
import type { MailOutcome } from '../net/mailer.ts';
import type { OutboxRow } from '../store/tables.ts';
import { TOO_LATE } from './expire.ts';

/** A mail taken for as long as the lease holds. */
export type ClaimedMail = Pick<OutboxRow, 'id' | 'content' | 'attempts' | 'useful_until'> & {
  lease: string;
};

/**
 * What it said goes with the end of it, whichever it is. Who has lost the lease, as the mail was taken
 * back or another has it, has no say any more, but for a success: then it did go out.
 */
export async function recordOutcome(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  { id, lease, attempts: before, useful_until }: ClaimedMail,
  outcome: MailOutcome,
): Promise<void> {
  const attempts = before + 1;
  const now = clock.now();
  const free = { attempts, lease: null, leased_until: null };
  const over = { ...free, content: null, due_at: null };
  let wait = !outcome.ok && outcome.temporary ? retryAfterMs(attempts) : null;
  const late = wait !== null && useful_until !== null && useful_until <= isoTime(now + wait);
  if (late) wait = null;
  let change: Partial<OutboxRow>;
  if (outcome.ok) change = { ...over, status: 'sent', sent_at: isoTime(now), error: null };
  else if (wait !== null) change = { ...free, due_at: isoTime(now + wait), error: outcome.reason };
  else {
    const error = late ? `${TOO_LATE}; at last, ${outcome.reason}` : outcome.reason;
    change = { ...over, status: 'failed', error };
  }
  const { numUpdatedRows } = await db
    .updateTable('outbox')
    .set(change)
    .where('id', '=', id)
    .where((eb) => (outcome.ok ? eb('status', '!=', 'sent') : eb('lease', '=', lease)))
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return;
  if (outcome.ok) log.info('sent mail', { mail: id, attempts });
  else
    log.warn(wait === null ? 'mail failed' : 'mail is tried again', {
      mail: id,
      attempts,
      reason: outcome.reason,
    });
}
