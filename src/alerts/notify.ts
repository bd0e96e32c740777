/** Queues the notifications about an incident and appends its event, in the transaction of the change. */

import type { App } from '../app.ts';
import { appendEvent } from '../events/events.ts';
import type { Observation } from '../events/observations.ts';
import { isoTime } from '../lib/clock.ts';
import { presentListed } from '../mailtests/present.ts';
import { readTags } from '../mailtests/tags.ts';
import { presentRun } from '../monitors/queries.ts';
import { SEND_JOB } from '../outbox/queue.ts';
import { afterCommit, type Tx } from '../store/open.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  MonitorRunRow,
  TestRow,
} from '../store/tables.generated.ts';
import type { IncidentEvent } from './alert-text.ts';
import type { NewNotification } from './channels/channel.ts';
import {
  CHANNELS,
  type ChannelId,
  channelsOf,
  isKnownChannel,
  unconfiguredChannels,
} from './channels/index.ts';
import { findSubscribedEndpoints, type SubscribedEndpoints } from './channels/webhook.ts';
import { findIncidentEvent } from './incident-event.ts';
import { alertStates, presentAlert, presentIncidents } from './queries.ts';
import type { Alert } from './schema.ts';

type IncidentChange = 'triggered' | 'resolved';

/** Notifies about any number of incidents in one transaction and caches what they share. */
export interface Notifier {
  /** Notifies through every channel and appends the event. `observation`: what opened or resolved it, if any. */
  notify(
    type: IncidentChange,
    alert: AlertRow,
    incident: AlertIncidentRow,
    observation: Observation | null,
  ): Promise<void>;
  /** Only appends resolved events. `alert`: the rule as events show it. */
  appendResolvedEvents(incidents: AlertIncidentRow[], alert: Alert | null): Promise<void>;
}

export function createNotifier(tx: Tx, app: App): Notifier {
  const endpoints = new Map<string, Promise<SubscribedEndpoints>>();
  const hasEndpoint = async (type: IncidentChange): Promise<boolean> => {
    const event = `alert.${type}`;
    if (!endpoints.has(event)) endpoints.set(event, findSubscribedEndpoints(tx, event));
    return (await endpoints.get(event)!).length > 0;
  };
  return {
    async notify(type, alert, incident, observation) {
      const hasWebhookEndpoint = await hasEndpoint(type);
      const event = observation
        ? incidentEventOf(type, alert, incident, observation)
        : await findIncidentEvent(tx, type, alert, incident);
      await queueNotifications(tx, app, event, { hasWebhookEndpoint });
      const [state] = await alertStates(tx, app, [alert]);
      const results = observation ? resultOf(observation) : await openingResults(tx, [incident]);
      await appendEvents(tx, app, type, [incident], presentAlert(state!), results);
    },
    async appendResolvedEvents(incidents, alert) {
      if (incidents.length === 0) return;
      if (alert?.channels.includes('webhook')) {
        const hasWebhookEndpoint = await hasEndpoint('resolved');
        for (const incident of incidents)
          await insertWebhookRow(tx, app, incident, hasWebhookEndpoint);
      }
      const results = await openingResults(tx, incidents);
      await appendEvents(tx, app, 'resolved', incidents, alert, results);
    },
  };
}

const incidentEventOf = (
  type: IncidentChange,
  alert: AlertRow,
  incident: AlertIncidentRow,
  observation: Observation,
): IncidentEvent => ({
  type,
  alert,
  incident,
  test: observation.kind === 'test' ? observation.test : null,
  run:
    observation.kind === 'run'
      ? { findings: observation.run.findings, monitor: observation.monitor }
      : null,
});

interface ResultsByIncident {
  test(incident: AlertIncidentRow): TestRow | undefined;
  run(incident: AlertIncidentRow): MonitorRunRow | undefined;
}

const resultOf = (observation: Observation): ResultsByIncident => ({
  test: () => (observation.kind === 'test' ? observation.test : undefined),
  run: () => (observation.kind === 'run' ? observation.run : undefined),
});

/** The results that opened these incidents, for events of incidents that no result resolved. */
async function openingResults(tx: Tx, incidents: AlertIncidentRow[]): Promise<ResultsByIncident> {
  const testIds = incidents.flatMap(({ test_id }) => test_id ?? []);
  const runIds = incidents.flatMap(({ run_id }) => run_id ?? []);
  const tests =
    testIds.length === 0
      ? []
      : await tx.selectFrom('tests').selectAll().where('id', 'in', testIds).execute();
  const runs =
    runIds.length === 0
      ? []
      : await tx.selectFrom('monitor_runs').selectAll().where('id', 'in', runIds).execute();
  const [testOf, runOf] = [byId(tests), byId(runs)];
  return {
    test: ({ test_id }) => testOf.get(test_id ?? ''),
    run: ({ run_id }) => runOf.get(run_id ?? ''),
  };
}

const byId = <Row extends { id: string }>(rows: Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

/** Embeds the test or run as lists show it. If the rule was deleted, no webhook receives the event. */
async function appendEvents(
  tx: Tx,
  app: App,
  type: IncidentChange,
  incidents: AlertIncidentRow[],
  alert: Alert | null,
  results: ResultsByIncident,
): Promise<void> {
  const presented = await presentIncidents(tx, incidents);
  const webhooks = alert?.channels.includes('webhook') ?? false;
  const testIds = incidents.flatMap((incident) => results.test(incident)?.id ?? []);
  const tags = await readTags(tx, testIds);
  for (const [index, incident] of incidents.entries()) {
    const [test, run] = [results.test(incident), results.run(incident)];
    const data = {
      ...presented[index]!,
      ...(alert && { alert }),
      ...(test && { test: presentListed(test, app.config, tags.get(test.id) ?? []) }),
      ...(run && { monitor_run: presentRun(run) }),
    };
    const event = { type: `alert.${type}`, livemode: true, data, webhooks } as const;
    const { id } = await appendEvent(tx, event, app);
    if (webhooks)
      await tx
        .updateTable('alert_notifications')
        .set({ event_id: id })
        .where('incident_id', '=', incident.id)
        .where('channel', '=', 'webhook')
        .where('news', '=', type)
        .execute();
  }
}

// Notification rows: one per email recipient, and one for each other channel.

export const NOTIFY_JOB = 'post alerts';

const unconfigured = (id: ChannelId): NewNotification => ({
  status: 'unconfigured',
  error: isKnownChannel(id)
    ? (CHANNELS[id].unconfigured ??
      `${CHANNELS[id].name} is not set up: add its settings to the rule`)
    : 'this version of the program does not know the channel',
});

interface QueueOptions {
  /** Whether an endpoint receives the event. */
  hasWebhookEndpoint: boolean;
  /** When the job may post it, if the caller posts it first. */
  dueAt?: string;
  /** By default, all of the rule. */
  channels?: ChannelId[];
}

/** Returns the IDs of the new rows. Call in `transact`. */
export async function queueNotifications(
  tx: Tx,
  app: App,
  event: IncidentEvent,
  { hasWebhookEndpoint, dueAt, channels = channelsOf(event.alert) }: QueueOptions,
): Promise<string[]> {
  const { alert, incident, type } = event;
  const now = isoTime(app.clock.now());
  const ids: string[] = [];
  const missing = unconfiguredChannels(app, alert, hasWebhookEndpoint);
  for (const channel of channels) {
    const rows = missing.includes(channel)
      ? [unconfigured(channel)]
      : ((await CHANNELS[channel].queue?.(tx, app, event)) ?? [
          { status: 'queued', due_at: dueAt ?? now },
        ]);
    for (const row of rows) {
      const origin = { incident_id: incident?.id ?? null, alert_id: alert.id, news: type, channel };
      // `lastSample` finds the rows of a sample by their common time.
      ids.push(await insertNotification(tx, app, { ...origin, ...row, created_at: now }));
    }
  }
  afterCommit(tx, () => {
    app.scheduler.wake(SEND_JOB);
    app.scheduler.wake(NOTIFY_JOB);
  });
  return ids;
}

type NotificationOrigin = Pick<
  AlertNotificationRow,
  'incident_id' | 'alert_id' | 'news' | 'channel' | 'created_at'
>;

async function insertNotification(
  tx: Tx,
  { newId }: Pick<App, 'newId'>,
  row: NotificationOrigin & NewNotification,
): Promise<string> {
  const id = newId('ntf');
  await tx
    .insertInto('alert_notifications')
    .values({ id, attempts: 0, ...row })
    .execute();
  return id;
}

/** For a resolution that only webhooks report. */
async function insertWebhookRow(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId'>,
  { id, alert_id }: AlertIncidentRow,
  hasWebhookEndpoint: boolean,
): Promise<void> {
  await insertNotification(tx, app, {
    incident_id: id,
    alert_id,
    news: 'resolved',
    channel: 'webhook',
    created_at: isoTime(app.clock.now()),
    ...(hasWebhookEndpoint ? { status: 'queued' } : unconfigured('webhook')),
  });
}
