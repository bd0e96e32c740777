/** Rules, incidents, and notifications: queries, and their JSON for the API and events. */

import { sql } from 'kysely';
import type { App } from '../app.ts';
import { fetchPage, type Page } from '../http/schemas.ts';
import { AppError } from '../lib/errors.ts';
import { type Db, lockIn, type Tx } from '../store/open.ts';
import type { AlertIncidentRow, AlertRow } from '../store/tables.generated.ts';
import { ALERT_ROW } from './alert-row.ts';
import type { News } from './alert-text.ts';
import { type ChannelId, settingFields, unconfiguredChannels } from './channels/index.ts';
import { shownName, shownSetting } from './channels/settings.ts';
import { findSubscribedEndpoints } from './channels/webhook.ts';
import { type NotificationState, withDeliveryStatus } from './delivery-status.ts';
import type {
  Alert,
  AlertIncident,
  AlertIncidentWithDetails,
  AlertNotification,
  AlertTest,
  IncidentFilters,
  IncidentNotification,
} from './schema.ts';

/** Throws `not_found`. */
export async function alertOr404(db: Db | Tx, id: string): Promise<AlertRow> {
  const query = db.selectFrom('alerts').selectAll().where('id', '=', id);
  const row = await lockIn(db, query).executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such alert rule.');
  return row;
}

/** Locks the rules of these incidents, because their emails count towards the hourly limit of each rule. */
export async function lockRulesOf(tx: Tx, incidentIds: string[]): Promise<void> {
  const rules = tx
    .selectFrom('alerts')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('alert_incidents').select('alert_id').where('id', 'in', incidentIds),
    )
    .orderBy('id');
  await lockIn(tx, rules).execute();
}

/** One page, newest first. */
export async function listAlerts(db: Db, page: Page) {
  return fetchPage(db.selectFrom('alerts').selectAll(), page);
}

/** Rules with their state and their unconfigured channels. */
export async function alertStates(
  db: Db | Tx,
  app: Pick<App, 'config' | 'mailer' | 'secrets'>,
  rows: AlertRow[],
): Promise<AlertState[]> {
  if (rows.length === 0) return [];
  const open = await db
    .selectFrom('alerts')
    .select('alerts.id')
    .where(
      'alerts.id',
      'in',
      rows.map(({ id }) => id),
    )
    // One look into the index for each rule, however many incidents are open.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('alert_incidents')
          .select('alert_incidents.id')
          .whereRef('alert_id', '=', 'alerts.id')
          // A literal, so that SQLite uses the partial index of open incidents.
          .where('status', '=', sql.lit('open' as const))
          // Incidents that are being closed no longer count.
          .where('closing_id', 'is', null),
      ),
    )
    .execute();
  const triggered = new Set(open.map(({ id }) => id));
  const hasWebhookEndpoint = (await findSubscribedEndpoints(db, 'alert.triggered')).length > 0;
  return rows.map((row) => ({
    row,
    triggered: triggered.has(row.id),
    unconfigured: unconfiguredChannels(app, row, hasWebhookEndpoint),
    settings: Object.fromEntries(
      settingFields().map((field) => [shownName(field), shownSetting(app, row, field)]),
    ),
  }));
}

/** One page, newest first; of all incidents, or of those of a rule. */
export async function listIncidents(
  db: Db,
  { limit, starting_after, ending_before, status, alert_id }: IncidentFilters & Page,
  ofAlert?: string,
) {
  const incidents = db.selectFrom('alert_incidents').selectAll();
  const all = ofAlert === undefined ? incidents : incidents.where('alert_id', '=', ofAlert);
  let query = all;
  // An incident that is being closed in a batch counts as resolved, as in the JSON.
  if (status === 'open') query = query.where('status', '=', 'open').where('closing_id', 'is', null);
  if (status === 'resolved')
    query = query.where(({ or, eb }) =>
      or([eb('status', '=', 'resolved'), eb('closing_id', 'is not', null)]),
    );
  if (alert_id) query = query.where('alert_id', '=', alert_id);
  return fetchPage(query, { limit, starting_after, ending_before }, all);
}

/** Throws `not_found`. */
export async function incidentOr404(db: Db | Tx, id: string): Promise<AlertIncidentRow> {
  const query = db.selectFrom('alert_incidents').selectAll().where('id', '=', id);
  const row = await query.executeTakeFirst();
  if (!row) throw new AppError('not_found', 'No such incident.');
  return row;
}

/** An incident can have many, each to up to 20 recipients. */
const MAX_REMINDERS_SHOWN = 50;

/** The JSON of one incident with its rule and the recipients of its notifications. */
export async function presentIncidentWithDetails(
  db: Db,
  app: Pick<App, 'config' | 'mailer' | 'secrets'>,
  row: AlertIncidentRow,
): Promise<AlertIncidentWithDetails> {
  const all = await notificationStates(db, { incidents: [row.id] });
  const reminders = all.filter(({ news }) => news === 'reminder');
  const hidden = new Set(reminders.slice(0, -MAX_REMINDERS_SHOWN));
  const notifications = all.filter((notification) => !hidden.has(notification));
  const rules = await db.selectFrom('alerts').selectAll().where('id', '=', row.alert_id).execute();
  const [state] = await alertStates(db, app, rules);
  return {
    ...presentIncident(row, []),
    monitor_id: await monitorOfRun(db, row),
    next_reminder_at: isResolved(row) ? null : row.next_reminder_at,
    alert: state ? presentAlert(state) : null,
    notifications: notifications.map((state) => ({
      ...presentNotification(state),
      type: state.news as IncidentNotification['type'],
      recipient: state.recipient,
      created_at: state.created_at,
    })),
  };
}

async function monitorOfRun(
  db: Db,
  { run_id }: Pick<AlertIncidentRow, 'run_id'>,
): Promise<string | null> {
  if (run_id === null) return null;
  const row = await db
    .selectFrom('monitor_runs')
    .innerJoin('monitors', 'monitors.id', 'monitor_id')
    .select('monitor_id')
    .where('monitor_runs.id', '=', run_id)
    .executeTakeFirst();
  return row?.monitor_id ?? null;
}

/** The notifications with their current status, in order of creation. */
export async function notificationStates(
  db: Db | Tx,
  filter: { incidents: string[]; news?: News[] } | { ids: string[] },
): Promise<NotificationState[]> {
  const [column, values] =
    'ids' in filter ? (['id', filter.ids] as const) : (['incident_id', filter.incidents] as const);
  if (values.length === 0) return [];
  let query = db.selectFrom('alert_notifications').selectAll().where(column, 'in', values);
  if ('news' in filter) query = query.where('news', 'in', filter.news!);
  const rows = await query.orderBy('id').execute();
  return withDeliveryStatus(db, rows);
}

/** The JSON of incidents, with the notifications about their opening and their end. */
export async function presentIncidents(
  db: Db | Tx,
  rows: AlertIncidentRow[],
): Promise<AlertIncident[]> {
  const incidents = rows.map(({ id }) => id);
  const all = await notificationStates(db, { incidents, news: ['triggered', 'resolved'] });
  const byIncident = Map.groupBy(all, ({ incident_id }) => incident_id);
  return rows.map((row) => presentIncident(row, byIncident.get(row.id) ?? []));
}

// The JSON of rules and incidents, in the API and in events.

/** A rule's row and the state derived for it. */
interface AlertState {
  row: AlertRow;
  triggered: boolean;
  /** Channels that currently can't deliver. */
  unconfigured: ChannelId[];
  /** The settings of channels, as responses show them. */
  settings: Record<string, unknown>;
}

export function presentAlert({ row, triggered, unconfigured, settings }: AlertState): Alert {
  const { channels, enabled, recipients, tags } = ALERT_ROW.decode(row);
  return {
    id: row.id,
    object: 'alert',
    name: row.name,
    condition: row.condition,
    threshold: row.threshold,
    channels: channels as Alert['channels'],
    unconfigured_channels: unconfigured,
    enabled,
    domain_id: row.domain_id,
    tags,
    recipients,
    reminder_hours: row.reminder_hours,
    ...(settings as Pick<Alert, 'slack_webhook_host'>),
    state: triggered ? 'triggered' : 'ok',
    last_triggered_at: row.last_triggered_at,
    created_at: row.created_at,
  };
}

function presentNotification({ channel, delivery, ...row }: NotificationState): AlertNotification {
  const { status, error, sent_at } = delivery ?? row;
  return { channel, status, error, sent_at };
}

/** Includes the recipients, because emails can fail for some of them only. */
export function presentSample(alertId: string, rows: NotificationState[]): AlertTest {
  return {
    object: 'alert_test',
    alert_id: alertId,
    notifications: rows.map((row) => ({ ...presentNotification(row), recipient: row.recipient })),
  };
}

/** Whether an incident is resolved, or is being closed in a batch. */
export const isResolved = ({ status, closing_id }: AlertIncidentRow): boolean =>
  status === 'resolved' || closing_id !== null;

function presentIncident(row: AlertIncidentRow, notifications: NotificationState[]): AlertIncident {
  return {
    id: row.id,
    object: 'alert_incident',
    alert_id: row.alert_id,
    condition: row.condition,
    threshold: row.threshold,
    subject: row.subject,
    status: isResolved(row) ? 'resolved' : 'open',
    value: JSON.parse(row.value),
    test_id: row.test_id,
    run_id: row.run_id,
    opened_at: row.opened_at,
    resolved_at: row.resolved_at,
    resolution: row.resolution as AlertIncident['resolution'],
    notifications: notifications.map(presentNotification),
  };
}
