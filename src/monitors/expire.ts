/** Deletes runs as old as the events that are no longer kept, but the last of each monitor: the next is held against it. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';

export function expireRunsJob(app: App): Job {
  return { name: 'monitors.expire', tick: '0 23 * * * *', run: () => expireRuns(app) };
}

export async function expireRuns({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  const old = db
    .selectFrom('monitor_runs as run')
    .select('run.id')
    .where('run.started_at', '<', before)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('monitor_runs as later')
          .select('later.id')
          .whereRef('later.monitor_id', '=', 'run.monitor_id')
          .whereRef('later.id', '>', 'run.id'),
      ),
    );
  await deleteInBatches(db, 'monitor_runs', old);
}
