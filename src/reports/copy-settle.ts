/** Writes down what became of the copies of reports, long before the outbox forgets, and deletes runs of long ago. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';
import type { Db } from '../store/open.ts';
import { FORGOTTEN } from './run-present.ts';

const KEEP_MS = 400 * 86_400_000;
const BATCH = 500;

export function settleCopiesJob(app: App): Job {
  return { name: 'reports.settle', tick: '0 17 * * * *', run: () => settleCopies(app) };
}

export async function settleCopies({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<void> {
  while ((await settleSome(db)) === BATCH);
  const before = isoTime(clock.now() - KEEP_MS);
  const old = db.selectFrom('report_runs').select('id').where('created_at', '<', before);
  await deleteInBatches(db, 'report_runs', old);
}

/** How many of the copies whose mail has come to its end were written down. */
async function settleSome(db: Db): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const ended = await tx
      .selectFrom('report_copies as copy')
      .leftJoin('outbox', 'outbox.id', 'copy.mail_id')
      .select(['copy.run_id', 'copy.recipient', 'outbox.status', 'outbox.error', 'outbox.sent_at'])
      .where('copy.status', '=', 'queued')
      .where(({ or, eb }) =>
        or([eb('outbox.status', 'is', null), eb('outbox.status', '!=', 'queued')]),
      )
      .limit(BATCH)
      .execute();
    for (const { run_id, recipient, status, error, sent_at } of ended)
      await tx
        .updateTable('report_copies')
        .set(status === null ? { status: 'failed', error: FORGOTTEN } : { status, error, sent_at })
        .where('run_id', '=', run_id)
        .where('recipient', '=', recipient)
        .execute();
    return ended.length;
  });
}
