/** Takes back copies of reports that still wait, and notes with each why. */

import { withdrawMail } from '../outbox/withdraw.ts';
import type { Tx } from '../store/open.ts';

interface Withdrawal {
  /** Whose copies; everybody's where it is not given. */
  recipients?: string[];
  status: 'failed' | 'unsubscribed';
  /** Said in the outbox, and with a copy that has `failed`. */
  reason: string;
}

/** Of all runs of the schedule. What is being sent at this moment may go out, and is `sent` then. */
export async function withdrawCopies(
  tx: Tx,
  scheduleId: string,
  { recipients, status, reason }: Withdrawal,
): Promise<void> {
  let query = tx
    .selectFrom('report_copies as copy')
    .innerJoin('report_runs as run', 'run.id', 'copy.run_id')
    .innerJoin('outbox', 'outbox.id', 'copy.mail_id')
    .select('outbox.id')
    .where('run.schedule_id', '=', scheduleId)
    .where('copy.status', '=', 'queued')
    .where('outbox.status', '=', 'queued');
  if (recipients) query = query.where('copy.recipient', 'in', recipients);
  const waiting = (await query.execute()).map(({ id }) => id);
  if (waiting.length === 0) return;
  const error = `it was taken back: ${reason}`;
  await withdrawMail(tx, waiting, error);
  await tx
    .updateTable('report_copies')
    .set({ status, error: status === 'failed' ? error : null })
    .where('mail_id', 'in', waiting)
    .execute();
}
