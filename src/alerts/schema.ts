/** API schemas of alert rules and incidents (contract §8). */

import * as v from 'valibot';
import { asText, type EventData, field, labeled } from '../events/line.ts';
import type { EventDeclaration } from '../http/openapi/webhooks.ts';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  Name,
  named,
  oneOf,
  PAGE_QUERY,
  Time,
  typeField,
} from '../http/schemas.ts';
import { TagLimit } from '../http/tags.ts';
import { ListedTest } from '../mailtests/schema.ts';
import { MonitorRun } from '../monitors/schema.ts';
import { EmailAddress } from '../team/schema.ts';
import { EndpointUrl } from '../webhooks/endpoint-url.ts';
import type { ChannelField } from './channels/channel.ts';
import { email } from './channels/email.ts';
import { CHANNEL_IDS, settingFields } from './channels/index.ts';
import { shownName } from './channels/settings.ts';
import { CONDITION_IDS, CONDITIONS, THRESHOLD_RANGE } from './conditions/index.ts';

const Condition = oneOf(CONDITION_IDS);
const Channels = v.pipe(
  v.array(oneOf(CHANNEL_IDS), 'must be a list'),
  v.minLength(1, 'must contain at least one channel'),
  v.maxLength(CHANNEL_IDS.length, `must contain at most ${CHANNEL_IDS.length} channels`),
  v.check((names) => new Set(names).size === names.length, 'must contain each channel only once'),
);
const Threshold = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(THRESHOLD_RANGE.min, `must be at least ${THRESHOLD_RANGE.min}`),
  v.maxValue(THRESHOLD_RANGE.max, `must be at most ${THRESHOLD_RANGE.max}`),
);
const Enabled = v.boolean('must be true or false');
/** How often a rule can remind. */
export const REMINDER_HOURS = { min: 1, max: 168 };
const ReminderHours = v.pipe(
  v.number('must be a number of hours, or null for no reminders'),
  v.integer('must be a whole number of hours'),
  v.minValue(REMINDER_HOURS.min, `must be at least ${REMINDER_HOURS.min}`),
  v.maxValue(REMINDER_HOURS.max, `must be at most ${REMINDER_HOURS.max} (one week)`),
);
const Id = v.pipe(
  v.string('must be an ID'),
  v.minLength(1, 'must be an ID'),
  maxCharacters(100, 'must have at most 100 characters'),
);

const SettingText = v.pipe(
  v.string('must be a string'),
  v.regex(/^[\x21-\x7e]+$/, 'must not be empty or contain spaces'),
  maxCharacters(500, 'must have at most 500 characters'),
);

const SettingLines = v.pipe(
  v.string('must be a string'),
  v.transform((text) => text.toWellFormed().replace(/\r\n?/g, '\n').trim()),
  v.nonEmpty('must not be empty'),
  v.regex(/^[^\p{Cc}]*(?:[\t\n][^\p{Cc}]*)*$/u, 'must not contain control characters'),
  maxCharacters(10_000, 'must have at most 10,000 characters'),
);

function settingSchema({ kind, format, choices }: ChannelField) {
  if (choices) return oneOf(choices);
  if (kind === 'lines') return SettingLines;
  // A setting with a format has one error.
  const schema = kind === 'url' ? EndpointUrl : format ? v.string('must be a string') : SettingText;
  return format ? v.pipe(schema, v.regex(format.pattern, format.message)) : schema;
}

const MAX_RECIPIENTS = 20;
const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of email addresses'),
  v.minLength(1, 'must contain at least one address, or be null for the owner and the admins'),
  v.maxLength(MAX_RECIPIENTS, `must contain at most ${MAX_RECIPIENTS} addresses`),
  v.transform((addresses) => [...new Set(addresses)]),
);

const listOf = (conditions: typeof CONDITIONS): string =>
  new Intl.ListFormat('en-GB').format(conditions.map(({ id }) => `\`${id}\``));
const THRESHOLD_TEXT = CONDITIONS.flatMap(({ id, threshold }) =>
  threshold ? `For \`${id}\`: ${threshold.text}` : [],
).join(' ');
const DOMAIN_TEXT = `Limits the rule to the tests, monitors and reports of this domain. If null, the rule applies to all of them. Not allowed for ${listOf(CONDITIONS.filter(({ isOfNoDomain }) => isOfNoDomain))}.`;
const documentationOf = ({ documentation, label, hint }: ChannelField): string =>
  documentation ?? `${label}. ${hint}`;
const TAGS_TEXT =
  'Limits the rule to the domains that have one of these tags. Null if it is not limited by tags.';
const RECIPIENTS_TEXT = documentationOf(email.fields.find(({ name }) => name === 'recipients')!);

const NAME_TEXT = 'The name of the rule.';
const CONDITION_TEXT = CONDITIONS.map(({ id, choice }) => `\`${id}\`: ${choice.text}.`).join(' ');
const CHANNELS_TEXT = 'How to notify you. `webhook` sends `alert.*` events to your endpoints.';
const ENABLED_TEXT = 'Whether the rule is evaluated.';
const REMINDER_TEXT =
  'Repeats the alert every so many hours while an incident is open. If null, no reminders are sent. Webhooks never get them.';

/** What rules store for channels, as their declarations say. The type names the one of the first version. */
const CHANNEL_SETTINGS = Object.fromEntries(
  settingFields().map((field) => [
    field.name,
    v.optional(described(v.nullable(settingSchema(field)), documentationOf(field), field.example)),
  ]),
) as unknown as {
  slack_webhook_url: v.OptionalSchema<v.NullableSchema<typeof EndpointUrl, undefined>, undefined>;
};

/** How responses show them. Secrets are never among them. */
const SHOWN_SETTINGS = Object.fromEntries(
  settingFields().map((field) => [shownName(field), shownSchema(field)]),
) as unknown as { slack_webhook_host: v.NullableSchema<v.StringSchema<undefined>, undefined> };

function shownSchema(field: ChannelField) {
  const { kind, isSecret, label, example } = field;
  if (!isSecret) return described(v.nullable(v.string()), documentationOf(field), example);
  return kind === 'url'
    ? described(
        v.nullable(v.string()),
        `The host of the rule’s own ${label}. The rest of the URL is secret.`,
        new URL(example).host,
      )
    : described(v.boolean(), `Whether the rule has its own ${label}.`, true);
}

const OPTIONAL = {
  threshold: v.optional(described(v.nullable(Threshold), THRESHOLD_TEXT, 70)),
  domain_id: v.optional(described(v.nullable(Id), DOMAIN_TEXT, exampleId('dom'))),
  tags: v.optional(described(TagLimit, TAGS_TEXT, ['client:acme'])),
  recipients: v.optional(described(v.nullable(Recipients), RECIPIENTS_TEXT, ['alex@example.com'])),
  reminder_hours: v.optional(described(v.nullable(ReminderHours), REMINDER_TEXT, 24)),
  ...CHANNEL_SETTINGS,
};

export const NewAlert = named(
  'CreateAlert',
  v.strictObject({
    name: described(Name, NAME_TEXT),
    condition: described(Condition, CONDITION_TEXT),
    channels: described(Channels, CHANNELS_TEXT),
    enabled: described(v.optional(Enabled, true), ENABLED_TEXT),
    ...OPTIONAL,
  }),
  'A new alert rule.',
  {
    name: 'Low score',
    condition: 'score_below',
    threshold: 70,
    channels: ['email'],
    enabled: true,
  },
);
export type NewAlert = v.InferOutput<typeof NewAlert>;

export const AlertPatch = named(
  'UpdateAlert',
  v.strictObject({
    name: described(v.optional(Name), NAME_TEXT),
    condition: described(v.optional(Condition), CONDITION_TEXT),
    channels: described(v.optional(Channels), CHANNELS_TEXT),
    enabled: described(v.optional(Enabled), ENABLED_TEXT),
    ...OPTIONAL,
  }),
  'The changes to an alert rule. Omitted fields keep their value.',
  { name: 'Low score', channels: ['email', 'webhook'], enabled: true },
);
export type AlertPatch = v.InferOutput<typeof AlertPatch>;

export const Alert = named(
  'Alert',
  v.object({
    id: idOf('alt'),
    object: typeField('alert'),
    name: described(v.string(), NAME_TEXT),
    condition: described(v.picklist(CONDITION_IDS), CONDITION_TEXT),
    threshold: described(v.nullable(v.pipe(v.number(), v.integer())), THRESHOLD_TEXT),
    channels: described(v.array(v.picklist(CHANNEL_IDS)), CHANNELS_TEXT),
    unconfigured_channels: described(
      v.array(v.picklist(CHANNEL_IDS)),
      'The channels of this rule that cannot deliver yet, for example because no Slack URL is set.',
    ),
    enabled: described(v.boolean(), ENABLED_TEXT),
    domain_id: described(v.nullable(v.string()), DOMAIN_TEXT),
    tags: described(v.nullable(v.array(v.string())), TAGS_TEXT, ['client:acme']),
    recipients: described(v.nullable(v.array(v.string())), RECIPIENTS_TEXT, ['alex@example.com']),
    reminder_hours: described(v.nullable(v.pipe(v.number(), v.integer())), REMINDER_TEXT, 24),
    ...SHOWN_SETTINGS,
    state: described(
      v.picklist(['ok', 'triggered']),
      '`triggered` while at least one incident of this rule is open.',
    ),
    last_triggered_at: described(v.nullable(Time), 'When the rule last opened an incident.'),
    created_at: Time,
  }),
  'A rule that notifies your team when a condition is met.',
  {
    name: 'Low score',
    condition: 'score_below',
    threshold: 70,
    channels: ['email'],
    unconfigured_channels: [],
    enabled: true,
    domain_id: null,
    tags: null,
    recipients: null,
    reminder_hours: null,
    slack_webhook_host: null,
    ...Object.fromEntries(
      settingFields().map((field) => [
        shownName(field),
        field.isSecret && field.kind !== 'url' ? false : null,
      ]),
    ),
    state: 'ok',
    last_triggered_at: null,
    created_at: '2026-11-20T09:12:00.000Z',
  },
);
export type Alert = v.InferOutput<typeof Alert>;

export const RecommendedAlert = named(
  'RecommendedAlert',
  v.object({
    object: typeField('recommended_alert'),
    condition: described(v.picklist(CONDITION_IDS), CONDITION_TEXT),
    name: described(v.string(), 'The name that the rule gets.', 'Blocklists'),
    threshold: described(v.nullable(v.pipe(v.number(), v.integer())), THRESHOLD_TEXT, 1),
    alert_id: described(
      v.nullable(v.string()),
      'The ID of the rule with this condition for all domains. Null if there is none.',
    ),
    times: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      'How often the rule would have alerted in that time. Null if it is not known.',
      3,
    ),
    days: described(
      v.nullable(v.pipe(v.number(), v.integer())),
      'The number of days until now for which enough data is stored: at most 30. Null if it is not known.',
      30,
    ),
    missing: described(
      v.nullable(v.string()),
      'What is missing if it is not known.',
      'no TLS report',
    ),
  }),
  'A rule that suits every team, and how often it would have alerted lately.',
  {
    condition: 'blocklist_hit',
    threshold: null,
    missing: null,
  },
);
export type RecommendedAlert = v.InferOutput<typeof RecommendedAlert>;

const NOTIFICATION = {
  channel: described(v.picklist(CHANNEL_IDS), 'The channel of the notification.'),
  status: described(
    v.picklist(['queued', 'sent', 'failed', 'unconfigured', 'suppressed']),
    '`unconfigured`: the channel is not set up. `suppressed`: the incident was resolved before the notification could be sent.',
  ),
  error: described(
    v.nullable(v.string()),
    'Why the notification was not sent, or why the last attempt failed.',
    'The mail server rejected the recipient: 550 5.1.1 No such user.',
  ),
  sent_at: v.nullable(Time),
};
const AlertNotification = named(
  'AlertNotification',
  v.object(NOTIFICATION),
  'A notification about an incident on one channel.',
);
export type AlertNotification = v.InferOutput<typeof AlertNotification>;

/** The delivery status of a rule's test notification. */
export const AlertTest = named(
  'AlertTest',
  v.object({
    object: typeField('alert_test'),
    alert_id: v.string(),
    notifications: described(
      v.array(
        named(
          'SampleNotification',
          v.object({
            ...NOTIFICATION,
            recipient: described(
              v.nullable(v.string()),
              'The email address. Null for other channels.',
              'alex@example.com',
            ),
          }),
          'A sample notification on one channel.',
        ),
      ),
      'The sample notifications.',
    ),
  }),
  'The delivery status of the sample notifications of a rule.',
);
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

const INCIDENT = {
  id: idOf('inc'),
  object: typeField('alert_incident'),
  alert_id: v.string(),
  condition: described(
    v.picklist(CONDITION_IDS),
    'The condition of the rule when the incident was opened. The rule may have another one now.',
  ),
  threshold: described(
    v.nullable(v.pipe(v.number(), v.integer())),
    'The threshold of the rule when the incident was opened. Null if its condition has none.',
    70,
  ),
  subject: described(
    v.string(),
    'A domain, a domain and one of its records, a target or address of a monitor, a seed mailbox, or the ID of a source.',
  ),
  status: described(v.picklist(INCIDENT_STATUSES), '`open` as long as the condition is met.'),
  value: described(
    v.record(v.string(), v.any()),
    'The values that met the condition. Each condition has its own, such as the score.',
    { score: 61 },
  ),
  test_id: described(
    v.nullable(v.string()),
    'The test that opened the incident. Null if something else did.',
  ),
  run_id: described(
    v.nullable(v.string()),
    'The monitor run that opened the incident. Null if something else did.',
  ),
  opened_at: Time,
  resolved_at: described(
    v.nullable(Time),
    'When the incident was resolved. Null while it is open.',
  ),
  resolution: described(
    v.nullable(v.picklist(RESOLUTIONS)),
    'Why the incident was resolved. Null while it is open.',
  ),
  notifications: described(
    v.array(AlertNotification),
    'The notifications about the opening and the end of the incident.',
  ),
};

const EXAMPLE_INCIDENT = {
  id: exampleId('inc'),
  object: 'alert_incident',
  alert_id: exampleId('alt'),
  condition: 'score_below',
  threshold: 70,
  subject: 'example.com',
  status: 'open',
  value: { score: 61 },
  test_id: exampleId('test'),
  run_id: null,
  opened_at: '2026-11-21T10:00:24.000Z',
  resolved_at: null,
  resolution: null,
  notifications: [
    { channel: 'email', status: 'sent', error: null, sent_at: '2026-11-21T10:00:26.000Z' },
  ],
} as const;

export const AlertIncident = named(
  'AlertIncident',
  v.object(INCIDENT),
  'The period from when a condition is met for a subject until it is resolved.',
  EXAMPLE_INCIDENT as never,
);
export type AlertIncident = v.InferOutput<typeof AlertIncident>;

const IncidentNotification = named(
  'IncidentNotification',
  v.object({
    ...NOTIFICATION,
    type: described(
      v.picklist(['triggered', 'reminder', 'resolved']),
      'Whether it reports that the incident was opened, is still open, or was resolved.',
      'triggered',
    ),
    recipient: described(
      v.nullable(v.string()),
      'The email address. Null for other channels.',
      'alex@example.com',
    ),
    created_at: described(Time, 'When the notification was created.', '2026-11-21T10:00:24.000Z'),
  }),
  'A notification about an incident, with its recipient.',
);
export type IncidentNotification = v.InferOutput<typeof IncidentNotification>;

export const AlertIncidentWithDetails = named(
  'AlertIncidentWithDetails',
  v.object({
    ...INCIDENT,
    monitor_id: described(
      v.nullable(v.string()),
      'The monitor of the run. Null if no run opened the incident, or if the monitor was deleted.',
    ),
    next_reminder_at: described(
      v.nullable(Time),
      'When the next reminder is due. Null if there is none.',
    ),
    alert: described(v.nullable(Alert), 'The rule. Null if it was deleted.'),
    notifications: described(
      v.array(IncidentNotification),
      'The notifications about the incident, oldest first, with the last 50 reminders.',
    ),
  }),
  'An incident with its rule and its notifications.',
  {
    ...EXAMPLE_INCIDENT,
    monitor_id: null,
    next_reminder_at: null,
    alert: null,
    notifications: [
      {
        ...EXAMPLE_INCIDENT.notifications[0],
        type: 'triggered',
        recipient: 'alex@example.com',
        created_at: '2026-11-21T10:00:24.000Z',
      },
    ],
  } as never,
);
export type AlertIncidentWithDetails = v.InferOutput<typeof AlertIncidentWithDetails>;

const IncidentEvent = named(
  'AlertIncidentEvent',
  v.object({
    ...INCIDENT,
    alert: v.optional(described(Alert, 'The rule. Missing if it was deleted.')),
    test: v.optional(
      described(ListedTest, 'The test that opened or resolved the incident. Missing otherwise.'),
    ),
    monitor_run: v.optional(
      described(
        MonitorRun,
        'The monitor run that opened or resolved the incident. Missing otherwise.',
      ),
    ),
  }),
  'An incident with its rule, and with the test or run that opened or resolved it.',
  EXAMPLE_INCIDENT as never,
);

/** The event types of this feature. */
const incidentLine = (data: EventData): (string | null)[] => [
  asText(field(data.alert, 'name')),
  asText(data.subject),
  labeled('value', data.value),
];

export const ALERT_EVENTS: EventDeclaration[] = [
  {
    type: 'alert.triggered',
    summary: 'An alert rule opened an incident',
    description:
      'The condition of an alert rule is met for a subject. Endpoints get it only if the rule has the channel `webhook`.',
    data: IncidentEvent,
    object:
      'the incident, with its rule (`alert`) and the `test` or `monitor_run` that caused it, if there is one',
    line: incidentLine,
  },
  {
    type: 'alert.resolved',
    summary: 'An incident was resolved',
    description:
      'The condition is no longer met, or the rule was changed. Endpoints get it only if the rule has the channel `webhook`.',
    data: IncidentEvent,
    object: 'the incident, with its rule (`alert`)',
    line: (data) => [...incidentLine(data), asText(data.resolution)],
  },
];

export const AlertListQuery = v.strictObject(PAGE_QUERY);
const Status = described(v.optional(oneOf(INCIDENT_STATUSES)), 'Only incidents with this status.');
export const AlertIncidentsQuery = v.strictObject({ ...PAGE_QUERY, status: Status });
const FILTERS = {
  status: Status,
  alert_id: described(v.optional(Id), 'Only incidents of this rule.', exampleId('alt')),
};
const IncidentFilters = v.strictObject(FILTERS);
export type IncidentFilters = v.InferOutput<typeof IncidentFilters>;
export const IncidentListQuery = v.strictObject({ ...PAGE_QUERY, ...FILTERS });
