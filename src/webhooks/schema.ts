/** Webhook endpoints and deliveries as the API takes and answers them (contract §9). */

import * as v from 'valibot';
import { EVENT_TYPES } from '../events/events.ts';
import { PAGE, QueryTime, queryInteger, Time } from '../http/schemas.ts';
import type {
  EventRow,
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from '../store/tables.generated.ts';
import { EndpointUrl } from './endpoint-url.ts';
import { eventPayload } from './enqueue.ts';

/** Stands for all types, those to come too. */
const ALL_TYPES = '*';
const WANTED_TYPES = [...EVENT_TYPES, ALL_TYPES] as const;

const Wanted = v.pipe(
  v.array(
    v.picklist(WANTED_TYPES, `must be one of ${EVENT_TYPES.join(', ')}, or * for all`),
    'must be a list of types',
  ),
  v.minLength(1, 'must name a type at least; ["*"] is all of them'),
  v.maxLength(EVENT_TYPES.length, `must name at most ${EVENT_TYPES.length} types`),
  v.check((types) => new Set(types).size === types.length, 'must name each type once'),
  v.transform((types) => (types.includes(ALL_TYPES) ? [ALL_TYPES] : types)),
);

const DESCRIPTION_MAX = 500;
const Description = v.pipe(
  v.string('must be text'),
  v.maxLength(DESCRIPTION_MAX, `must have at most ${DESCRIPTION_MAX} characters`),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must have no control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
);
const Enabled = v.boolean('must be true or false');

export const NewEndpoint = v.strictObject({
  url: EndpointUrl,
  events: Wanted,
  description: v.optional(v.nullable(Description)),
  enabled: v.optional(Enabled, true),
});
export type NewEndpoint = v.InferOutput<typeof NewEndpoint>;

export const EndpointPatch = v.strictObject({
  url: v.optional(EndpointUrl),
  events: v.optional(Wanted),
  description: v.optional(v.nullable(Description)),
  enabled: v.optional(Enabled),
});
export type EndpointPatch = v.InferOutput<typeof EndpointPatch>;

const ENDPOINT = {
  id: v.string(),
  object: v.literal('webhook_endpoint'),
  url: v.string(),
  events: v.array(v.picklist(WANTED_TYPES)),
  description: v.nullable(v.string()),
  enabled: v.boolean(),
  status: v.picklist(['active', 'disabled', 'auto_disabled']),
  created_at: Time,
};
export const WebhookEndpoint = v.object(ENDPOINT);
export type WebhookEndpoint = v.InferOutput<typeof WebhookEndpoint>;
/** The answers to creation and rotation alone have the secret. */
export const EndpointWithSecret = v.object({ ...ENDPOINT, secret: v.string() });

export const EndpointListQuery = v.strictObject(PAGE);

const OVERLAP_MAX = 7 * 86_400;
const OVERLAP_DEFAULT = 86_400;

export const Rotation = v.strictObject({
  overlap: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(OVERLAP_MAX, `must be at most ${OVERLAP_MAX}`),
    ),
    OVERLAP_DEFAULT,
  ),
});

/** Taken in any form that a time in a query has. */
export const RecoveryRequest = v.strictObject({ since: QueryTime });
export const WebhookRecovery = v.object({
  object: v.literal('webhook_recovery'),
  endpoint_id: v.string(),
  since: Time,
  recovered: v.pipe(v.number(), v.integer()),
});
export type WebhookRecovery = v.InferOutput<typeof WebhookRecovery>;

const STATUSES = ['pending', 'succeeded', 'failed', 'held'] as const;

const Attempt = v.object({
  number: v.pipe(v.number(), v.integer()),
  trigger: v.picklist(['event', 'test', 'resend', 'recover', 'retry']),
  started_at: Time,
  duration_ms: v.nullable(v.pipe(v.number(), v.integer())),
  url: v.string(),
  request_headers: v.record(v.string(), v.string()),
  response_status: v.nullable(v.pipe(v.number(), v.integer())),
  response_headers: v.nullable(v.record(v.string(), v.string())),
  response_body: v.nullable(v.string()),
  error: v.nullable(v.string()),
});
type Attempt = v.InferOutput<typeof Attempt>;

const LISTED = {
  id: v.string(),
  object: v.literal('webhook_delivery'),
  endpoint_id: v.string(),
  event_id: v.string(),
  event_type: v.picklist(EVENT_TYPES),
  livemode: v.nullable(v.boolean()),
  status: v.picklist(STATUSES),
  next_attempt_at: v.nullable(Time),
  created_at: Time,
};
export const ListedDelivery = v.object(LISTED);
export type ListedDelivery = v.InferOutput<typeof ListedDelivery>;

export const WebhookDelivery = v.object({
  ...LISTED,
  payload: v.nullable(v.string()),
  attempts: v.array(Attempt),
});
export type WebhookDelivery = v.InferOutput<typeof WebhookDelivery>;

const Id = v.pipe(v.string(), v.maxLength(100, 'must have at most 100 characters'));
const FILTERS = {
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`)),
  event_id: v.optional(Id),
  event_type: v.optional(v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`)),
  created_after: v.optional(QueryTime),
};
const DeliveryFilters = v.strictObject(FILTERS);
export type DeliveryFilters = v.InferOutput<typeof DeliveryFilters>;
export const DeliveryListQuery = v.strictObject({ ...PAGE, ...FILTERS });
export const DeliveryWaitQuery = v.strictObject({ wait: v.optional(queryInteger(0, 40), '0') });

// From rows to the endpoints, deliveries and attempts that the API answers.

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
