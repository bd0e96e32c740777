/** Records what a post to Slack has come to: sent, tried again, failed, or no longer of use. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { retryAfterMs } from '../lib/retry-times.ts';
import { transact } from '../store/after-commit.ts';
import type { Db } from '../store/open.ts';
import type { AlertNotificationRow } from '../store/watching-tables.ts';
import type { ClaimedPost } from './claim-posts.ts';
import { dropLateNews } from './drop-late.ts';
import type { Failure } from './post-slack.ts';

/** Where the lease is another's by now, it is theirs; but what has arrived has arrived. */
export async function recordPost(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  claimed: ClaimedPost,
  failure: Failure | null,
): Promise<void> {
  const { id, lease } = claimed;
  const attempts = claimed.attempts + 1;
  const wait = failure === null || failure.final ? null : retryAfterMs(attempts);
  await db
    .updateTable('alert_notifications')
    .set({ ...stateAfter(failure, wait, clock.now()), attempts, lease: null, leased_until: null })
    .where('id', '=', id)
    .where((eb) => (failure === null ? eb('status', '!=', 'sent') : eb('lease', '=', lease)))
    .execute();
  if (wait !== null) await dropWhereOver(db, claimed);
  if (failure && !failure.suppressed)
    log.warn(wait === null ? 'posting an alert failed' : 'posting an alert is tried again', {
      notification: id,
      attempts,
      reason: failure.reason,
    });
}

type State = Partial<Pick<AlertNotificationRow, 'status' | 'due_at' | 'error' | 'sent_at'>>;

function stateAfter(failure: Failure | null, wait: number | null, now: number): State {
  if (failure === null) return { status: 'sent', due_at: null, error: null, sent_at: isoTime(now) };
  const { reason: error, suppressed } = failure;
  if (wait !== null) return { due_at: isoTime(now + wait), error };
  return { status: suppressed ? 'suppressed' : 'failed', due_at: null, error };
}

/** Its incident has ended while it was being posted: it is not tried again. */
async function dropWhereOver(db: Db, { incident_id, news }: ClaimedPost): Promise<void> {
  if (news !== 'triggered' || incident_id === null) return;
  await transact(db, async (tx) => {
    const over = await tx
      .selectFrom('alert_incidents')
      .select('id')
      .where('id', '=', incident_id)
      .where(({ or, eb }) => or([eb('status', '=', 'resolved'), eb('closing_id', 'is not', null)]))
      .executeTakeFirst();
    if (over) await dropLateNews(tx, [incident_id]);
  });
}
