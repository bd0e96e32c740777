/** Clears the outbox: mail that has waited for too long, and what was over long ago. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import { channel } from '../store/subscribers.ts';
import type { OutboxRow } from '../store/tables.generated.ts';

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
export async function expireMail(app: Pick<App, 'db' | 'clock' | 'subscribers'>): Promise<void> {
  const { db, clock } = app;
  const oldest = isoTime(clock.now() - GIVE_UP_MS);
  await failInBatches(app, 'it could not be sent within 7 days', (query) =>
    query.where('created_at', '<', oldest),
  );
  await failInBatches(app, TOO_LATE, (query) => tooLate(query, isoTime(clock.now())));
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

const BATCH = 500;

type Queued = ReturnType<typeof queued>;
const queued = (db: Db | Tx) => db.selectFrom('outbox').select('id').where('status', '=', 'queued');

/** What is of no use any more, but for what is being sent. */
const tooLate = (query: Queued, now: string): Queued =>
  query
    .where('useful_until', '<=', now)
    .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<', now)]));

/** Ends some of what is of no use any more, so that it is not claimed. */
export async function failLateMail(
  tx: Tx,
  app: Pick<App, 'subscribers'>,
  now: string,
): Promise<void> {
  while ((await failSome(tx, app, TOO_LATE, tooLate(queued(tx), now))) === BATCH);
}

async function failInBatches(
  app: Pick<App, 'db' | 'subscribers'>,
  error: string,
  which: (query: Queued) => Queued,
): Promise<void> {
  const some = () => transact(app.db, (tx) => failSome(tx, app, error, which(queued(tx))));
  while ((await some()) === BATCH);
}

async function failSome(
  tx: Tx,
  { subscribers }: Pick<App, 'subscribers'>,
  error: string,
  which: Queued,
): Promise<number> {
  const ids = (await which.limit(BATCH).execute()).map(({ id }) => id);
  if (ids.length === 0) return 0;
  await tx
    .updateTable('outbox')
    .set({ ...FAILED, error })
    .where('id', 'in', ids)
    .execute();
  const ends = ids.map((id) => ({ id, status: FAILED.status, error, sent_at: null }));
  await subscribers.publish(mailEnded, tx, ends);
  return ids.length;
}

// What became of mails, told in the transaction that writes it down.

/** The end of one mail: nothing comes after it, but that one that failed may turn out to have gone. */
export interface MailEnd extends Pick<OutboxRow, 'id' | 'error' | 'sent_at'> {
  status: 'sent' | 'failed';
}

/** Whoever queued a mail keeps what the outbox forgets later, in the transaction that records its end. */
export const mailEnded = channel<[ends: MailEnd[]]>('mail ended');
