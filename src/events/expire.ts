/** Deletes events that are older than the retention time. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';

const BATCH = 1000;

export function expireEventsJob(app: App): Job {
  return { name: 'events.expire', tick: '0 17 * * * *', run: () => expireEvents(app) };
}

/** In batches, so that a large backlog never stops the process. */
export async function expireEvents({ db, clock, config }: App): Promise<void> {
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  for (;;) {
    const old = db.selectFrom('events').select('id').where('created_at', '<', before).limit(BATCH);
    const { numDeletedRows } = await db
      .deleteFrom('events')
      .where('id', 'in', old)
      .executeTakeFirstOrThrow();
    if (numDeletedRows < BATCH) return;
  }
}
