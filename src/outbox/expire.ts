/** Clears the outbox: mail that has waited for too long, and what was over long ago. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';
import type { Db, Tx } from '../store/open.ts';

const DAY_MS = 86_400_000;
/** No link that we send works for longer: after that a mail would only confuse. */
export const GIVE_UP_MS = 7 * DAY_MS;
/** Why what is of no use any more has failed. */
export const TOO_LATE = 'it could not be sent in time: what it says is true no longer';
const KEEP_MS = 30 * DAY_MS;

const FAILED = {
  status: 'failed',
  content: null,
  due_at: null,
  lease: null,
  leased_until: null,
} as const;

export function expireMailJob(app: App): Job {
  return { name: 'outbox.expire', tick: '0 41 * * * *', run: () => expireMail(app) };
}

/**
 * What waits for so long was never tried to the end: the service was off, or outgoing mail was. Of
 * mail that failed, that of an invitation stays, without content: who looks is told so however late.
 */
export async function expireMail({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ ...FAILED, error: 'it could not be sent within 7 days' })
    .where('status', '=', 'queued')
    .where('created_at', '<', isoTime(clock.now() - GIVE_UP_MS))
    .execute();
  await failLateMail(db, isoTime(clock.now()));
  const before = isoTime(clock.now() - KEEP_MS);
  // The one thing that this room knows of the team, whose invitations tell what became of their mail.
  const named = db
    .selectFrom('invitations')
    .select('mail_id')
    .where('mail_id', 'is not', null)
    .$narrowType<{ mail_id: string }>();
  const old = db
    .selectFrom('outbox')
    .select('id')
    .where('created_at', '<', before)
    .where(({ eb, or, and, not }) =>
      or([
        eb('status', '=', 'sent'),
        and([eb('status', '=', 'failed'), not(eb('id', 'in', named))]),
      ]),
    );
  await deleteInBatches(db, 'outbox', old);
}

/** Ends what is of no use any more, but for what is being sent. */
export async function failLateMail(db: Db | Tx, now: string): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ ...FAILED, error: TOO_LATE })
    .where('status', '=', 'queued')
    .where('useful_until', '<=', now)
    .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]))
    .execute();
}
