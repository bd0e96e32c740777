/** Takes back what would tell of the beginning of an incident that is over: it would be taken for news. */

import { withdrawMail } from '../outbox/withdraw.ts';
import type { Tx } from '../store/open.ts';
import type { Resolution } from './schema.ts';

/** Why a post is dropped. */
export const TOLD_TOO_LATE =
  'it could not be posted before the incident was over; the post of its end, where there is one, says from when until when it was open';
const MAILED_TOO_LATE =
  'it could not be sent before the incident was over; the mail of its end, where there is one, says from when until when it was open';

/** Ids in one question. */
const PIECE = 500;

/**
 * What is not told yet of these, and not being posted, is not posted any more. A mail that is being
 * sent may go out, and is `sent` then; where that attempt fails, no other follows. `resolution`: how
 * they have ended, where that is known by now.
 */
export async function dropLateNews(
  tx: Tx,
  incidentIds: string[],
  resolution: Resolution | null = null,
): Promise<void> {
  for (let first = 0; first < incidentIds.length; first += PIECE) {
    const some = incidentIds.slice(first, first + PIECE);
    await lateNews(tx, some)
      .set({ status: 'suppressed', due_at: null, error: TOLD_TOO_LATE })
      .where('channel', '=', 'slack')
      .where('lease', 'is', null)
      .execute();
    await dropMails(tx, some);
    if (resolution === 'alert_changed' || resolution === 'alert_disabled') await dropHeld(tx, some);
  }
}

const lateNews = (tx: Tx, incidentIds: string[]) =>
  tx
    .updateTable('alert_notifications')
    .where('incident_id', 'in', incidentIds)
    .where('news', '=', 'triggered')
    .where('status', '=', 'queued');

/** A mail that tells of many goes out: it says how many are over. */
async function dropMails(tx: Tx, incidentIds: string[]): Promise<void> {
  const late = await tx
    .selectFrom('alert_notifications as own')
    .select(['own.id', 'own.mail_id'])
    .where('own.incident_id', 'in', incidentIds)
    .where('own.channel', '=', 'email')
    .where('own.news', '=', 'triggered')
    .where('own.status', '=', 'queued')
    .where('own.mail_id', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('alert_notifications as other')
            .select('other.id')
            .whereRef('other.mail_id', '=', 'own.mail_id')
            .whereRef('other.id', '!=', 'own.id'),
        ),
      ),
    )
    .execute();
  // An incident has a mail for each recipient.
  for (let first = 0; first < late.length; first += PIECE) {
    const some = late.slice(first, first + PIECE);
    const mails = some.map(({ mail_id }) => mail_id);
    await withdrawMail(tx, mails, MAILED_TOO_LATE);
    await lateNews(tx, incidentIds)
      .set({ status: 'suppressed', error: MAILED_TOO_LATE })
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute();
  }
}

/** Of an end that no mail tells, the one that tells of many would tell the beginning alone. */
async function dropHeld(tx: Tx, incidentIds: string[]): Promise<void> {
  await lateNews(tx, incidentIds)
    .set({ status: 'suppressed', error: MAILED_TOO_LATE })
    .where('channel', '=', 'email')
    .where('mail_id', 'is', null)
    .execute();
}
