/** Takes mail back that waits in the outbox and is of no use any more. */

import type { Tx } from '../store/open.ts';

/**
 * What is being sent at this moment may go out, and is `sent` then; where that attempt fails, no
 * other follows. `null` stands for no mail.
 */
export async function withdrawMail(
  tx: Tx,
  ids: (string | null)[],
  error = 'it was taken back: its link works no more',
): Promise<void> {
  const waiting = ids.filter((id) => id !== null);
  if (waiting.length === 0) return;
  await tx
    .updateTable('outbox')
    .set({
      status: 'failed',
      content: null,
      due_at: null,
      lease: null,
      leased_until: null,
      error,
    })
    .where('id', 'in', waiting)
    .where('status', '=', 'queued')
    .execute();
}
