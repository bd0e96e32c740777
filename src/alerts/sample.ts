/** The sample that tries where the notifications of a rule go. */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import type { Tx } from '../store/open.ts';
import type { AlertRow } from '../store/watching-tables.ts';
import { insertDelivery } from '../webhooks/enqueue.ts';
import { eventPayload } from '../webhooks/payload.ts';
import { channelsOf, endpointsWanting } from './channels.ts';
import { DEFAULT_THRESHOLD, type Value } from './conditions.ts';
import { queueNotifications } from './notifications.ts';
import { presentAlert } from './present.ts';
import { alertStates } from './queries.ts';
import type { AlertIncident } from './schema.ts';

const TYPE = 'alert.triggered';

/** The ids of its notifications; no incident is opened. To be called in `transact`. */
export async function sendSample(tx: Tx, app: App, alert: AlertRow): Promise<string[]> {
  const endpoints = channelsOf(alert).includes('webhook') ? await endpointsWanting(tx, TYPE) : [];
  const occasion = { news: 'test' as const, alert, incident: null, test: null };
  const ids = await queueNotifications(tx, app, occasion, endpoints.length > 0);
  if (endpoints.length === 0) return ids;
  const [state] = await alertStates(tx, app, [alert]);
  const event = {
    id: app.newId('evt'),
    type: TYPE,
    livemode: 0,
    created_at: isoTime(app.clock.now()),
    data: JSON.stringify({ ...sampleIncident(app, alert), alert: presentAlert(state!) }),
  };
  for (const endpoint_id of endpoints)
    await insertDelivery(tx, app, {
      endpoint_id,
      event_id: event.id,
      event_type: TYPE,
      round_trigger: 'test',
      sample: eventPayload(event),
      held: false,
    });
  return ids;
}

/** As it could be, and never was: the event is not of live mode, and its value says so. */
function sampleIncident({ newId, clock }: Pick<App, 'newId' | 'clock'>, alert: AlertRow) {
  const incident: AlertIncident = {
    id: newId('inc'),
    object: 'alert_incident',
    alert_id: alert.id,
    subject: 'example.com',
    status: 'open',
    value: { sample: true, ...sampleValue(alert) },
    test_id: null,
    run_id: null,
    opened_at: isoTime(clock.now()),
    resolved_at: null,
    resolution: null,
    notifications: [],
  };
  return incident;
}

function sampleValue({ condition, threshold }: AlertRow): Value {
  const limit = threshold ?? DEFAULT_THRESHOLD;
  if (condition === 'score_below') return { score: Math.max(0, limit - 1), threshold: limit };
  return condition === 'auth_fail'
    ? { spf: 'pass', dkim: 'fail', dmarc: 'pass' }
    : { lists: [{ zone: 'list.example', name: 'A sample list', tier: 1 }] };
}
