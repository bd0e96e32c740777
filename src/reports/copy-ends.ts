/** What became of the copies of a report, kept with them: the outbox forgets its mail after a month. */

import type { MailEndSubscriber } from '../outbox/ends.ts';

/** Of one that its reader has left meanwhile, it counts only that it had gone out already. */
export const keepCopyEnds: MailEndSubscriber = async (tx, ends) => {
  for (const { id, status, error, sent_at } of ends)
    await tx
      .updateTable('report_copies')
      .set({ status, error, sent_at })
      .where('mail_id', '=', id)
      .$if(status === 'failed', (update) => update.where('status', '=', 'queued'))
      .execute();
};
