/** From rows to the rules and incidents that the API answers and that events embed. */

import { emailStatus } from '../outbox/queue.ts';
import type { AlertIncidentRow, AlertNotificationRow, AlertRow } from '../store/watching-tables.ts';
import type { Alert, AlertIncident, AlertNotification, Channel } from './schema.ts';

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

/** With what the outbox says of its mail, where it has one that is still kept. */
export type NotificationState = AlertNotificationRow & {
  mail_status: 'queued' | 'sent' | 'failed' | null;
  mail_error: string | null;
  mail_sent_at: string | null;
};

export function presentNotification(row: NotificationState): AlertNotification {
  if (row.mail_id === null) {
    const { channel, status, error, sent_at } = row;
    return { channel, status, error, sent_at };
  }
  const kept = row.mail_status === null ? undefined : { status: row.mail_status };
  return {
    channel: row.channel,
    status: emailStatus(row.mail_id, kept) as AlertNotification['status'],
    error: row.mail_error,
    sent_at: row.mail_sent_at,
  };
}

export function presentIncident(
  row: AlertIncidentRow,
  notifications: NotificationState[],
): AlertIncident {
  return {
    id: row.id,
    object: 'alert_incident',
    alert_id: row.alert_id,
    subject: row.subject,
    status: row.status,
    value: JSON.parse(row.value),
    test_id: row.test_id,
    run_id: row.run_id,
    opened_at: row.opened_at,
    resolved_at: row.resolved_at,
    resolution: row.resolution as AlertIncident['resolution'],
    notifications: notifications.map(presentNotification),
  };
}
