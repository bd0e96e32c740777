/** Notifies about incidents: queues the notifications and appends the event, in the transaction of the change. */

import type { App } from '../app.ts';
import { appendEvent, type Result } from '../events/events.ts';
import { isoTime } from '../lib/clock.ts';
import { presentListed } from '../mailtests/present.ts';
import { presentRun } from '../monitors/queries.ts';
import { queueMail, SEND_JOB } from '../outbox/queue.ts';
import { afterCommit, type Db, type Tx } from '../store/open.ts';
import type {
  AlertIncidentRow,
  AlertNotificationRow,
  AlertRow,
  MonitorRunRow,
  TestRow,
} from '../store/tables.generated.ts';
import { composeNotification, type IncidentEvent, type RunSummary } from './alert-text.ts';
import {
  channelsOf,
  type EndpointsWanting,
  endpointsWanting,
  recipientsOf,
  slackUrlOf,
} from './channels.ts';
import type { TestSummary } from './conditions/condition.ts';
import { alertMail, HELD, isOverMailLimit, NO_MAIL } from './email.ts';
import { alertStates, presentAlert, presentIncidents } from './queries.ts';
import type { Alert, Channel } from './schema.ts';

type IncidentChange = 'triggered' | 'resolved';

/** Notifies about any number of incidents in one transaction; what they share is read once. */
export interface Notifier {
  /** By every channel of the rule, with the event. `result`: what opened or ended it, null where none did. */
  notify(
    type: IncidentChange,
    alert: AlertRow,
    incident: AlertIncidentRow,
    result: Result | null,
  ): Promise<void>;
  /** The event alone, and so webhooks, because the one who ended it knows. `alert`: as events have it. */
  appendEvent(incidents: AlertIncidentRow[], alert: Alert | null): Promise<void>;
}

export function createNotifier(tx: Tx, app: App): Notifier {
  const endpoints = new Map<string, Promise<EndpointsWanting>>();
  const wanting = (type: IncidentChange) => {
    const event = `alert.${type}`;
    if (!endpoints.has(event)) endpoints.set(event, endpointsWanting(tx, event));
    return endpoints.get(event)!;
  };
  return {
    async notify(type, alert, incident, result) {
      const wanted = (await wanting(type)).length > 0;
      const event = result
        ? incidentEventOf(type, alert, incident, result)
        : await findIncidentEvent(tx, type, alert, incident);
      await queueNotifications(tx, app, event, wanted);
      const [state] = await alertStates(tx, app, [alert]);
      const about = result ? resultOf(result) : await openersOf(tx, [incident]);
      await appendEvents(tx, app, type, [incident], presentAlert(state!), about);
    },
    async appendEvent(incidents, alert) {
      if (incidents.length === 0) return;
      if (alert?.channels.includes('webhook')) {
        const wanted = (await wanting('resolved')).length > 0;
        for (const incident of incidents) await noteWebhook(tx, app, incident, wanted);
      }
      const about = await openersOf(tx, incidents);
      await appendEvents(tx, app, 'resolved', incidents, alert, about);
    },
  };
}

const incidentEventOf = (
  type: IncidentChange,
  alert: AlertRow,
  incident: AlertIncidentRow,
  result: Result,
): IncidentEvent => ({
  ...{ type, alert, incident },
  test: result.kind === 'test' ? result.test : null,
  run: result.kind === 'run' ? { findings: result.run.findings, monitor: result.monitor } : null,
});

interface ResultsByIncident {
  test(incident: AlertIncidentRow): TestRow | undefined;
  run(incident: AlertIncidentRow): MonitorRunRow | undefined;
}

const resultOf = (result: Result): ResultsByIncident => ({
  test: () => (result.kind === 'test' ? result.test : undefined),
  run: () => (result.kind === 'run' ? result.run : undefined),
});

/** Where no result ended it, the one that opened it. */
async function openersOf(tx: Tx, incidents: AlertIncidentRow[]): Promise<ResultsByIncident> {
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

/** With the test or the run in list form; `alert` null: nothing is left of the rule, so to no webhook. */
async function appendEvents(
  tx: Tx,
  app: App,
  type: IncidentChange,
  incidents: AlertIncidentRow[],
  alert: Alert | null,
  about: ResultsByIncident,
): Promise<void> {
  const presented = await presentIncidents(tx, incidents);
  const webhooks = alert?.channels.includes('webhook') ?? false;
  for (const [index, incident] of incidents.entries()) {
    const [test, run] = [about.test(incident), about.run(incident)];
    const data = {
      ...presented[index]!,
      ...(alert && { alert }),
      ...(test && { test: presentListed(test, app.config) }),
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

// Notifications: one row for each recipient of mail and for each other channel.

export const NOTIFY_JOB = 'post alerts';

type New = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;

const unconfigured = (error: string): New => ({ status: 'unconfigured', error });
/** What is to be done for the channel to lead somewhere. */
const UNCONFIGURED: Record<Channel, New> = {
  email: unconfigured(NO_MAIL),
  webhook: unconfigured('no webhook endpoint that is switched on has asked for this event'),
  slack: unconfigured(
    'there is no address of Slack that can be used: give the rule a slack_webhook_url, or set DELIVERABILITY_SLACK_WEBHOOK_URL',
  ),
};

/**
 * The ids of what was written: one for each recipient of mail, one for each other channel.
 * `webhookWanted`: whether an endpoint gets the event. `slackDueAt`: when the job may post it, where
 * somebody else does so before. To be called in `transact`.
 */
export async function queueNotifications(
  tx: Tx,
  app: App,
  event: IncidentEvent,
  webhookWanted: boolean,
  slackDueAt?: string,
): Promise<string[]> {
  const { alert, incident, type } = event;
  const now = isoTime(app.clock.now());
  const of: Record<Channel, () => Promise<New[]>> = {
    email: () => queueMails(tx, app, event),
    // The deliveries of the event say what becomes of it, each with attempts of its own.
    webhook: async () => [webhookWanted ? { status: 'queued' } : UNCONFIGURED.webhook],
    slack: async () => [
      slackUrlOf(app, alert) === null
        ? UNCONFIGURED.slack
        : { status: 'queued', due_at: slackDueAt ?? now },
    ],
  };
  const ids: string[] = [];
  for (const channel of channelsOf(alert))
    for (const row of await of[channel]()) {
      const about = { incident_id: incident?.id ?? null, alert_id: alert.id, news: type, channel };
      // The same time for all: by it, those of one sample are found.
      ids.push(await insertNotification(tx, app, { ...about, ...row, created_at: now }));
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
  row: NotificationOrigin & New,
): Promise<string> {
  const id = newId('ntf');
  await tx
    .insertInto('alert_notifications')
    .values({ id, attempts: 0, ...row })
    .execute();
  return id;
}

/** That the end of an incident goes to webhooks alone. `wanted`: whether an endpoint gets the event. */
async function noteWebhook(
  tx: Tx,
  app: Pick<App, 'clock' | 'newId'>,
  { id, alert_id }: AlertIncidentRow,
  wanted: boolean,
): Promise<void> {
  await insertNotification(tx, app, {
    ...{ incident_id: id, alert_id, news: 'resolved', channel: 'webhook' },
    created_at: isoTime(app.clock.now()),
    ...(wanted ? { status: 'queued' } : UNCONFIGURED.webhook),
  });
}

async function queueMails(tx: Tx, app: App, event: IncidentEvent): Promise<New[]> {
  if (app.mailer === null) return [UNCONFIGURED.email];
  const { alert, type } = event;
  const notification = composeNotification(app.config, event);
  const rows: New[] = [];
  for (const recipient of await recipientsOf(tx, alert)) {
    if (type !== 'test' && (await isOverMailLimit(tx, app, alert.id, recipient))) {
      rows.push({ status: 'queued', recipient, error: HELD });
      continue;
    }
    const mail = alertMail(app.config, recipient, notification);
    const mail_id = await queueMail(tx, app, mail, null, { bulk: true });
    rows.push({ status: 'queued', recipient, mail_id });
  }
  return rows;
}

// What a notification is about, also for one that is written some time after the change.

export async function findIncidentEvent(
  db: Db | Tx,
  type: AlertNotificationRow['news'],
  alert: AlertRow,
  incident: AlertIncidentRow | null,
): Promise<IncidentEvent> {
  if (incident === null) return { type, alert, incident, test: null, run: null };
  const test = await (type === 'resolved' ? endingTest(db, incident) : openingTest(db, incident));
  const run = await openingRun(db, incident);
  return { type, alert, incident, test: test ?? null, run: run ?? null };
}

const SUMMARY_COLUMNS = ['id', 'checks', 'subject', 'score', 'spf', 'dkim', 'dmarc'] as const;

const openingTest = (
  db: Db | Tx,
  { test_id }: AlertIncidentRow,
): Promise<TestSummary | undefined> =>
  db.selectFrom('tests').select(SUMMARY_COLUMNS).where('id', '=', test_id).executeTakeFirst();

/** The last one of the same domain when it ended. */
function endingTest(
  db: Db | Tx,
  { test_id, subject, resolved_at }: AlertIncidentRow,
): Promise<TestSummary | undefined> | undefined {
  if (test_id === null) return undefined;
  return db
    .selectFrom('tests')
    .select(SUMMARY_COLUMNS)
    .where('from_domain', '=', subject)
    .where('livemode', '=', 1)
    .where('status', '=', 'completed')
    .where('completed_at', '<=', resolved_at)
    .orderBy('completed_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
}

async function openingRun(
  db: Db | Tx,
  { run_id }: AlertIncidentRow,
): Promise<RunSummary | undefined> {
  if (run_id === null) return undefined;
  const row = await db
    .selectFrom('monitor_runs as run')
    .innerJoin('monitors', 'monitors.id', 'run.monitor_id')
    .select(['run.findings', 'monitors.id', 'name', 'type', 'domain_id'])
    .where('run.id', '=', run_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { findings, ...monitor } = row;
  return { findings, monitor };
}
