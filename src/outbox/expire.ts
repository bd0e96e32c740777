/** Clears the outbox: mail that has waited for too long, and what was sent long ago. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';

const DAY_MS = 86_400_000;
/** No link that we send works for longer: after that a mail would only confuse. */
export const GIVE_UP_MS = 7 * DAY_MS;
const KEEP_SENT_MS = 30 * DAY_MS;
const BATCH = 1000;

export function expireMailJob(app: App): Job {
  return { name: 'outbox.expire', tick: '0 41 * * * *', run: () => expireMail(app) };
}

/**
 * What waits for so long was never tried to the end: the service was off, or outgoing mail was. The
 * rows of mail that failed stay, without content: who waits for one is told so however late they look.
 */
export async function expireMail({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  await db
    .updateTable('outbox')
    .set({
      status: 'failed',
      content: null,
      due_at: null,
      lease: null,
      leased_until: null,
      error: 'it could not be sent within 7 days',
    })
    .where('status', '=', 'queued')
    .where('created_at', '<', isoTime(clock.now() - GIVE_UP_MS))
    .execute();
  const before = isoTime(clock.now() - KEEP_SENT_MS);
  for (;;) {
    const old = db
      .selectFrom('outbox')
      .select('id')
      .where('status', '=', 'sent')
      .where('created_at', '<', before)
      .limit(BATCH);
    const { numDeletedRows } = await db
      .deleteFrom('outbox')
      .where('id', 'in', old)
      .executeTakeFirstOrThrow();
    if (numDeletedRows < BATCH) return;
  }
}
