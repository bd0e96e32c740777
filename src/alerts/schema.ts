/** Alert rules and incidents as the API takes and answers them (contract §8). */

import * as v from 'valibot';
import { Name, PAGE, Time } from '../http/schemas.ts';
import { EmailAddress } from '../team/schema.ts';
import { EndpointUrl } from '../webhooks/endpoint-url.ts';
import { CONDITIONS, THRESHOLD_RANGE } from './conditions/index.ts';

const CONDITION_IDS = CONDITIONS.map(({ id }) => id);
const CHANNELS = ['email', 'webhook', 'slack'] as const;
export type Channel = (typeof CHANNELS)[number];

const Condition = v.picklist(CONDITION_IDS, `must be one of ${CONDITION_IDS.join(', ')}`);
const Channels = v.pipe(
  v.array(v.picklist(CHANNELS, `must be one of ${CHANNELS.join(', ')}`), 'must be a list'),
  v.minLength(1, 'must name a channel at least'),
  v.maxLength(CHANNELS.length, `must name at most ${CHANNELS.length} channels`),
  v.check((names) => new Set(names).size === names.length, 'must name each channel once'),
);
const Threshold = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(THRESHOLD_RANGE.min, `must be at least ${THRESHOLD_RANGE.min}`),
  v.maxValue(THRESHOLD_RANGE.max, `must be at most ${THRESHOLD_RANGE.max}`),
);
const Enabled = v.boolean('must be true or false');
const Id = v.pipe(
  v.string('must be an id'),
  v.minLength(1, 'must be an id'),
  v.maxLength(100, 'must have at most 100 characters'),
);

const MAX_RECIPIENTS = 20;
const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of e-mail addresses'),
  v.minLength(1, 'must name an address at least; null is the owner and the admins'),
  v.maxLength(MAX_RECIPIENTS, `must name at most ${MAX_RECIPIENTS} addresses`),
  v.transform((addresses) => [...new Set(addresses)]),
);

const OPTIONAL = {
  threshold: v.optional(v.nullable(Threshold)),
  domain_id: v.optional(v.nullable(Id)),
  recipients: v.optional(v.nullable(Recipients)),
  slack_webhook_url: v.optional(v.nullable(EndpointUrl)),
};

export const NewAlert = v.strictObject({
  name: Name,
  condition: Condition,
  channels: Channels,
  enabled: v.optional(Enabled, true),
  ...OPTIONAL,
});
export type NewAlert = v.InferOutput<typeof NewAlert>;

export const AlertPatch = v.strictObject({
  name: v.optional(Name),
  condition: v.optional(Condition),
  channels: v.optional(Channels),
  enabled: v.optional(Enabled),
  ...OPTIONAL,
});
export type AlertPatch = v.InferOutput<typeof AlertPatch>;

export const Alert = v.object({
  id: v.string(),
  object: v.literal('alert'),
  name: v.string(),
  condition: v.picklist(CONDITION_IDS),
  threshold: v.nullable(v.pipe(v.number(), v.integer())),
  channels: v.array(v.picklist(CHANNELS)),
  unconfigured_channels: v.array(v.picklist(CHANNELS)),
  enabled: v.boolean(),
  domain_id: v.nullable(v.string()),
  /** null: owner and admins. */
  recipients: v.nullable(v.array(v.string())),
  /** Of the rule's own address; whoever has all of it can post there. */
  slack_webhook_host: v.nullable(v.string()),
  state: v.picklist(['ok', 'triggered']),
  last_triggered_at: v.nullable(Time),
  created_at: Time,
});
export type Alert = v.InferOutput<typeof Alert>;

const AlertNotification = v.object({
  channel: v.picklist(CHANNELS),
  status: v.picklist(['queued', 'sent', 'failed', 'unconfigured', 'suppressed']),
  error: v.nullable(v.string()),
  sent_at: v.nullable(Time),
});
export type AlertNotification = v.InferOutput<typeof AlertNotification>;

/** What the sample of a rule came to, so far. */
export const AlertTest = v.object({
  object: v.literal('alert_test'),
  alert_id: v.string(),
  notifications: v.array(
    v.object({
      ...AlertNotification.entries,
      /** Of e-mail; null elsewhere. */
      recipient: v.nullable(v.string()),
    }),
  ),
});
export type AlertTest = v.InferOutput<typeof AlertTest>;

const INCIDENT_STATUSES = ['open', 'resolved'] as const;
const RESOLUTIONS = [
  'condition_ended',
  'no_longer_watched',
  'alert_disabled',
  'alert_changed',
  'alert_deleted',
] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const AlertIncident = v.object({
  id: v.string(),
  object: v.literal('alert_incident'),
  alert_id: v.string(),
  subject: v.string(),
  status: v.picklist(INCIDENT_STATUSES),
  /** By the condition: the score, the results of authentication, or the lists. */
  value: v.record(v.string(), v.any()),
  test_id: v.nullable(v.string()),
  run_id: v.nullable(v.string()),
  opened_at: Time,
  resolved_at: v.nullable(Time),
  resolution: v.nullable(v.picklist(RESOLUTIONS)),
  notifications: v.array(AlertNotification),
});
export type AlertIncident = v.InferOutput<typeof AlertIncident>;

export const AlertListQuery = v.strictObject(PAGE);
const Status = v.optional(
  v.picklist(INCIDENT_STATUSES, `must be one of ${INCIDENT_STATUSES.join(', ')}`),
);
export const IncidentsOfQuery = v.strictObject({ ...PAGE, status: Status });
const FILTERS = { status: Status, alert_id: v.optional(Id) };
const IncidentFilters = v.strictObject(FILTERS);
export type IncidentFilters = v.InferOutput<typeof IncidentFilters>;
export const IncidentListQuery = v.strictObject({ ...PAGE, ...FILTERS });
