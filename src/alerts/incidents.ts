/** Incidents: opened by the first observation that meets a condition, resolved by a later one that doesn't. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { sql } from 'kysely';
import type { App } from '../app.ts';
import { tagsOfDomains } from '../domains/queries.ts';
import type { Observation } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { cancelMail } from '../outbox/queue.ts';
import type { Job } from '../scheduler/scheduler.ts';
import {
  afterCommit,
  type Db,
  engineOf,
  lockIn,
  type PreparedParameter,
  preparedLists,
  type Tx,
  transact,
} from '../store/open.ts';
import type { Subscriber } from '../store/subscribers.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import type { News } from './alert-text.ts';
import { CONDITIONS, type ConditionId, conditionOf } from './conditions/index.ts';
import { covers, evaluateCondition, observes, resolutionOf } from './evaluate.ts';
import { createNotifier, type Notifier } from './notify.ts';
import { alertStates, presentAlert } from './queries.ts';
import { nextReminderAt, notifyOfChange } from './reminders.ts';
import type { Alert, Resolution } from './schema.ts';

/** Does nothing if one is already open, for example because of a concurrent result. */
async function openIncident(
  tx: Tx,
  app: App,
  notifier: Notifier,
  alert: AlertRow,
  { observation, value }: { observation: Observation; value: unknown },
): Promise<void> {
  const now = isoTime(app.clock.now());
  const { condition, threshold } = alert;
  const completed = (await conditionOf(alert).completeValue?.(tx, app, value)) ?? value;
  const incident: AlertIncidentRow = {
    id: app.newId('inc'),
    alert_id: alert.id,
    condition,
    threshold,
    subject: observation.subject,
    status: 'open',
    value: JSON.stringify(completed),
    test_id: observation.kind === 'test' ? observation.test.id : null,
    run_id: observation.kind === 'run' ? observation.run.id : null,
    opened_at: now,
    resolved_at: null,
    resolution: null,
    closing_id: null,
    next_reminder_at: nextReminderAt(alert, app),
  };
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('alert_incidents')
    .values(incident)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) return;
  const change = { last_triggered_at: now };
  await tx.updateTable('alerts').set(change).where('id', '=', alert.id).execute();
  await notifier.notify('triggered', { ...alert, ...change }, incident, observation);
}

/**
 * Resolves an incident and notifies every channel. Does nothing if it has been closed since.
 * `observation` is what resolves it, if anything.
 */
export async function resolveAndNotify(
  tx: Tx,
  app: App,
  notifier: Notifier,
  alert: AlertRow,
  incident: AlertIncidentRow,
  { resolution, observation }: { resolution: Resolution; observation: Observation | null },
): Promise<void> {
  const [resolved] = await resolveIncidents(tx, app, [incident], resolution);
  if (resolved) await notifier.notify('resolved', alert, resolved, observation);
}

/** Returns the updated rows of the incidents that were still open. The caller appends their events. */
export async function resolveIncidents(
  tx: Tx,
  { clock }: Pick<App, 'clock'>,
  incidents: AlertIncidentRow[],
  resolution: Resolution,
): Promise<AlertIncidentRow[]> {
  const now = isoTime(clock.now());
  const ids = incidents.map(({ id }) => id);
  const rows = await tx
    .updateTable('alert_incidents')
    .set(({ fn, val }) => ({
      status: 'resolved' as const,
      // Incidents that were marked for closing in batches already have these.
      resolved_at: fn.coalesce('resolved_at', val(now)),
      resolution: fn.coalesce('resolution', val(resolution)),
      closing_id: null,
      next_reminder_at: null,
    }))
    .where('id', 'in', ids)
    .where('status', '=', 'open')
    .returningAll()
    .execute();
  await cancelStaleNotifications(tx, ids, resolution);
  return rows.toSorted(byId);
}

/** Evaluates the rules on observations, in the transaction that stores what was observed. */
export function evaluateRules(app: App): Subscriber<[observations: Observation[]]> {
  return async (tx, observations) => {
    if (observations.length === 0) return;
    const rules = await rulesFor(tx, observations);
    if (rules.length === 0) return;
    let changes = await findChanges(tx, app, rules, observations);
    if (changes.length === 0) return;
    if (engineOf(tx) === 'postgres') {
      // Decided again with the rules locked: they may have been changed, or another observation may have opened
      // or resolved the same incident. Most observations change nothing and wait for nobody.
      const changed = new Set(changes.map(({ rule }) => rule.id));
      const locked = await lockRulesFor(tx, observations, changed);
      changes = await findChanges(tx, app, locked, observations);
    }
    const notifier = createNotifier(tx, app);
    for (const { rule, observation, ...change } of changes)
      if ('value' in change) {
        const { incident, value } = change;
        await (incident
          ? notifyOfChange(tx, app, rule, { incident, value })
          : openIncident(tx, app, notifier, rule, { observation, value }));
      } else {
        const { incident, resolution } = change;
        await resolveAndNotify(tx, app, notifier, rule, incident, { resolution, observation });
      }
  };
}

/** An incident to open or to resolve. */
type PlannedChange = { rule: AlertRow; observation: Observation } & (
  | { value: unknown; incident?: AlertIncidentRow }
  | { incident: AlertIncidentRow; resolution: Resolution }
);

async function findChanges(
  tx: Tx,
  app: App,
  rules: AlertRow[],
  observations: Observation[],
): Promise<PlannedChange[]> {
  if (rules.length === 0) return [];
  const open = await openIncidents(tx, rules, observations);
  const tags = await tagsOfDomains(
    tx,
    rules.some((rule) => rule.tags !== null) ? domainsOf(observations) : [],
  );
  const blocklistsInUse = new Set(app.blocklists.snapshot().map(({ list }) => list.zone));
  const changes: PlannedChange[] = [];
  for (const observation of observations)
    for (const rule of rules) {
      if (!observes(rule, observation)) continue;
      const incident = open.get(rule.id, observation.subject);
      if (!covers(rule, observation, tags)) {
        // The domain has lost the tags of the rule.
        if (incident && rule.tags !== null)
          changes.push({ rule, observation, incident, resolution: 'no_longer_watched' });
        continue;
      }
      // While none is open, only an observation that meets the condition changes anything.
      if (!incident && conditionOf(rule).canMeet?.(observation) === false) continue;
      const verdict = evaluateCondition(rule, observation);
      if (verdict.answer === 'yes') {
        const { value } = verdict;
        if (!incident) changes.push({ rule, observation, value });
        // Otherwise, there are no further notifications while it is open.
        else if (conditionOf(rule).isSignificantChange?.(JSON.parse(incident.value), value))
          changes.push({ rule, observation, value, incident });
      } else if (incident) {
        const { answer } = verdict;
        const resolution = resolutionOf(incident, observation, { answer, blocklistsInUse });
        if (resolution) changes.push({ rule, observation, incident, resolution });
      }
    }
  return changes;
}

const domainsOf = (observations: Observation[]): string[] => [
  ...new Set(observations.flatMap(({ domainId }) => domainId ?? [])),
];

type RuleLists = { conditions: ConditionId[]; domains: (string | null)[] };

function listsFor(observations: Observation[]): RuleLists {
  const kinds = new Set(observations.map(({ kind }) => kind));
  const conditions = CONDITIONS.filter(({ observes }) => observes.some((kind) => kinds.has(kind)));
  // With a null, because PostgreSQL allows no empty list.
  return {
    conditions: conditions.map(({ id }) => id),
    domains: [null, ...domainsOf(observations)],
  };
}

const enabledRules = (tx: Db | Tx, list: PreparedParameter<RuleLists>) =>
  tx
    .selectFrom('alerts')
    .selectAll()
    .where('enabled', '=', 1)
    .where('condition', 'in', list('conditions'))
    .where(({ eb, or }) =>
      or([eb('domain_id', 'is', null), eb('domain_id', 'in', list('domains'))]),
    );

const findEnabledRules = preparedLists(enabledRules);

/** The enabled rules that are evaluated on one of these observations, the oldest first. */
const rulesFor = async (tx: Tx, observations: Observation[]): Promise<AlertRow[]> =>
  (await findEnabledRules(tx, listsFor(observations))).toSorted(byId);

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

function lockRulesFor(tx: Tx, observations: Observation[], ids: Set<string>): Promise<AlertRow[]> {
  const lists = listsFor(observations);
  const rules = enabledRules(tx, (name) => lists[name]);
  return lockIn(tx, rules.where('id', 'in', [...ids]).orderBy('id')).execute();
}

const incidentKey = (alertId: string, subject: string): string => `${alertId} ${subject}`;

const findOpen = preparedLists(
  (tx, list: PreparedParameter<{ rules: string[]; subjects: string[] }>) =>
    tx
      .selectFrom('alert_incidents')
      .selectAll()
      // A literal, so that SQLite uses the partial index of open incidents.
      .where('status', '=', sql.lit('open' as const))
      .where('closing_id', 'is', null)
      .where('alert_id', 'in', list('rules'))
      .where('subject', 'in', list('subjects')),
);

/** The open incidents of these rules and subjects, at most one per pair. */
export async function openIncidents(
  tx: Tx,
  rules: AlertRow[],
  observations: Observation[],
): Promise<{ get(alertId: string, subject: string): AlertIncidentRow | undefined }> {
  const rows = await findOpen(tx, {
    rules: rules.map(({ id }) => id),
    subjects: observations.map(({ subject }) => subject),
  });
  const byKey = new Map(rows.map((row) => [incidentKey(row.alert_id, row.subject), row]));
  return { get: (alertId, subject) => byKey.get(incidentKey(alertId, subject)) };
}

// Closing all incidents of a rule that was changed or deleted: a few right away, many in batches.

/** One batch holds the write lock for a few milliseconds. */
const CLOSE_BATCH_SIZE = 25;
const CLOSE_JOB = 'alerts.close';

/**
 * Appends events but sends no email, because the user who changed the rule knows. A few incidents are
 * closed here. If there are more, all are marked at once, so that the rule can open new ones for the
 * same subjects, and the job closes them. `alert` is the rule after the change, or before its deletion.
 * Call in `transact`.
 */
export async function closeIncidents(
  tx: Tx,
  app: App,
  alert: AlertRow,
  resolution: Resolution,
): Promise<void> {
  const open = await openIncidentsOf(tx, alert.id)
    .orderBy('id')
    .limit(CLOSE_BATCH_SIZE + 1)
    .execute();
  if (open.length === 0) return;
  const [state] = await alertStates(tx, app, [alert]);
  // The rule has no open incident after this.
  const presented: Alert = { ...presentAlert(state!), state: 'ok' };
  if (open.length <= CLOSE_BATCH_SIZE) {
    const resolved = await resolveIncidents(tx, app, open, resolution);
    return createNotifier(tx, app).appendResolvedEvents(resolved, presented);
  }
  const id = app.newId('req');
  const closing = { id, resolution, alert: JSON.stringify(presented) };
  await tx.insertInto('alert_closings').values(closing).execute();
  const marked = await tx
    .updateTable('alert_incidents')
    .set({
      closing_id: id,
      resolution,
      resolved_at: isoTime(app.clock.now()),
      next_reminder_at: null,
    })
    .where('alert_id', '=', alert.id)
    .where('status', '=', 'open')
    .where('closing_id', 'is', null)
    .returning('id')
    .execute();
  const ids = marked.map((row) => row.id);
  await cancelStaleNotifications(tx, ids, resolution);
  afterCommit(tx, () => app.scheduler.wake(CLOSE_JOB));
}

const openIncidentsOf = (tx: Tx, alertId: string) =>
  tx
    .selectFrom('alert_incidents')
    .selectAll()
    .where('alert_id', '=', alertId)
    .where('status', '=', 'open')
    .where('closing_id', 'is', null);

/** The change of the rule wakes it. After a restart, it closes the incidents that are left. */
export function closeIncidentsJob(app: App): Job {
  return { name: CLOSE_JOB, tick: '30 * * * * *', run: () => closeMarkedIncidents(app) };
}

async function closeMarkedIncidents(app: App): Promise<void> {
  while (await closeBatch(app)) await yieldToEventLoop();
}

/** Closes one batch in its own transaction. Resolves with false if nothing is left. */
async function closeBatch(app: App): Promise<boolean> {
  const closings = app.db.selectFrom('alert_closings').selectAll().orderBy('id').limit(1);
  const closing = await closings.executeTakeFirst();
  if (!closing) return false;
  await transact(app.db, async (tx) => {
    const batch = await tx
      .selectFrom('alert_incidents')
      .selectAll()
      .where('closing_id', '=', closing.id)
      .where('status', '=', 'open')
      .orderBy('id')
      .limit(CLOSE_BATCH_SIZE)
      .execute();
    if (batch.length === 0) {
      await tx.deleteFrom('alert_closings').where('id', '=', closing.id).execute();
      return;
    }
    const resolution = closing.resolution as Resolution;
    const resolved = await resolveIncidents(tx, app, batch, resolution);
    await createNotifier(tx, app).appendResolvedEvents(resolved, JSON.parse(closing.alert));
  });
  return true;
}

// Cancelling queued notifications about the opening of a resolved incident, and reminders of it: they would look like
// a new alert.

/** Why a message was not posted. */
export const RESOLVED_BEFORE_POST =
  'the incident was resolved before this could be posted; the “Resolved” message, if any, shows how long it was open';
const RESOLVED_BEFORE_SEND =
  'the incident was resolved before this could be sent; the “Resolved” email, if any, shows how long it was open';

/** IDs per query. */
const CANCEL_BATCH_SIZE = 500;

/**
 * Cancels queued notifications of these incidents unless they are being posted. An email that is being
 * sent may still go out and is then `sent`; if that attempt fails, it isn't retried. `resolution` is
 * how the incidents were resolved, if already known.
 */
export async function cancelStaleNotifications(
  tx: Tx,
  incidentIds: string[],
  resolution: Resolution | null = null,
): Promise<void> {
  for (let first = 0; first < incidentIds.length; first += CANCEL_BATCH_SIZE) {
    const batch = incidentIds.slice(first, first + CANCEL_BATCH_SIZE);
    await staleNotifications(tx, batch)
      .set({ status: 'suppressed', due_at: null, error: RESOLVED_BEFORE_POST })
      // Only messages that are posted have a time.
      .where('due_at', 'is not', null)
      .where('lease', 'is', null)
      .execute();
    await cancelMails(tx, batch);
    const isQuiet = resolution === 'alert_changed' || resolution === 'alert_disabled';
    await cancelHeld(tx, batch, isQuiet ? ['triggered', 'reminder'] : ['reminder']);
  }
}

const staleNotifications = (tx: Tx, incidentIds: string[]) =>
  tx
    .updateTable('alert_notifications')
    .where('incident_id', 'in', incidentIds)
    .where('news', 'in', ['triggered', 'reminder'])
    .where('status', '=', 'queued');

/** A digest is sent anyway, because it also counts resolved incidents. */
async function cancelMails(tx: Tx, incidentIds: string[]): Promise<void> {
  const queuedMails = await tx
    .selectFrom('alert_notifications as notification')
    .select(['notification.id', 'notification.mail_id'])
    .where('notification.incident_id', 'in', incidentIds)
    .where('notification.channel', '=', 'email')
    .where('notification.news', 'in', ['triggered', 'reminder'])
    .where('notification.status', '=', 'queued')
    .where('notification.mail_id', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('alert_notifications as other')
            .select('other.id')
            .whereRef('other.mail_id', '=', 'notification.mail_id')
            .whereRef('other.id', '!=', 'notification.id'),
        ),
      ),
    )
    .execute();
  // An incident has an email for each recipient.
  for (let first = 0; first < queuedMails.length; first += CANCEL_BATCH_SIZE) {
    const batch = queuedMails.slice(first, first + CANCEL_BATCH_SIZE);
    const mails = batch.map(({ mail_id }) => mail_id);
    await cancelMail(tx, mails, RESOLVED_BEFORE_SEND);
    await staleNotifications(tx, incidentIds)
      .set({ status: 'suppressed', error: RESOLVED_BEFORE_SEND })
      .where(
        'id',
        'in',
        batch.map(({ id }) => id),
      )
      .execute();
  }
}

/** If no email follows about their resolution, a digest would report only the opening. */
async function cancelHeld(tx: Tx, incidentIds: string[], news: News[]): Promise<void> {
  await staleNotifications(tx, incidentIds)
    .where('news', 'in', news)
    .set({ status: 'suppressed', error: RESOLVED_BEFORE_SEND })
    .where('channel', '=', 'email')
    .where('mail_id', 'is', null)
    .execute();
}
