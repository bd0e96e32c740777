/** Puts mail into the outbox, in the transaction of what it tells of. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.ts';
import { type OutgoingMail, sealMail } from './content.ts';

export type { OutgoingMail };

/** The job that sends what is due: to wake it by. */
export const SEND_JOB = 'send mail';

/**
 * The id of the mail; null where outgoing mail is not configured. After the commit, wake `SEND_JOB`.
 * It is not sent from `usefulUntil` on, an ISO time, as when its link has run out by then. `bulk`:
 * there may be a lot of its kind, and other mail goes first.
 */
export async function queueMail(
  tx: Tx,
  { mailer, newId, clock, secrets }: Pick<App, 'mailer' | 'newId' | 'clock' | 'secrets'>,
  mail: OutgoingMail,
  usefulUntil: string | null = null,
  { bulk = false }: { bulk?: boolean } = {},
): Promise<string | null> {
  if (mailer === null) return null;
  const id = newId('mail');
  const now = isoTime(clock.now());
  await tx
    .insertInto('outbox')
    .values({
      id,
      created_at: now,
      recipient: mail.to,
      content: sealMail(secrets, id, mail),
      status: 'queued',
      attempts: 0,
      due_at: now,
      useful_until: usefulUntil,
      bulk: bulk ? 1 : 0,
    })
    .execute();
  return id;
}

export type EmailStatus = 'not_configured' | 'queued' | 'sent' | 'failed';

/** What became of the mail of an invitation; retention removes the row of none that was not sent. */
export function emailStatus(
  mailId: string | null,
  row: Pick<OutboxRow, 'status'> | undefined,
): EmailStatus {
  if (mailId === null) return 'not_configured';
  return row?.status ?? 'sent';
}
