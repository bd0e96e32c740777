/** Deletes incidents that are over, with what was said of them, as old as the events that are no longer kept; samples too. */

import { setImmediate as breathe } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { transact } from '../store/after-commit.ts';
import { deleteInBatches } from '../store/delete-in-batches.ts';
import type { Db } from '../store/open.ts';
import { keepDeliveryEnds } from './carriers.ts';

const BATCH = 200;

export function expireIncidentsJob(app: App): Job {
  return { name: 'alerts.expire', tick: '0 13 * * * *', run: () => expireIncidents(app) };
}

/** An incident that is open stays, however old; what its deliveries came to is kept with it before they go. */
export async function expireIncidents({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<void> {
  await keepDeliveryEnds(db);
  if (config.EVENT_RETENTION === 0) return;
  const before = isoTime(clock.now() - config.EVENT_RETENTION);
  while ((await deleteIncidents(db, before)) === BATCH) await breathe();
  const samples = db
    .selectFrom('alert_notifications')
    .select('id')
    .where('incident_id', 'is', null)
    .where('created_at', '<', before);
  await deleteInBatches(db, 'alert_notifications', samples);
}

async function deleteIncidents(db: Db, before: string): Promise<number> {
  return transact(db, async (tx) => {
    const old = await tx
      .selectFrom('alert_incidents')
      .select('id')
      .where('resolved_at', '<', before)
      .where('status', '=', 'resolved')
      .limit(BATCH)
      .execute();
    const ids = old.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.deleteFrom('alert_notifications').where('incident_id', 'in', ids).execute();
    await tx.deleteFrom('alert_incidents').where('id', 'in', ids).execute();
    return ids.length;
  });
}
