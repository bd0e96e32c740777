/** Closes incidents whose rule went with its domain. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/append.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { transact } from '../store/after-commit.ts';
import type { Db, Tx } from '../store/open.ts';
import { presentIncidents } from './queries.ts';

export function sweepIncidentsJob(app: App): Job {
  return { name: 'alerts.sweep', tick: '0 * * * * *', run: () => sweepIncidents(app) };
}

const orphans = (db: Db | Tx) =>
  db
    .selectFrom('alert_incidents as incident')
    .selectAll()
    .where('status', '=', 'open')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('alerts').select('alerts.id').whereRef('alerts.id', '=', 'incident.alert_id'),
        ),
      ),
    );

/** Their events go without the rule, of which nothing is left, and so to no webhook. */
export async function sweepIncidents(app: App): Promise<void> {
  if ((await orphans(app.db).limit(1).execute()).length === 0) return;
  await transact(app.db, async (tx) => {
    for (const incident of await orphans(tx).execute()) {
      const change = {
        status: 'resolved' as const,
        resolved_at: isoTime(app.clock.now()),
        resolution: 'alert_deleted',
      };
      await tx.updateTable('alert_incidents').set(change).where('id', '=', incident.id).execute();
      const [data] = await presentIncidents(tx, [{ ...incident, ...change }]);
      const news = {
        type: 'alert.resolved',
        livemode: true,
        data: data!,
        webhooks: false,
      } as const;
      await appendEvent(tx, news, app);
    }
  });
}
