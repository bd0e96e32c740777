/** Deletes events that are older than the retention time. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';

export function expireEventsJob(app: App): Job {
  return { name: 'events.expire', tick: '0 17 * * * *', run: () => expireEvents(app) };
}

export async function expireEvents({ db, clock, config }: App): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  const old = db.selectFrom('events').select('id').where('created_at', '<', before);
  await deleteInBatches(db, 'events', old);
}
