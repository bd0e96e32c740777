/** API schemas of alert rules and incidents (contract §8). */

import * as v from 'valibot';
import { described, Name, PAGE_QUERY, Time } from '../http/schemas.ts';
import { EmailAddress } from '../team/schema.ts';
import { EndpointUrl } from '../webhooks/endpoint-url.ts';
import { CONDITIONS, THRESHOLD_RANGE } from './conditions/index.ts';

const CONDITION_IDS = CONDITIONS.map(({ id }) => id);
const CHANNELS = ['email', 'webhook', 'slack'] as const;
export type Channel = (typeof CHANNELS)[number];

const Condition = v.picklist(CONDITION_IDS, `must be one of ${CONDITION_IDS.join(', ')}`);
const Channels = v.pipe(
  v.array(v.picklist(CHANNELS, `must be one of ${CHANNELS.join(', ')}`), 'must be a list'),
  v.minLength(1, 'must contain at least one channel'),
  v.maxLength(CHANNELS.length, `must contain at most ${CHANNELS.length} channels`),
  v.check((names) => new Set(names).size === names.length, 'must contain each channel only once'),
);
const Threshold = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(THRESHOLD_RANGE.min, `must be at least ${THRESHOLD_RANGE.min}`),
  v.maxValue(THRESHOLD_RANGE.max, `must be at most ${THRESHOLD_RANGE.max}`),
);
const Enabled = v.boolean('must be true or false');
const Id = v.pipe(
  v.string('must be an ID'),
  v.minLength(1, 'must be an ID'),
  v.maxLength(100, 'must have at most 100 characters'),
);

const MAX_RECIPIENTS = 20;
const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of email addresses'),
  v.minLength(1, 'must contain at least one address, or be null for the owner and the admins'),
  v.maxLength(MAX_RECIPIENTS, `must contain at most ${MAX_RECIPIENTS} addresses`),
  v.transform((addresses) => [...new Set(addresses)]),
);

const THRESHOLD_TEXT = 'Scores below this value trigger the alert. Used by `score_below` only.';
const DOMAIN_TEXT =
  'Limits the rule to the tests and monitors of this domain. If null, the rule applies to all of them.';
const RECIPIENTS_TEXT =
  'The recipients of the email channel. If null, the owner and the admins of the team.';

const OPTIONAL = {
  threshold: v.optional(described(v.nullable(Threshold), THRESHOLD_TEXT)),
  domain_id: v.optional(described(v.nullable(Id), DOMAIN_TEXT)),
  recipients: v.optional(described(v.nullable(Recipients), RECIPIENTS_TEXT)),
  slack_webhook_url: v.optional(
    described(
      v.nullable(EndpointUrl),
      'The Slack incoming webhook URL. If null, the server’s default URL is used. Responses never include it.',
    ),
  ),
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
  threshold: described(v.nullable(v.pipe(v.number(), v.integer())), THRESHOLD_TEXT),
  channels: v.array(v.picklist(CHANNELS)),
  unconfigured_channels: described(
    v.array(v.picklist(CHANNELS)),
    'The channels of this rule that cannot deliver yet, for example because no Slack URL is set.',
  ),
  enabled: v.boolean(),
  domain_id: described(v.nullable(v.string()), DOMAIN_TEXT),
  recipients: described(v.nullable(v.array(v.string())), RECIPIENTS_TEXT),
  slack_webhook_host: described(
    v.nullable(v.string()),
    'The host of the rule’s own Slack webhook URL. The rest of the URL is secret.',
  ),
  state: described(
    v.picklist(['ok', 'triggered']),
    '`triggered` while at least one incident of this rule is open.',
  ),
  last_triggered_at: described(v.nullable(Time), 'When the rule last opened an incident.'),
  created_at: Time,
});
export type Alert = v.InferOutput<typeof Alert>;

const AlertNotification = v.object({
  channel: v.picklist(CHANNELS),
  status: described(
    v.picklist(['queued', 'sent', 'failed', 'unconfigured', 'suppressed']),
    '`unconfigured`: the channel is not set up. `suppressed`: the incident was resolved before the notification could be sent.',
  ),
  error: described(
    v.nullable(v.string()),
    'Why the notification was not sent, or why the last attempt failed.',
  ),
  sent_at: v.nullable(Time),
});
export type AlertNotification = v.InferOutput<typeof AlertNotification>;

/** The delivery status of a rule's test notification. */
export const AlertTest = v.object({
  object: v.literal('alert_test'),
  alert_id: v.string(),
  notifications: v.array(
    v.object({
      ...AlertNotification.entries,
      recipient: described(v.nullable(v.string()), 'The email address. Null for other channels.'),
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
  subject: described(v.string(), 'The From domain of the test, or the target of the monitor.'),
  status: v.picklist(INCIDENT_STATUSES),
  value: described(
    v.record(v.string(), v.any()),
    'The values that met the condition: the score, the authentication results or the blocklists.',
  ),
  test_id: described(v.nullable(v.string()), 'The test that opened the incident.'),
  run_id: described(v.nullable(v.string()), 'The monitor run that opened the incident.'),
  opened_at: Time,
  resolved_at: v.nullable(Time),
  resolution: described(
    v.nullable(v.picklist(RESOLUTIONS)),
    'Why the incident was resolved. Null while it is open.',
  ),
  notifications: v.array(AlertNotification),
});
export type AlertIncident = v.InferOutput<typeof AlertIncident>;

export const AlertListQuery = v.strictObject(PAGE_QUERY);
const Status = v.optional(
  v.picklist(INCIDENT_STATUSES, `must be one of ${INCIDENT_STATUSES.join(', ')}`),
);
export const AlertIncidentsQuery = v.strictObject({ ...PAGE_QUERY, status: Status });
const FILTERS = { status: Status, alert_id: v.optional(Id) };
const IncidentFilters = v.strictObject(FILTERS);
export type IncidentFilters = v.InferOutput<typeof IncidentFilters>;
export const IncidentListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
