/** How a channel of alert rules is declared: whether it can deliver, and which notifications it queues. */

import type { App } from '../../app.ts';
import type { Tx } from '../../store/open.ts';
import type { AlertNotificationRow, AlertRow } from '../../store/tables.generated.ts';
import type { IncidentEvent } from '../alert-text.ts';

/** Each channel has its own file, and a line in `index.ts` with its id. */
export interface Channel {
  /** For people: "Email". */
  name: string;
  /** Why nothing is sent if it is not configured, and how to configure it; follows "not sent: ". */
  unconfigured: string;
  isConfigured(app: ChannelContext, rule: AlertRow, hasWebhookEndpoint: boolean): boolean;
  /** The notifications about an event, if the channel is configured. */
  queue(tx: Tx, app: App, event: IncidentEvent, options: QueueOptions): Promise<NewNotification[]>;
}

export type ChannelContext = Pick<App, 'config' | 'mailer' | 'secrets'>;

export interface QueueOptions {
  /** When the job may post it, if the caller posts it first. Absent: now. */
  dueAt?: string;
}

export type NewNotification = Partial<AlertNotificationRow> & Pick<AlertNotificationRow, 'status'>;
