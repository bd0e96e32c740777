/** Cleans up the outbox: fails emails that waited too long and deletes old ones. */

import type { App } from '../app.ts';
import { type Clock, isoTime } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { isUnleased } from '../store/leases.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import { channel } from '../store/subscribers.ts';
import type { OutboxRow } from '../store/tables.generated.ts';

/** No link in our emails works longer than this, so an older email would only confuse its recipient. */
export const MAX_MAIL_AGE_MS = 7 * DAY_MS;
/** The error of an email that expired before it could be sent. */
export const EXPIRED_MAIL_ERROR = 'it expired before it could be sent';
const RETENTION_MS = 30 * DAY_MS;

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
 * An email waits this long only if the service or outgoing mail was off. The failed emails of
 * invitations are kept without their content, so that their status stays visible.
 */
export async function expireMail(app: Pick<App, 'db' | 'clock' | 'subscribers'>): Promise<void> {
  const { db, clock } = app;
  const oldest = isoTime(clock.now() - MAX_MAIL_AGE_MS);
  await failInBatches(app, 'it could not be sent within 7 days', (query) =>
    query.where('created_at', '<', oldest),
  );
  await failInBatches(app, EXPIRED_MAIL_ERROR, (query) => expiredMail(query, clock));
  const cutoff = isoTime(clock.now() - RETENTION_MS);
  // The only dependency on the team tables: invitations show the status of their emails.
  const invitationMails = db
    .selectFrom('invitations')
    .select('mail_id')
    .where('mail_id', 'is not', null)
    .$narrowType<{ mail_id: string }>();
  const old = db
    .selectFrom('outbox')
    .select('id')
    .where('created_at', '<', cutoff)
    .where(({ eb, or, and, not }) =>
      or([
        eb('status', '=', 'sent'),
        and([eb('status', '=', 'failed'), not(eb('id', 'in', invitationMails))]),
      ]),
    );
  await deleteInSteps(db, 'outbox', old);
}

const BATCH_SIZE = 500;

type QueuedMailQuery = ReturnType<typeof queuedMail>;
const queuedMail = (db: Db | Tx) =>
  db.selectFrom('outbox').select('id').where('status', '=', 'queued');

/** Expired emails, except those being sent. */
const expiredMail = (query: QueuedMailQuery, clock: Clock): QueuedMailQuery =>
  query.where('useful_until', '<=', isoTime(clock.now())).where(isUnleased(clock));

/** Fails expired emails, so that they are not claimed. */
export async function failExpiredMail(
  tx: Tx,
  app: Pick<App, 'subscribers' | 'clock'>,
): Promise<void> {
  const expired = expiredMail(queuedMail(tx), app.clock);
  while ((await failSome(tx, app, EXPIRED_MAIL_ERROR, expired)) === BATCH_SIZE);
}

async function failInBatches(
  app: Pick<App, 'db' | 'subscribers'>,
  error: string,
  filter: (query: QueuedMailQuery) => QueuedMailQuery,
): Promise<void> {
  const failBatch = () =>
    transact(app.db, (tx) => failSome(tx, app, error, filter(queuedMail(tx))));
  while ((await failBatch()) === BATCH_SIZE);
}

async function failSome(
  tx: Tx,
  { subscribers }: Pick<App, 'subscribers'>,
  error: string,
  query: QueuedMailQuery,
): Promise<number> {
  // Another node may be claiming or failing them.
  const batch = query.orderBy('id').limit(BATCH_SIZE);
  const rows = await batch.forNoKeyUpdate().skipLocked().execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await tx
    .updateTable('outbox')
    .set({ ...FAILED, error })
    .where('id', 'in', ids)
    .execute();
  const settled = ids.map((id) => ({ id, status: FAILED.status, error, sent_at: null }));
  await subscribers.publish(mailSettled, tx, settled);
  return ids.length;
}

// Notifies others of final states, in the transaction that records them.

/** The final state of an email, except that a failed one may turn out to have been sent. */
export interface SettledMail extends Pick<OutboxRow, 'id' | 'error' | 'sent_at'> {
  status: 'sent' | 'failed';
}

/** Lets the sender of an email record its final state, because the outbox deletes it later. */
export const mailSettled = channel<[settled: SettledMail[]]>('mail ended');
