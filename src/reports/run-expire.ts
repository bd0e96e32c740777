/** Deletes runs of long ago, with what became of their copies. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';

const KEEP_MS = 400 * 86_400_000;

export function expireReportRunsJob(app: App): Job {
  return { name: 'reports.expire', tick: '0 17 * * * *', run: () => expireReportRuns(app) };
}

export async function expireReportRuns({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  const before = isoTime(clock.now() - KEEP_MS);
  const old = db.selectFrom('report_runs').select('id').where('created_at', '<', before);
  await deleteInBatches(db, 'report_runs', old);
}
