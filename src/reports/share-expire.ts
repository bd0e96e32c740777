/** Deletes shared reports a year after their links have ended; until then the team sees what was shared. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';

const KEEP_MS = 365 * 86_400_000;

export function expireSharesJob(app: App): Job {
  return { name: 'reports.expire_shares', tick: '0 29 * * * *', run: () => expireShares(app) };
}

/** Of the two ends that a link may have, the earlier one counts. */
export async function expireShares({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const before = isoTime(clock.now() - KEEP_MS);
  const old = db
    .selectFrom('shared_reports')
    .select('id')
    .where(({ eb, or }) => or([eb('expires_at', '<', before), eb('revoked_at', '<', before)]));
  await deleteInBatches(db, 'shared_reports', old);
}
