/** Schemas of report schedules and their runs (contract §5). */

import * as v from 'valibot';
import { described, Name, noDuplicates, PAGE_QUERY, Time } from '../http/schemas.ts';
import { EmailAddress } from '../team/schema.ts';
import { canonicalTimeZone, isTimeZone } from './times.ts';

const FREQUENCIES = ['daily', 'weekly', 'monthly'] as const;
const SECTIONS = ['summary', 'trends', 'alerts'] as const;
export type Section = (typeof SECTIONS)[number];
const FORMATS = ['html', 'pdf'] as const;
const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

const MAX_RECIPIENTS = 50;
const MAX_DOMAINS = 100;

const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, `must be one of ${values.join(', ')}`);

const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of email addresses'),
  v.minLength(1, 'must contain at least one address'),
  v.maxLength(MAX_RECIPIENTS, `must contain at most ${MAX_RECIPIENTS} addresses`),
  noDuplicates('is a duplicate'),
);

const DomainId = v.pipe(
  v.string('must be the ID of a domain'),
  v.minLength(1, 'must be the ID of a domain'),
  v.maxLength(100, 'must have at most 100 characters'),
);
const Domains = v.pipe(
  v.array(DomainId, 'must be a list of domain IDs, or null for all domains'),
  v.minLength(1, 'must contain at least one domain; use null for all domains'),
  v.maxLength(MAX_DOMAINS, `must contain at most ${MAX_DOMAINS} domains`),
  noDuplicates('is a duplicate'),
);

const Sections = v.pipe(
  v.array(oneOf(SECTIONS), 'must be a list of sections'),
  v.minLength(1, 'must contain at least one section'),
  v.maxLength(SECTIONS.length, `must contain at most ${SECTIONS.length} sections`),
  v.check((names) => new Set(names).size === names.length, 'must contain each section only once'),
);

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const TimeZone = v.pipe(
  v.string('must be a string'),
  v.check(isTimeZone, 'must be an IANA time zone name, such as Europe/Berlin'),
  v.metadata({ jsonSchema: { type: 'string', maxLength: 64 } }),
  v.transform(canonicalTimeZone),
);
const Enabled = v.boolean('must be true or false');
const Hour = wholeNumber(0, 23);
const DayOfMonth = wholeNumber(1, 31);

export const NewSchedule = v.pipe(
  v.strictObject({
    name: Name,
    frequency: oneOf(FREQUENCIES),
    recipients: Recipients,
    domains: v.optional(v.nullable(Domains)),
    include_sections: v.optional(Sections, [...SECTIONS]),
    format: v.optional(oneOf(FORMATS), 'html'),
    send_hour: v.optional(Hour, 8),
    timezone: v.optional(TimeZone, 'UTC'),
    weekday: v.optional(oneOf(WEEKDAYS), 'monday'),
    day_of_month: v.optional(DayOfMonth, 1),
    enabled: v.optional(Enabled, true),
  }),
  v.metadata({
    examples: [
      {
        name: 'Every Monday',
        frequency: 'weekly',
        recipients: ['alex@example.com'],
        timezone: 'Europe/Berlin',
      },
    ],
  }),
);
export type NewSchedule = v.InferOutput<typeof NewSchedule>;

export const SchedulePatch = v.strictObject({
  name: v.optional(Name),
  frequency: v.optional(oneOf(FREQUENCIES)),
  recipients: v.optional(Recipients),
  domains: v.optional(v.nullable(Domains)),
  include_sections: v.optional(Sections),
  format: v.optional(oneOf(FORMATS)),
  send_hour: v.optional(Hour),
  timezone: v.optional(TimeZone),
  weekday: v.optional(oneOf(WEEKDAYS)),
  day_of_month: v.optional(DayOfMonth),
  enabled: v.optional(Enabled),
});
export type SchedulePatch = v.InferOutput<typeof SchedulePatch>;

const RUN_STATUSES = ['sending', 'sent', 'partial', 'failed', 'not_configured'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const Schedule = v.object({
  id: v.string(),
  object: v.literal('report_schedule'),
  name: v.string(),
  frequency: v.picklist(FREQUENCIES),
  recipients: v.array(v.string()),
  domains: described(
    v.nullable(v.array(v.string())),
    'IDs of the domains that the report covers. Null means all domains. Deleted domains are removed from the list. With an empty list, the report includes no tests.',
  ),
  include_sections: v.array(v.picklist(SECTIONS)),
  format: v.picklist(FORMATS),
  send_hour: described(
    v.pipe(v.number(), v.integer()),
    'Hour of the day, from 0 to 23, in the time zone of the schedule.',
  ),
  timezone: described(v.string(), 'IANA time zone name, such as `Europe/Berlin`.'),
  weekday: described(v.picklist(WEEKDAYS), 'Used by weekly schedules only.'),
  day_of_month: described(
    v.pipe(v.number(), v.integer()),
    'Used by monthly schedules only. A shorter month uses its last day.',
  ),
  enabled: v.boolean(),
  detail: described(
    v.nullable(v.string()),
    'Describes a problem with the schedule. Null if there is none.',
  ),
  next_send_at: described(
    v.nullable(Time),
    'When the next report is due. In the past while a due report is being sent. Null if the schedule is disabled.',
  ),
  last_sent_at: described(
    v.nullable(Time),
    'When the mail server last accepted a copy of a report.',
  ),
  last_status: described(
    v.nullable(v.picklist(RUN_STATUSES)),
    'Status of the last run. Null if there was none.',
  ),
  unsubscribed: described(
    v.array(v.object({ email: v.string(), left_at: Time })),
    'Recipients who unsubscribed with the link in an email. They get no reports, even if you add them again.',
  ),
  created_at: Time,
});
export type Schedule = v.InferOutput<typeof Schedule>;

const COPY_STATUSES = ['queued', 'sent', 'failed', 'unsubscribed', 'not_configured'] as const;

const ReportCopy = v.object({
  recipient: v.string(),
  status: v.picklist(COPY_STATUSES),
  error: described(
    v.nullable(v.string()),
    'Why the copy failed or, while it is queued, why the last attempt failed.',
  ),
  sent_at: v.nullable(Time),
});
export type ReportCopy = v.InferOutput<typeof ReportCopy>;

export const ReportRun = v.object({
  id: v.string(),
  object: v.literal('report_run'),
  schedule_id: v.string(),
  trigger: v.picklist(['schedule', 'manual']),
  slot: described(
    v.nullable(Time),
    'The scheduled time of the report. Null for a report that was sent manually.',
  ),
  period_from: Time,
  period_to: Time,
  status: v.picklist(RUN_STATUSES),
  error: v.nullable(v.string()),
  copies: v.array(ReportCopy),
  created_at: Time,
});
export type ReportRun = v.InferOutput<typeof ReportRun>;

export const ScheduleListQuery = v.strictObject(PAGE_QUERY);
export const ReportRunListQuery = v.strictObject(PAGE_QUERY);
