/** API schemas of webhook endpoints and deliveries, and their JSON (contract §9). */

import * as v from 'valibot';
import { EVENT_TYPES } from '../events/events.ts';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  named,
  oneOf,
  PAGE_QUERY,
  QueryTime,
  queryInteger,
  Time,
  typeField,
  Url,
  wholeNumber,
} from '../http/schemas.ts';
import { rowCodec } from '../store/row-codec.ts';
import type {
  EventRow,
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookEndpointRow,
} from '../store/tables.generated.ts';
import { EndpointUrl } from './endpoint-url.ts';
import { eventPayload } from './enqueue.ts';

/** Matches all types, including future ones. */
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
  maxCharacters(MAX_DESCRIPTION_LENGTH, `must have at most ${MAX_DESCRIPTION_LENGTH} characters`),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'must not contain control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
);
const Enabled = v.boolean('must be true or false');

const URL_TEXT =
  'The URL that receives events: `https://`, or `http://` in private networks that the administrator allows.';
const EVENTS_TEXT =
  'The event types that this endpoint receives. `*` stands for all types, including future ones.';
const DESCRIPTION_TEXT = 'Your note about the endpoint.';
const ENABLED_TEXT = 'Whether the endpoint receives events.';

export const NewEndpoint = named(
  'CreateWebhookEndpoint',
  v.strictObject({
    url: described(EndpointUrl, URL_TEXT),
    events: described(EventTypes, EVENTS_TEXT),
    description: described(v.optional(v.nullable(Description)), DESCRIPTION_TEXT),
    enabled: described(v.optional(Enabled, true), ENABLED_TEXT),
  }),
  'A new webhook endpoint.',
  { url: 'https://example.com/hook', events: ['test.completed'], description: 'The shop' },
);
export type NewEndpoint = v.InferOutput<typeof NewEndpoint>;

export const EndpointPatch = named(
  'UpdateWebhookEndpoint',
  v.strictObject({
    url: described(v.optional(EndpointUrl), URL_TEXT),
    events: described(v.optional(EventTypes), EVENTS_TEXT),
    description: described(v.optional(v.nullable(Description)), DESCRIPTION_TEXT),
    enabled: described(v.optional(Enabled), ENABLED_TEXT),
  }),
  'The changes to a webhook endpoint. Omitted fields keep their value.',
  { url: 'https://example.com/hook', events: ['*'], description: 'The shop', enabled: true },
);
export type EndpointPatch = v.InferOutput<typeof EndpointPatch>;

const ENDPOINT = {
  id: idOf('whe'),
  object: typeField('webhook_endpoint'),
  url: described(Url, URL_TEXT),
  events: described(v.array(v.picklist(SUBSCRIBABLE_TYPES)), EVENTS_TEXT),
  description: described(v.nullable(v.string()), DESCRIPTION_TEXT),
  livemode: described(
    v.boolean(),
    'The mode of the key that created the endpoint. It receives only events of this mode.',
  ),
  enabled: described(v.boolean(), ENABLED_TEXT),
  status: described(
    v.picklist(['active', 'disabled', 'auto_disabled']),
    '`auto_disabled`: every attempt failed for five days. To enable the endpoint again, set `enabled` to true.',
  ),
  failing_since: described(
    v.nullable(Time),
    'When the first attempt since the last success failed. Null while deliveries succeed.',
  ),
  auto_disabled_at: described(
    v.nullable(Time),
    'When the endpoint was disabled automatically. Null if it was not.',
  ),
  previous_secret_expires_at: described(
    v.nullable(Time),
    'When events stop being signed with the previous secret too. Null without a previous secret.',
  ),
  created_at: Time,
};
const EXAMPLE_ENDPOINT = {
  url: 'https://example.com/hook',
  events: ['test.completed'],
  description: 'The shop',
  livemode: true,
  enabled: true,
  status: 'active',
  failing_since: null,
  auto_disabled_at: null,
  previous_secret_expires_at: null,
} as const;
export const WebhookEndpoint = named(
  'WebhookEndpoint',
  v.object(ENDPOINT),
  'A URL that receives events.',
  EXAMPLE_ENDPOINT as never,
);
export type WebhookEndpoint = v.InferOutput<typeof WebhookEndpoint>;
export const EndpointWithSecret = named(
  'WebhookEndpointWithSecret',
  v.object({
    ...ENDPOINT,
    secret: described(
      v.string(),
      'The signing secret. Only the responses to creation and rotation include it.',
    ),
  }),
  'A webhook endpoint with its signing secret.',
  { ...EXAMPLE_ENDPOINT, secret: 'whsec_…' } as never,
);

export const EndpointListQuery = v.strictObject(PAGE_QUERY);

const MAX_OVERLAP_S = 7 * 86_400;
const DEFAULT_OVERLAP_S = 86_400;

export const Rotation = named(
  'RotateWebhookSecret',
  v.strictObject({
    overlap: v.optional(
      described(
        wholeNumber(0, MAX_OVERLAP_S),
        'How long events are also signed with the previous secret, in seconds.',
      ),
      DEFAULT_OVERLAP_S,
    ),
  }),
  'How to change the signing secret.',
  { overlap: 86_400 },
);

/** Accepts the same time formats as a query. */
export const RecoveryRequest = named(
  'RecoverWebhookDeliveries',
  v.strictObject({
    since: described(QueryTime, 'Deliveries created at or after this time are resent.'),
  }),
  'Which deliveries to resend.',
  {},
);
export const WebhookRecovery = named(
  'WebhookRecovery',
  v.object({
    object: typeField('webhook_recovery'),
    endpoint_id: v.string(),
    since: described(Time, 'The time from which deliveries are resent.'),
    recovered: described(
      v.pipe(v.number(), v.integer()),
      'The number of deliveries that are resent.',
      3,
    ),
  }),
  'The deliveries that are resent.',
);
export type WebhookRecovery = v.InferOutput<typeof WebhookRecovery>;

const STATUSES = ['pending', 'succeeded', 'failed', 'held'] as const;

const Attempt = named(
  'WebhookAttempt',
  v.object({
    number: described(v.pipe(v.number(), v.integer()), 'The number of the attempt, from 1.'),
    trigger: described(
      v.picklist(['event', 'test', 'resend', 'recover', 'retry']),
      'Why the attempt was made.',
    ),
    started_at: Time,
    duration_ms: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      'The duration in milliseconds. Null while the attempt is in progress, or if it was interrupted.',
    ),
    url: described(Url, 'The URL of the request.'),
    request_headers: described(
      v.record(v.string(), v.string()),
      'The header fields of the request.',
      { 'content-type': 'application/json' },
    ),
    response_status: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      'The HTTP status of the response. Null without a response.',
    ),
    response_headers: described(
      v.nullable(v.record(v.string(), v.string())),
      'The header fields of the response. Null without a response.',
      { 'content-type': 'text/plain' },
    ),
    response_body: described(v.nullable(v.string()), 'The first 4 KB of the response body.'),
    error: described(
      v.nullable(v.string()),
      'Why the attempt failed. Null if it succeeded.',
      'The endpoint responded with status 500.',
    ),
  }),
  'One request to a webhook endpoint.',
  {
    number: 1,
    trigger: 'event',
    started_at: '2026-11-21T10:00:24.000Z',
    duration_ms: 182,
    url: 'https://example.com/hook',
    response_status: 200,
    response_body: 'ok',
    error: null,
  },
);
type Attempt = v.InferOutput<typeof Attempt>;

const LISTED = {
  id: idOf('whd'),
  object: typeField('webhook_delivery'),
  endpoint_id: v.string(),
  event_id: v.string(),
  event_type: described(v.picklist(EVENT_TYPES), 'The type of the event.'),
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
const EXAMPLE_DELIVERY = {
  event_type: 'test.completed',
  livemode: true,
  status: 'succeeded',
  next_attempt_at: null,
  created_at: '2026-11-21T10:00:24.000Z',
} as const;
export const ListedDelivery = named(
  'WebhookDeliveryListItem',
  v.object(LISTED),
  'A delivery as lists contain it: without its payload and attempts.',
  EXAMPLE_DELIVERY,
);
export type ListedDelivery = v.InferOutput<typeof ListedDelivery>;

export const WebhookDelivery = named(
  'WebhookDelivery',
  v.object({
    ...LISTED,
    payload: described(
      v.nullable(v.string()),
      'The exact request body. Null if the event is no longer stored or belongs to the other mode (live or test).',
      '{"id":"evt_…","object":"event","type":"test.completed"}',
    ),
    attempts: described(v.array(Attempt), 'The attempts, oldest first.'),
  }),
  'The delivery of one event to one endpoint.',
  { ...EXAMPLE_DELIVERY, payload: null, attempts: [] },
);
export type WebhookDelivery = v.InferOutput<typeof WebhookDelivery>;

const Id = v.pipe(v.string(), maxCharacters(100, 'must have at most 100 characters'));
const FILTERS = {
  status: described(v.optional(oneOf(STATUSES)), 'Only deliveries with this status.'),
  event_id: described(v.optional(Id), 'Only deliveries of this event.', exampleId('evt')),
  event_type: described(v.optional(oneOf(EVENT_TYPES)), 'Only deliveries of events of this type.'),
  created_after: described(v.optional(QueryTime), 'Only deliveries created at or after this time.'),
};
const DeliveryFilters = v.strictObject(FILTERS);
export type DeliveryFilters = v.InferOutput<typeof DeliveryFilters>;
export const DeliveryListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
export const DeliveryWaitQuery = v.strictObject({
  wait: described(
    v.optional(queryInteger(0, 40), '0'),
    'The maximum number of seconds to wait for the attempt in progress.',
  ),
});

// The JSON of endpoints, deliveries, and attempts.

export function endpointStatus({
  enabled,
  auto_disabled_at,
}: Pick<WebhookEndpointRow, 'enabled' | 'auto_disabled_at'>): WebhookEndpoint['status'] {
  if (enabled === 0) return 'disabled';
  return auto_disabled_at === null ? 'active' : 'auto_disabled';
}

export const ENDPOINT_ROW = rowCodec<
  WebhookEndpointRow,
  { events: string[]; enabled: boolean; livemode: boolean }
>({ events: 'json', enabled: 'boolean', livemode: 'boolean' });

/** Without the secret, which only the responses to creation and rotation include. */
export function presentEndpoint(row: WebhookEndpointRow): WebhookEndpoint {
  const { id, url, events, description, livemode, enabled, created_at } = ENDPOINT_ROW.decode(row);
  return {
    id,
    object: 'webhook_endpoint',
    url,
    // A later version may have stored others.
    events: events as WebhookEndpoint['events'],
    description,
    livemode,
    enabled,
    status: endpointStatus(row),
    failing_since: row.failing_since,
    auto_disabled_at: row.auto_disabled_at,
    previous_secret_expires_at: row.former_secret_until,
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

/** Like its event, the payload is visible only in the mode of the event. */
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
