/** The scheduled jobs of alert rules; here are those that end and delete incidents. */

import { setImmediate as breathe } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import { deleteInBatches } from '../store/queries.ts';
import { keepDeliveryEnds } from './delivery-status.ts';
import { sendDigestsJob } from './email.ts';
import { closeIncidentsJob, endIncident, resolveIncidents } from './incidents.ts';
import { createNotifier } from './notify.ts';
import { notifyJob } from './slack.ts';

export const alertJobs = (app: App): Job[] => [
  notifyJob(app),
  closeIncidentsJob(app),
  sweepIncidentsJob(app),
  sendDigestsJob(app),
  expireIncidentsJob(app),
];

// Ends incidents that no later result would end: nobody looks any more, or their rule is gone.

/** Each may be mailed to many recipients. */
const SWEEP_BATCH_SIZE = 10;

function sweepIncidentsJob(app: App): Job {
  return { name: 'alerts.sweep', tick: '0 * * * * *', run: () => sweepIncidents(app) };
}

/** Piece by piece, so that many never stop the process. */
export async function sweepIncidents(app: App): Promise<void> {
  for (const ids of batchesOf(await unwatched(app.db))) {
    await transact(app.db, (tx) => endUnwatched(tx, app, ids));
    await breathe();
  }
  while (await closeOrphans(app)) await breathe();
}

function batchesOf(ids: string[]): string[][] {
  const count = Math.ceil(ids.length / SWEEP_BATCH_SIZE);
  return Array.from({ length: count }, (_, i) =>
    ids.slice(i * SWEEP_BATCH_SIZE, (i + 1) * SWEEP_BATCH_SIZE),
  );
}

/** Those that a run opened, of subjects that no enabled monitor looks at for their rule any more. */
async function unwatched(db: Db | Tx, among?: string[]): Promise<string[]> {
  let query = db
    .selectFrom('alert_incidents as incident')
    .innerJoin('alerts', 'alerts.id', 'incident.alert_id')
    .select(['incident.id', 'incident.subject', 'alerts.domain_id'])
    .where('incident.status', '=', 'open')
    .where('incident.closing_id', 'is', null)
    .where('incident.run_id', 'is not', null);
  if (among) query = query.where('incident.id', 'in', among);
  const open = await query.orderBy('incident.id').execute();
  if (open.length === 0) return [];
  const watched = await watchedSubjects(db);
  return open
    .filter(({ subject, domain_id }) => !watched.has(subjectKey(domain_id, subject)))
    .map(({ id }) => id);
}

/** A rule of a domain hears of the monitors of that domain alone. */
const subjectKey = (domainId: string | null, subject: string): string =>
  `${domainId ?? ''} ${subject}`;

async function watchedSubjects(db: Db | Tx): Promise<Set<string>> {
  const monitors = await db
    .selectFrom('monitors')
    .leftJoin('domains', 'domains.id', 'monitors.domain_id')
    .select(['monitors.targets', 'monitors.domain_id', 'domains.name as domain'])
    .where('monitors.enabled', '=', 1)
    .where('monitors.type', '!=', 'placement')
    .execute();
  const watched = new Set<string>();
  for (const { targets, domain_id, domain } of monitors) {
    const subjects: string[] = targets === null ? [domain ?? ''] : JSON.parse(targets);
    for (const subject of subjects) {
      watched.add(subjectKey(null, subject));
      watched.add(subjectKey(domain_id, subject));
    }
  }
  return watched;
}

async function endUnwatched(tx: Tx, app: App, ids: string[]): Promise<void> {
  // One may have been ended, or be looked at again, since they were found.
  const still = await unwatched(tx, ids);
  if (still.length === 0) return;
  const notifier = createNotifier(tx, app);
  const rows = await tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', 'in', still)
    .orderBy('id')
    .execute();
  for (const incident of rows) {
    const alert = await tx
      .selectFrom('alerts')
      .selectAll()
      .where('id', '=', incident.alert_id)
      .executeTakeFirstOrThrow();
    await endIncident(tx, app, notifier, alert, incident, {
      resolution: 'no_longer_watched',
      result: null,
    });
  }
}

/** Of those whose rule went without them, as with its domain before that closed them; false: none is left. */
async function closeOrphans(app: App): Promise<boolean> {
  const orphans = (db: Db | Tx) =>
    db
      .selectFrom('alert_incidents as incident')
      .selectAll()
      .where('status', '=', 'open')
      .where('closing_id', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('alerts')
              .select('alerts.id')
              .whereRef('alerts.id', '=', 'incident.alert_id'),
          ),
        ),
      )
      .limit(SWEEP_BATCH_SIZE);
  if ((await orphans(app.db).limit(1).execute()).length === 0) return false;
  await transact(app.db, async (tx) => {
    const resolved = await resolveIncidents(tx, app, await orphans(tx).execute(), 'alert_deleted');
    await createNotifier(tx, app).appendEvent(resolved, null);
  });
  return true;
}

// Deletes incidents that are over, with what was said of them, as old as the events that are no longer kept; samples too.

const EXPIRE_BATCH_SIZE = 200;

function expireIncidentsJob(app: App): Job {
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
  while ((await deleteIncidents(db, before)) === EXPIRE_BATCH_SIZE) await breathe();
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
      .limit(EXPIRE_BATCH_SIZE)
      .execute();
    const ids = old.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.deleteFrom('alert_notifications').where('incident_id', 'in', ids).execute();
    await tx.deleteFrom('alert_incidents').where('id', 'in', ids).execute();
    return ids.length;
  });
}
