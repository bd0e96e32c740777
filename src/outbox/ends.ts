/** What became of mails, told in the transaction that writes it down. */

import type { Tx } from '../store/open.ts';
import type { OutboxRow } from '../store/tables.ts';

/** The end of one mail: nothing comes after it, but that one that failed may turn out to have gone. */
export interface MailEnd extends Pick<OutboxRow, 'id' | 'error' | 'sent_at'> {
  status: 'sent' | 'failed';
}

/** Called inside the transaction: whoever queued a mail keeps there what the outbox forgets later. */
export type MailEndSubscriber = (tx: Tx, ends: MailEnd[]) => Promise<void>;

/** Who hears of ends; `app.ts` passes the list, so that no feature imports upwards. */
export interface MailEndContext {
  mailEnded: MailEndSubscriber[];
}

export async function publishEnds(
  tx: Tx,
  ends: MailEnd[],
  { mailEnded }: MailEndContext,
): Promise<void> {
  for (const subscriber of mailEnded) await subscriber(tx, ends);
}
