/** From rows to the rules and incidents that the API answers and that events embed. */

import type { AlertIncidentRow, AlertNotificationRow, AlertRow } from '../store/watching-tables.ts';
import type { Alert, AlertIncident, AlertNotification, AlertTest, Channel } from './schema.ts';

/** A rule with what is not in its row. */
export interface AlertState {
  row: AlertRow;
  triggered: boolean;
  /** Those of its channels that lead nowhere at present. */
  unconfigured: Channel[];
  slackHost: string | null;
}

export function presentAlert({ row, triggered, unconfigured, slackHost }: AlertState): Alert {
  return {
    id: row.id,
    object: 'alert',
    name: row.name,
    condition: row.condition,
    threshold: row.threshold,
    channels: JSON.parse(row.channels),
    unconfigured_channels: unconfigured,
    enabled: row.enabled === 1,
    domain_id: row.domain_id,
    recipients: row.recipients === null ? null : JSON.parse(row.recipients),
    slack_webhook_host: slackHost,
    state: triggered ? 'triggered' : 'ok',
    last_triggered_at: row.last_triggered_at,
    created_at: row.created_at,
  };
}

/** What became of it, by those who carry it: the outbox, or the deliveries of its event. */
export type CarrierState = Pick<AlertNotification, 'status' | 'error' | 'sent_at'>;

/** `carrier`: while it is queued, or can be sent again; null where nobody else knows better. */
export type NotificationState = AlertNotificationRow & { carrier: CarrierState | null };

function presentNotification({ channel, carrier, ...row }: NotificationState): AlertNotification {
  const { status, error, sent_at } = carrier ?? row;
  return { channel, status, error, sent_at };
}

/** With who gets it: of several recipients, one may fail. */
export function presentSample(alertId: string, rows: NotificationState[]): AlertTest {
  return {
    object: 'alert_test',
    alert_id: alertId,
    notifications: rows.map((row) => ({ ...presentNotification(row), recipient: row.recipient })),
  };
}

/** Also one that is being closed with many others. */
export const isOver = ({ status, closing_id }: AlertIncidentRow): boolean =>
  status === 'resolved' || closing_id !== null;

export function presentIncident(
  row: AlertIncidentRow,
  notifications: NotificationState[],
): AlertIncident {
  return {
    id: row.id,
    object: 'alert_incident',
    alert_id: row.alert_id,
    subject: row.subject,
    status: isOver(row) ? 'resolved' : 'open',
    value: JSON.parse(row.value),
    test_id: row.test_id,
    run_id: row.run_id,
    opened_at: row.opened_at,
    resolved_at: row.resolved_at,
    resolution: row.resolution as AlertIncident['resolution'],
    notifications: notifications.map(presentNotification),
  };
}
