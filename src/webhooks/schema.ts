/** API schemas of webhook endpoints and deliveries, and their JSON (contract §9). */

import * as v from 'valibot';
import { EVENT_TYPES } from '../events/events.ts';
import { described, PAGE_QUERY, QueryTime, queryInteger, Time } from '../http/schemas.ts';
import type {
  EventRow,
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from '../store/tables.generated.ts';
import { EndpointUrl } from './endpoint-url.ts';
import { eventPayload } from './enqueue.ts';

/** Stands for all types, including future ones. */
const ALL_TYPES = '*';
const SUBSCRIBABLE_TYPES = [...EVENT_TYPES, ALL_TYPES] as const;

const EventTypes = v.pipe(
  v.array(
    v.picklist(SUBSCRIBABLE_TYPES, `must be one of ${EVENT_TYPES.join(', ')}, or * for all`),
    'must be a list of event types',
  ),
  v.minLength(1, 'must contain at least one event type; use ["*"] for all'),
  v.maxLength(EVENT_TYPES.length, `must contain at most ${EVENT_TYPES.length} event types`),
  v.check(
    (types) => new Set(types).size === types.length,
    'must contain each event type only once',
  ),
  v.transform((types) => (types.includes(ALL_TYPES) ? [ALL_TYPES] : types)),
);

const MAX_DESCRIPTION_LENGTH = 500;
const Description = v.pipe(
  v.string('must be a string'),
  v.maxLength(MAX_DESCRIPTION_LENGTH, `must have at most ${MAX_DESCRIPTION_LENGTH} characters`),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
);
const Enabled = v.boolean('must be true or false');

export const NewEndpoint = v.strictObject({
  url: EndpointUrl,
  events: EventTypes,
  description: v.optional(v.nullable(Description)),
  enabled: v.optional(Enabled, true),
});
export type NewEndpoint = v.InferOutput<typeof NewEndpoint>;

export const EndpointPatch = v.strictObject({
  url: v.optional(EndpointUrl),
  events: v.optional(EventTypes),
  description: v.optional(v.nullable(Description)),
  enabled: v.optional(Enabled),
});
export type EndpointPatch = v.InferOutput<typeof EndpointPatch>;

const ENDPOINT = {
  id: v.string(),
  object: v.literal('webhook_endpoint'),
  url: v.string(),
  events: described(
    v.array(v.picklist(SUBSCRIBABLE_TYPES)),
    'The event types that this endpoint receives. `*` stands for all types, including future ones.',
  ),
  description: v.nullable(v.string()),
  enabled: v.boolean(),
  status: described(
    v.picklist(['active', 'disabled', 'auto_disabled']),
    '`auto_disabled`: every attempt failed for five days. To enable the endpoint again, set `enabled` to true.',
  ),
  created_at: Time,
};
export const WebhookEndpoint = v.object(ENDPOINT);
export type WebhookEndpoint = v.InferOutput<typeof WebhookEndpoint>;
export const EndpointWithSecret = v.object({
  ...ENDPOINT,
  secret: described(
    v.string(),
    'The signing secret. Only the responses to creation and rotation include it.',
  ),
});

export const EndpointListQuery = v.strictObject(PAGE_QUERY);

const MAX_OVERLAP_S = 7 * 86_400;
const DEFAULT_OVERLAP_S = 86_400;

export const Rotation = v.strictObject({
  overlap: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(MAX_OVERLAP_S, `must be at most ${MAX_OVERLAP_S}`),
      v.description('How long events are also signed with the previous secret, in seconds.'),
    ),
    DEFAULT_OVERLAP_S,
  ),
});

/** Accepts the same time formats as a query. */
export const RecoveryRequest = v.strictObject({ since: QueryTime });
export const WebhookRecovery = v.object({
  object: v.literal('webhook_recovery'),
  endpoint_id: v.string(),
  since: Time,
  recovered: v.pipe(
    v.number(),
    v.integer(),
    v.description('The number of deliveries that are resent.'),
  ),
});
export type WebhookRecovery = v.InferOutput<typeof WebhookRecovery>;

const STATUSES = ['pending', 'succeeded', 'failed', 'held'] as const;

const Attempt = v.object({
  number: v.pipe(v.number(), v.integer()),
  trigger: v.picklist(['event', 'test', 'resend', 'recover', 'retry']),
  started_at: Time,
  duration_ms: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    'The duration in milliseconds. Null while the attempt is in progress, or if it was interrupted.',
  ),
  url: v.string(),
  request_headers: v.record(v.string(), v.string()),
  response_status: v.nullable(v.pipe(v.number(), v.integer())),
  response_headers: v.nullable(v.record(v.string(), v.string())),
  response_body: described(v.nullable(v.string()), 'The first 4 KB of the response body.'),
  error: described(v.nullable(v.string()), 'Why the attempt failed. Null if it succeeded.'),
});
type Attempt = v.InferOutput<typeof Attempt>;

const LISTED = {
  id: v.string(),
  object: v.literal('webhook_delivery'),
  endpoint_id: v.string(),
  event_id: v.string(),
  event_type: v.picklist(EVENT_TYPES),
  livemode: described(
    v.nullable(v.boolean()),
    'False for a test-mode event. Null if the event is no longer stored.',
  ),
  status: described(
    v.picklist(STATUSES),
    '`held`: the endpoint was disabled before the delivery succeeded. Recover or resend the delivery once the endpoint is enabled.',
  ),
  next_attempt_at: described(
    v.nullable(Time),
    'When the next attempt starts. Null during an attempt, or if no further attempt follows.',
  ),
  created_at: Time,
};
export const ListedDelivery = v.object(LISTED);
export type ListedDelivery = v.InferOutput<typeof ListedDelivery>;

export const WebhookDelivery = v.object({
  ...LISTED,
  payload: described(
    v.nullable(v.string()),
    'The exact request body. Null if the event is no longer stored or belongs to the other mode (live or test).',
  ),
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
export const DeliveryListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
export const DeliveryWaitQuery = v.strictObject({ wait: v.optional(queryInteger(0, 40), '0') });

// The JSON of endpoints, deliveries, and attempts.

export function endpointStatus({
  enabled,
  auto_disabled_at,
}: Pick<WebhookEndpointRow, 'enabled' | 'auto_disabled_at'>): WebhookEndpoint['status'] {
  if (enabled === 0) return 'disabled';
  return auto_disabled_at === null ? 'active' : 'auto_disabled';
}

/** Without the secret, which only the responses to creation and rotation include. */
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

/** `event_livemode` is null for a sample, or if the event is no longer stored. */
export interface DeliveryState extends WebhookDeliveryRow {
  event_livemode: number | null;
}

/** The list form, without payload and attempts. */
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
    // During an attempt, `due_at` is the end of its lease.
    next_attempt_at: row.lease === null ? row.due_at : null,
    created_at,
  };
}

function livemodeOf({ sample, event_livemode }: DeliveryState): boolean | null {
  if (sample !== null) return false;
  return event_livemode === null ? null : event_livemode === 1;
}

/** A delivery with its event, which is null for a sample or if it is no longer stored, and attempts. */
export interface DeliveryWithAttempts {
  row: DeliveryState;
  event: EventRow | null;
  /** In chronological order. */
  attempts: WebhookAttemptRow[];
}

/** The payload is only visible in the mode of its event, as the event itself is. */
export function presentDelivery(
  { row, event, attempts }: DeliveryWithAttempts,
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
