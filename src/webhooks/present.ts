/** From rows to the endpoints, deliveries and attempts that the API answers. */

import type { EventRow } from '../store/tables.ts';
import type {
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from '../store/webhook-tables.ts';
import { eventPayload } from './payload.ts';
import type { Attempt, ListedDelivery, WebhookDelivery, WebhookEndpoint } from './schema.ts';

export function endpointStatus({
  enabled,
  auto_disabled_at,
}: Pick<WebhookEndpointRow, 'enabled' | 'auto_disabled_at'>): WebhookEndpoint['status'] {
  if (enabled === 0) return 'disabled';
  return auto_disabled_at === null ? 'active' : 'auto_disabled';
}

/** Without the secret, which only the answers to creation and rotation have. */
export function presentEndpoint(row: WebhookEndpointRow): WebhookEndpoint {
  const { id, url, events, description, enabled, created_at } = row;
  return {
    id,
    object: 'webhook_endpoint',
    url,
    events: JSON.parse(events),
    description,
    enabled: enabled === 1,
    status: endpointStatus(row),
    created_at,
  };
}

/** With the mode of its event; null where that is no longer kept, or a sample. */
export interface DeliveryState extends WebhookDeliveryRow {
  event_livemode: number | null;
}

/** The list form: without payload and attempts. */
export function presentListed(row: DeliveryState): ListedDelivery {
  const { id, endpoint_id, event_id, event_type, status, created_at } = row;
  return {
    id,
    object: 'webhook_delivery',
    endpoint_id,
    event_id,
    event_type: event_type as ListedDelivery['event_type'],
    livemode: livemodeOf(row),
    status,
    // While an attempt is under way, `due_at` is the end of its lease.
    next_attempt_at: row.lease === null ? row.due_at : null,
    created_at,
  };
}

function livemodeOf({ sample, event_livemode }: DeliveryState): boolean | null {
  if (sample !== null) return false;
  return event_livemode === null ? null : event_livemode === 1;
}

/** What belongs to one delivery; `event` is null for a sample, and where it is no longer kept. */
export interface WholeDelivery {
  row: DeliveryState;
  event: EventRow | null;
  /** In the order in which they were made. */
  attempts: WebhookAttemptRow[];
}

/** The payload of an event is for its own mode alone, as the event itself is. */
export function presentDelivery(
  { row, event, attempts }: WholeDelivery,
  livemode: boolean,
): WebhookDelivery {
  const visible = event !== null && (event.livemode === 1) === livemode;
  return {
    ...presentListed(row),
    payload: row.sample ?? (visible ? eventPayload(event) : null),
    attempts: attempts.map(presentAttempt),
  };
}

function presentAttempt(row: WebhookAttemptRow): Attempt {
  const { number, trigger, started_at, duration_ms, url, response_status, response_body, error } =
    row;
  return {
    number,
    trigger: trigger as Attempt['trigger'],
    started_at,
    duration_ms,
    url,
    request_headers: JSON.parse(row.request_headers),
    response_status,
    response_headers: row.response_headers && JSON.parse(row.response_headers),
    response_body,
    error,
  };
}
