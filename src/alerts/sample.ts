/** The sample notification that tests the channels of a rule. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Db, Tx } from '../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../store/tables.generated.ts';
import { eventPayload, insertDelivery } from '../webhooks/enqueue.ts';
import type { IncidentEvent } from './alert-text.ts';
import { composeNotification } from './alert-text.ts';
import { composePost } from './channels/compose.ts';
import { channelsOf } from './channels/index.ts';
import { type OutgoingPost, sendPost } from './channels/post.ts';
import { followMove } from './channels/posts.ts';
import { findSubscribedEndpoints } from './channels/webhook.ts';
import { conditionOf, thresholdOf } from './conditions/index.ts';
import type { NotificationState } from './delivery-status.ts';
import { queueNotifications } from './notify.ts';
import { alertOr404, alertStates, notificationStates, presentAlert } from './queries.ts';
import type { AlertIncident } from './schema.ts';

const TYPE = 'alert.triggered';

/** Longer than a post takes: the request itself posts; the job does so only after a crash. */
const JOB_DELAY_MS = 90_000;

/** Returns the IDs of its notifications. Opens no incident. Call in `transact`. */
export async function sendSample(tx: Tx, app: App, alert: AlertRow): Promise<string[]> {
  const endpoints = channelsOf(alert).includes('webhook')
    ? await findSubscribedEndpoints(tx, TYPE)
    : [];
  const dueAt = isoTime(app.clock.now() + JOB_DELAY_MS);
  const ids = await queueNotifications(tx, app, sampleEvent(alert), {
    hasWebhookEndpoint: endpoints.length > 0,
    dueAt,
  });
  if (endpoints.length === 0) return ids;
  const [state] = await alertStates(tx, app, [alert]);
  const event = {
    id: app.newId('evt'),
    type: TYPE,
    livemode: 0,
    created_at: isoTime(app.clock.now()),
    data: JSON.stringify({ ...sampleIncident(app, alert), alert: presentAlert(state!) }),
  };
  await tx
    .updateTable('alert_notifications')
    .set({ event_id: event.id })
    .where('id', 'in', ids)
    .where('channel', '=', 'webhook')
    .execute();
  for (const { id: endpoint_id, held } of endpoints)
    await insertDelivery(tx, app, {
      endpoint_id,
      event_id: event.id,
      event_type: TYPE,
      round_trigger: 'test',
      sample: eventPayload(event),
      held,
    });
  return ids;
}

/**
 * Posts a sample now, with a single attempt: the user sees the outcome and can try again. `ids` come from `sendSample`.
 * Call outside of a transaction.
 */
export async function postSample(app: App, alert: AlertRow, ids: string[]): Promise<void> {
  const rows = await app.db
    .selectFrom('alert_notifications')
    .select(['id', 'channel'])
    .where('id', 'in', ids)
    .where('due_at', 'is not', null)
    .where('status', '=', 'queued')
    .execute();
  await Promise.all(rows.map((row) => postOneSample(app, alert, row)));
}

/** How often a chat may have another ID at once. */
const MAX_MOVES = 3;

async function postOneSample(
  app: App,
  alert: AlertRow,
  { id, channel }: Pick<AlertNotificationRow, 'id' | 'channel'>,
): Promise<void> {
  const attempt = async (rule: AlertRow) => {
    const notification = { ...composeNotification(app.config, sampleEvent(rule)), id };
    const post = composePost(app, channel, rule, notification);
    return { post, outcome: 'reason' in post ? post : await sendPost(app, post) };
  };
  let { post, outcome } = await attempt(alert);
  for (let moves = 0; moves < MAX_MOVES; moves++) {
    if (outcome === 'closed' || !('reason' in outcome) || outcome.movedTo === undefined) break;
    const origin = { alert_id: alert.id, channel };
    await followMove(app, origin, post as OutgoingPost, outcome.movedTo);
    ({ post, outcome } = await attempt(await alertOr404(app.db, alert.id)));
  }
  // The service is shutting down; the job posts it after the next start.
  if (outcome === 'closed') return;
  const state =
    'reason' in outcome
      ? { status: 'failed' as const, error: outcome.reason }
      : { status: 'sent' as const, sent_at: isoTime(app.clock.now()) };
  await app.db
    .updateTable('alert_notifications')
    .set({ ...state, attempts: 1, due_at: null })
    .where('id', '=', id)
    .execute();
}

/** The current notifications of the last sample of a rule; empty if there was none. */
export async function lastSample(db: Db | Tx, alertId: string): Promise<NotificationState[]> {
  const samples = db
    .selectFrom('alert_notifications')
    .where('alert_id', '=', alertId)
    .where('news', '=', 'test')
    // Only samples have no incident; this condition lets SQLite use an index.
    .where('incident_id', 'is', null);
  const last = await samples.select('created_at').orderBy('id', 'desc').limit(1).executeTakeFirst();
  if (!last) return [];
  const rows = await samples.select('id').where('created_at', '=', last.created_at).execute();
  return notificationStates(db, { ids: rows.map(({ id }) => id) });
}

const sampleEvent = (alert: AlertRow): IncidentEvent => ({
  type: 'test',
  alert,
  incident: null,
  test: null,
  run: null,
});

/** A made-up incident: its event is in test mode, and its value is marked as a sample. */
function sampleIncident({ newId, clock }: Pick<App, 'newId' | 'clock'>, alert: AlertRow) {
  const incident: AlertIncident = {
    id: newId('inc'),
    object: 'alert_incident',
    alert_id: alert.id,
    condition: alert.condition,
    threshold: alert.threshold,
    subject: 'example.com',
    status: 'open',
    value: { sample: true, ...(conditionOf(alert).sampleValue(thresholdOf(alert)) as object) },
    test_id: null,
    run_id: null,
    opened_at: isoTime(clock.now()),
    resolved_at: null,
    resolution: null,
    notifications: [],
  };
  return incident;
}
