/** Closes all incidents of a rule that is as it was no more: a few at once, many piece by piece. */

import { setImmediate as breathe } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { afterCommit, transact } from '../store/after-commit.ts';
import type { Tx } from '../store/open.ts';
import type { AlertRow } from '../store/watching-tables.ts';
import { dropLateNews } from './drop-late.ts';
import { resolveIncidents } from './incidents.ts';
import { presentAlert } from './present.ts';
import { alertStates } from './queries.ts';
import type { Alert, Resolution } from './schema.ts';
import { createTeller } from './tell.ts';

/** More would hold up others: these take a few milliseconds. */
const AT_ONCE = 25;
const CLOSE_JOB = 'alerts.close';

/**
 * Whoever changed the rule knows: there is the event, and no mail. A few are closed here; more end
 * for the rule at once, which may open others about the same, and are closed by the job in a moment.
 * `alert`: as it is from now on, or was at last. To be called in `transact`.
 */
export async function closeIncidents(
  tx: Tx,
  app: App,
  alert: AlertRow,
  resolution: Resolution,
): Promise<void> {
  const open = await openOf(tx, alert.id)
    .orderBy('id')
    .limit(AT_ONCE + 1)
    .execute();
  if (open.length === 0) return;
  const [state] = await alertStates(tx, app, [alert]);
  // With these it has none that is open.
  const presented: Alert = { ...presentAlert(state!), state: 'ok' };
  if (open.length <= AT_ONCE) {
    const resolved = await resolveIncidents(tx, app, open, resolution);
    return createTeller(tx, app).event(resolved, presented);
  }
  const id = app.newId('req');
  const closing = { id, resolution, alert: JSON.stringify(presented) };
  await tx.insertInto('alert_closings').values(closing).execute();
  const over = await tx
    .updateTable('alert_incidents')
    .set({ closing_id: id, resolution, resolved_at: isoTime(app.clock.now()) })
    .where('alert_id', '=', alert.id)
    .where('status', '=', 'open')
    .where('closing_id', 'is', null)
    .returning('id')
    .execute();
  // Nobody is told now of what is over.
  const ids = over.map((one) => one.id);
  await dropLateNews(tx, ids, resolution);
  afterCommit(tx, () => app.scheduler.wake(CLOSE_JOB));
}

const openOf = (tx: Tx, alertId: string) =>
  tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('alert_id', '=', alertId)
    .where('status', '=', 'open')
    .where('closing_id', 'is', null);

/** Woken by the change; what an end of the service has left is gone on with at the next start. */
export function closeIncidentsJob(app: App): Job {
  return { name: CLOSE_JOB, tick: '30 * * * * *', run: () => closeWaiting(app) };
}

export async function closeWaiting(app: App): Promise<void> {
  while (await closeSome(app)) await breathe();
}

/** A piece, in a transaction of its own; false where nothing is left. */
async function closeSome(app: App): Promise<boolean> {
  const closings = app.db.selectFrom('alert_closings').selectAll().orderBy('id').limit(1);
  const closing = await closings.executeTakeFirst();
  if (!closing) return false;
  await transact(app.db, async (tx) => {
    const some = await tx
      .selectFrom('alert_incidents')
      .selectAll()
      .where('closing_id', '=', closing.id)
      .where('status', '=', 'open')
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    if (some.length === 0) {
      await tx.deleteFrom('alert_closings').where('id', '=', closing.id).execute();
      return;
    }
    const resolution = closing.resolution as Resolution;
    const resolved = await resolveIncidents(tx, app, some, resolution);
    await createTeller(tx, app).event(resolved, JSON.parse(closing.alert));
  });
  return true;
}
