/** Reminders: an incident that stays open is reported again, as often as its rule says. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import type { Job } from '../scheduler/scheduler.ts';
import { latestDueTime } from '../store/leases.ts';
import { type Db, lockIn, type Tx, transact } from '../store/open.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import { type IncidentEvent, MAX_REMINDER_DAYS } from './alert-text.ts';
import { channelsOf } from './channels/index.ts';
import { conditionOf } from './conditions/index.ts';
import { findIncidentEvent } from './incident-event.ts';
import { queueNotifications } from './notify.ts';
import { lockRulesOf } from './queries.ts';
import { REMINDER_HOURS } from './schema.ts';

/** Small, because each incident can send an email to many recipients. */
const BATCH_SIZE = 10;

/** When the next reminder about an open incident is due; null if the rule sends none. */
export const nextReminderAt = (
  { reminder_hours }: Pick<AlertRow, 'reminder_hours'>,
  { clock }: Pick<App, 'clock'>,
): string | null =>
  reminder_hours === null ? null : isoTime(clock.now() + reminder_hours * HOUR_MS);

/** After a change of the rule, which applies to its open incidents too. */
export async function rescheduleReminders(
  tx: Tx,
  app: Pick<App, 'clock'>,
  alert: AlertRow,
): Promise<void> {
  await tx
    .updateTable('alert_incidents')
    .set({ next_reminder_at: nextReminderAt(alert, app) })
    .where('alert_id', '=', alert.id)
    .where('status', '=', 'open')
    .execute();
}

export function remindersJob(app: App): Job {
  return { name: 'alerts.remind', tick: '45 * * * * *', run: () => sendReminders(app) };
}

/** After a time without service, each incident has one reminder. */
export async function sendReminders(app: App): Promise<void> {
  for (;;) {
    const due = await dueIncidents(app.db, app).select('id').limit(BATCH_SIZE).execute();
    if (due.length === 0) return;
    const ids = due.map(({ id }) => id);
    await transact(app.db, (tx) => remindOf(tx, app, ids));
    await yieldToEventLoop();
  }
}

/** Also those that a clock that was ahead has scheduled too late. */
const dueIncidents = (db: Db | Tx, { clock }: Pick<App, 'clock'>) =>
  db
    .selectFrom('alert_incidents')
    .where('next_reminder_at', 'is not', null)
    .where(({ or, eb }) =>
      or([
        eb('next_reminder_at', '<=', isoTime(clock.now())),
        eb('next_reminder_at', '>', latestDueTime({ db, clock }, REMINDER_HOURS.max * HOUR_MS)),
      ]),
    )
    .orderBy('next_reminder_at');

async function remindOf(tx: Tx, app: App, ids: string[]): Promise<void> {
  await lockRulesOf(tx, ids);
  // Another node may have reminded of some of them since, or they were resolved.
  const due = dueIncidents(tx, app).selectAll().where('id', 'in', ids);
  for (const incident of await lockIn(tx, due).execute()) {
    const alert = await tx
      .selectFrom('alerts')
      .selectAll()
      .where('id', '=', incident.alert_id)
      .executeTakeFirst();
    const isOpen = incident.status === 'open' && incident.closing_id === null;
    const following = alert && isOpen ? nextReminderAt(alert, app) : null;
    const event = following && (await findIncidentEvent(tx, 'reminder', alert!, incident));
    const next = event && !isLast(incident, event, following) ? following : null;
    await tx
      .updateTable('alert_incidents')
      .set({ next_reminder_at: next })
      .where('id', '=', incident.id)
      .execute();
    if (event)
      await queueReminder(tx, app, {
        ...event,
        incident: { ...event.incident!, next_reminder_at: next },
      });
  }
}

/** Only a later test of the domain would end the incident, and there may be none. */
const isLast = ({ opened_at, test_id }: AlertIncidentRow, { test }: IncidentEvent, next: string) =>
  Date.parse(next) > Date.parse(opened_at) + MAX_REMINDER_DAYS * DAY_MS ||
  (test_id !== null && test === null);

/** Stores the new value of an open incident, and sends a reminder that describes it. */
export async function notifyOfChange(
  tx: Tx,
  app: App,
  alert: AlertRow,
  { incident: before, value }: { incident: AlertIncidentRow; value: unknown },
): Promise<void> {
  const completed = (await conditionOf(alert).completeValue?.(tx, app, value)) ?? value;
  const incident = { ...before, value: JSON.stringify(completed) };
  await tx
    .updateTable('alert_incidents')
    .set({ value: incident.value })
    .where('id', '=', incident.id)
    .execute();
  await queueReminder(tx, app, { type: 'reminder', alert, incident, test: null, run: null });
}

/** Webhooks deliver changes only, and a channel that has not delivered the last news yet needs no reminder of it. */
async function queueReminder(tx: Tx, app: App, event: IncidentEvent): Promise<void> {
  const queued = await tx
    .selectFrom('alert_notifications')
    .select('channel')
    .where('incident_id', '=', event.incident!.id)
    .where('status', '=', 'queued')
    .execute();
  const waiting = new Set(queued.map(({ channel }) => channel));
  const channels = channelsOf(event.alert).filter((id) => id !== 'webhook' && !waiting.has(id));
  await queueNotifications(tx, app, event, { hasWebhookEndpoint: true, channels });
}
