/** Recipients of a schedule. The link in an email is all they need to unsubscribe or resubscribe. */

import type { App } from '../app.ts';
import type { Transact } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { ReportScheduleRow } from '../store/tables.generated.ts';
import { type Author, audit } from '../team/audit.ts';
import { AUDITED_SCHEDULE, cancelCopies } from './change-schedule.ts';

/** The token of a recipient's unsubscribe link, the same in every email. It is the only credential. */
export function unsubscribeToken(
  { secrets }: Pick<App, 'secrets'>,
  scheduleId: string,
  email: string,
): string {
  return secrets.token(email, `reader of ${scheduleId}`);
}

/** A recipient as the unsubscribe page shows them. */
export interface ReportRecipient {
  scheduleId: string;
  name: string;
  frequency: ReportScheduleRow['frequency'];
  email: string;
  /** When they unsubscribed; null while they are subscribed. */
  unsubscribedAt: string | null;
}

/** Throws `not_found`. */
export async function findRecipient(db: Db | Tx, token: string): Promise<ReportRecipient> {
  const query = db
    .selectFrom('report_readers as reader')
    .innerJoin('report_schedules as schedule', 'schedule.id', 'reader.schedule_id')
    .select([
      'schedule.id as scheduleId',
      'schedule.name',
      'schedule.frequency',
      'reader.email',
      'reader.left_at',
    ])
    .where('reader.token_hash', '=', sha256(token));
  const row = await lockIn(db, query, 'reader').executeTakeFirst();
  if (!row)
    throw new AppError(
      'not_found',
      'This unsubscribe link is invalid, or the report no longer exists.',
    );
  const { left_at, ...recipient } = row;
  return { ...recipient, unsubscribedAt: left_at };
}

type RecipientRequest = Author & { app: App; transact: Transact };

/** Unsubscribes a recipient and cancels their queued copies. Does nothing if they are unsubscribed. Throws `not_found`. */
export async function unsubscribeRecipient(
  author: RecipientRequest,
  token: string,
): Promise<ReportRecipient> {
  const { clock } = author.app;
  return author.transact(async (tx) => {
    const recipient = await findRecipient(tx, token);
    if (recipient.unsubscribedAt !== null) return recipient;
    const unsubscribedAt = isoTime(clock.now());
    await setUnsubscribedAt(tx, recipient, unsubscribedAt);
    await cancelCopies(tx, recipient.scheduleId, {
      recipients: [recipient.email],
      status: 'unsubscribed',
      reason: 'the recipient unsubscribed',
    });
    await audit(
      tx,
      author,
      AUDITED_SCHEDULE,
      'report_schedule.unsubscribed',
      recipient.scheduleId,
      { email: recipient.email },
    );
    return { ...recipient, unsubscribedAt };
  });
}

/** Resubscribes a recipient from the next report on. Does nothing if they are subscribed. Throws `not_found`. */
export async function resubscribeRecipient(
  author: RecipientRequest,
  token: string,
): Promise<ReportRecipient> {
  return author.transact(async (tx) => {
    const recipient = await findRecipient(tx, token);
    if (recipient.unsubscribedAt === null) return recipient;
    await setUnsubscribedAt(tx, recipient, null);
    await audit(
      tx,
      author,
      AUDITED_SCHEDULE,
      'report_schedule.resubscribed',
      recipient.scheduleId,
      { email: recipient.email },
    );
    return { ...recipient, unsubscribedAt: null };
  });
}

async function setUnsubscribedAt(
  tx: Tx,
  { scheduleId, email }: ReportRecipient,
  left_at: string | null,
) {
  await tx
    .updateTable('report_readers')
    .set({ left_at })
    .where('schedule_id', '=', scheduleId)
    .where('email', '=', email)
    .execute();
}

/** Returns which of the addresses have unsubscribed. In a transaction, nobody unsubscribes until it ends. */
export async function findUnsubscribed(
  db: Db | Tx,
  scheduleId: string,
  emails: string[],
): Promise<Set<string>> {
  const query = db
    .selectFrom('report_readers')
    .select(['email', 'left_at'])
    .where('schedule_id', '=', scheduleId)
    .where('email', 'in', emails)
    .orderBy('email');
  const rows = await lockIn(db, query).execute();
  return new Set(rows.flatMap(({ email, left_at }) => (left_at === null ? [] : email)));
}

/**
 * Stores the hash of the recipient's token, so that the link works. If the secret key has changed, the
 * new hash replaces the previous one.
 */
export async function saveRecipient(
  tx: Tx,
  app: Pick<App, 'secrets'>,
  schedule_id: string,
  email: string,
): Promise<void> {
  const token_hash = sha256(unsubscribeToken(app, schedule_id, email));
  await tx
    .insertInto('report_readers')
    .values({ schedule_id, email, token_hash, left_at: null })
    .onConflict((conflict) =>
      conflict.columns(['schedule_id', 'email']).doUpdateSet({ token_hash }),
    )
    .execute();
}
