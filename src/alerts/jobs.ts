/** The jobs of alert rules, including those that close and delete incidents. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { isoTime } from '../lib/clock.ts';
import { monitorAddress } from '../monitors/placement-address.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { type Db, type Tx, transact } from '../store/open.ts';
import { deleteInSteps } from '../store/queries.ts';
import { inSteps } from '../store/steps.ts';
import type { AlertIncidentRow } from '../store/tables.generated.ts';
import { sendDigestsJob } from './channels/alert-mail.ts';
import { notifyJob } from './channels/posts.ts';
import { CONDITION_IDS, CONDITIONS, type ConditionId, conditionOf } from './conditions/index.ts';
import { recordDeliveryOutcomes } from './delivery-status.ts';
import { closeIncidentsJob, resolveAndNotify, resolveIncidents } from './incidents.ts';
import { createNotifier } from './notify.ts';
import { lockRulesOf } from './queries.ts';
import { remindersJob } from './reminders.ts';

export const alertJobs = (app: App): Job[] => [
  notifyJob(app),
  closeIncidentsJob(app),
  sweepIncidentsJob(app),
  remindersJob(app),
  sendDigestsJob(app),
  expireIncidentsJob(app),
];

// Closes incidents that no later result would resolve: the subject is no longer monitored, or the rule
// was deleted.

/** Small, because each incident can send an email to many recipients. */
const SWEEP_BATCH_SIZE = 10;

function sweepIncidentsJob(app: App): Job {
  return { name: 'alerts.sweep', tick: '0 * * * * *', run: () => sweepIncidents(app) };
}

/** In batches, so that a large number doesn't block the event loop. */
export async function sweepIncidents(app: App): Promise<void> {
  for (const ids of batchesOf(await findUnwatched(app.db, app.config))) {
    await transact(app.db, (tx) => resolveUnwatched(tx, app, ids));
    await yieldToEventLoop();
  }
  while (await closeOrphans(app)) await yieldToEventLoop();
}

function batchesOf(ids: string[]): string[][] {
  const count = Math.ceil(ids.length / SWEEP_BATCH_SIZE);
  return Array.from({ length: count }, (_, i) =>
    ids.slice(i * SWEEP_BATCH_SIZE, (i + 1) * SWEEP_BATCH_SIZE),
  );
}

/**
 * IDs of open incidents from runs whose subject no enabled monitor checks anymore for their rule. With those whose
 * condition says that the subject no longer exists, such as a seed mailbox that was removed.
 */
async function findUnwatched(
  db: Db | Tx,
  config: Config,
  candidates?: string[],
): Promise<string[]> {
  let query = db
    .selectFrom('alert_incidents as incident')
    .innerJoin('alerts', 'alerts.id', 'incident.alert_id')
    .select(['incident.id', 'incident.subject', 'incident.condition', 'alerts.domain_id'])
    .where('incident.status', '=', 'open')
    .where('incident.closing_id', 'is', null)
    .where(({ or, eb }) =>
      or([eb('incident.run_id', 'is not', null), eb('incident.condition', 'in', SELF_WATCHING)]),
    );
  if (candidates) query = query.where('incident.id', 'in', candidates);
  const open = await query.orderBy('incident.id').execute();
  if (open.length === 0) return [];
  const watched = await watchedSubjects(db, config);
  const existing = await existingSubjects(db, config, open);
  return open
    .filter(({ subject, condition, domain_id }) => {
      // Of a newer version, which knows what it is about.
      if (!CONDITION_IDS.includes(condition)) return false;
      const subjects = existing.get(condition);
      return subjects ? !subjects.has(subject) : !watched.has(subjectKey(domain_id, subject));
    })
    .map(({ id }) => id);
}

/** Conditions that know which of their subjects exist. */
const SELF_WATCHING = CONDITIONS.filter(({ findWatched }) => findWatched).map(({ id }) => id);

/** By condition. */
async function existingSubjects(
  db: Db | Tx,
  config: Config,
  open: Pick<AlertIncidentRow, 'condition' | 'subject'>[],
): Promise<Map<ConditionId, Set<string>>> {
  const found = new Map<ConditionId, Set<string>>();
  for (const id of SELF_WATCHING) {
    const subjects = open.filter(({ condition }) => condition === id).map(({ subject }) => subject);
    if (subjects.length > 0)
      found.set(id, await conditionOf({ condition: id }).findWatched!(db, config, subjects));
  }
  return found;
}

/** A rule with a domain is evaluated only on monitors of that domain. */
const subjectKey = (domainId: string | null, subject: string): string =>
  `${domainId ?? ''} ${subject}`;

async function watchedSubjects(
  db: Db | Tx,
  config: Pick<Config, 'INBOX_DOMAIN'>,
): Promise<Set<string>> {
  const monitors = await db
    .selectFrom('monitors')
    .leftJoin('domains', 'domains.id', 'monitors.domain_id')
    .select(['monitors.targets', 'monitors.domain_id', 'monitors.token', 'domains.name as domain'])
    .where('monitors.enabled', '=', 1)
    .execute();
  const watched = new Set<string>();
  for (const { targets, domain_id, domain, ...monitor } of monitors) {
    const address = monitorAddress(monitor, config);
    const subjects: string[] = targets === null ? [address ?? domain ?? ''] : JSON.parse(targets);
    for (const subject of subjects) {
      watched.add(subjectKey(null, subject));
      watched.add(subjectKey(domain_id, subject));
    }
  }
  return watched;
}

async function resolveUnwatched(tx: Tx, app: App, ids: string[]): Promise<void> {
  await lockRulesOf(tx, ids);
  // Some may have been resolved, or be monitored again, since the query outside the transaction.
  const stillUnwatched = await findUnwatched(tx, app.config, ids);
  if (stillUnwatched.length === 0) return;
  const notifier = createNotifier(tx, app);
  const rows = await tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('id', 'in', stillUnwatched)
    .orderBy('id')
    .execute();
  for (const incident of rows) {
    const alert = await tx
      .selectFrom('alerts')
      .selectAll()
      .where('id', '=', incident.alert_id)
      .executeTakeFirstOrThrow();
    await resolveAndNotify(tx, app, notifier, alert, incident, {
      resolution: 'no_longer_watched',
      observation: null,
    });
  }
}

/** Closes a batch of incidents whose rule no longer exists. Resolves with false if there is none. */
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
    await createNotifier(tx, app).appendResolvedEvents(resolved, null);
  });
  return true;
}

// Deletes samples, reminders, and resolved incidents with their notifications, after the event retention period.

function expireIncidentsJob(app: App): Job {
  return { name: 'alerts.expire', tick: '0 13 * * * *', run: () => expireIncidents(app) };
}

/** Open incidents are kept. The outcome of deliveries is stored before the deliveries are deleted. */
export async function expireIncidents({
  db,
  clock,
  config,
}: Pick<App, 'db' | 'clock' | 'config'>): Promise<void> {
  await recordDeliveryOutcomes(db);
  if (config.EVENT_RETENTION === 0) return;
  const cutoff = isoTime(clock.now() - config.EVENT_RETENTION);
  await inSteps((limit) => deleteIncidents(db, cutoff, limit));
  const expired = db
    .selectFrom('alert_notifications')
    .select('id')
    .where('created_at', '<', cutoff);
  const samples = expired.where('incident_id', 'is', null);
  await deleteInSteps(db, 'alert_notifications', samples);
  const reminders = expired.where('news', '=', 'reminder').where('status', '!=', 'queued');
  await deleteInSteps(db, 'alert_notifications', reminders);
}

async function deleteIncidents(db: Db, cutoff: string, limit: number): Promise<number> {
  return transact(db, async (tx) => {
    const expired = await tx
      .selectFrom('alert_incidents')
      .select('id')
      .where('resolved_at', '<', cutoff)
      .where('status', '=', 'resolved')
      .limit(limit)
      .execute();
    const ids = expired.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.deleteFrom('alert_notifications').where('incident_id', 'in', ids).execute();
    await tx.deleteFrom('alert_incidents').where('id', 'in', ids).execute();
    return ids.length;
  });
}
