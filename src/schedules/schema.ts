/** Schedules of reports and their runs as the API takes and answers them (contract §5). */

import * as v from 'valibot';
import { eachOnce, Name, PAGE, Time } from '../http/schemas.ts';
import { EmailAddress } from '../team/schema.ts';
import { isTimeZone, spelledZone } from './times.ts';

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

const MOST_RECIPIENTS = 50;
const MOST_DOMAINS = 100;

const oneOf = <const T extends readonly string[]>(values: T) =>
  v.picklist(values, `must be one of ${values.join(', ')}`);

const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of e-mail addresses'),
  v.minLength(1, 'must name an address at least'),
  v.maxLength(MOST_RECIPIENTS, `must name at most ${MOST_RECIPIENTS} addresses`),
  eachOnce('is an address that is named before'),
);

const DomainId = v.pipe(
  v.string('must be the id of a domain'),
  v.minLength(1, 'must be the id of a domain'),
  v.maxLength(100, 'must have at most 100 characters'),
);
const Domains = v.pipe(
  v.array(DomainId, 'must be a list of ids of domains, or null for all'),
  v.minLength(1, 'must name a domain at least; null is all'),
  v.maxLength(MOST_DOMAINS, `must name at most ${MOST_DOMAINS} domains`),
  eachOnce('is a domain that is named before'),
);

const Sections = v.pipe(
  v.array(oneOf(SECTIONS), 'must be a list'),
  v.minLength(1, 'must name a section at least'),
  v.maxLength(SECTIONS.length, `must name at most ${SECTIONS.length} sections`),
  v.check((names) => new Set(names).size === names.length, 'must name each section once'),
);

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const TimeZone = v.pipe(
  v.string('must be text'),
  v.check(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin'),
  v.metadata({ jsonSchema: { type: 'string', maxLength: 64 } }),
  v.transform(spelledZone),
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
  /** null: all. Those that are deleted drop out; where none is left, nothing is counted. */
  domains: v.nullable(v.array(v.string())),
  include_sections: v.array(v.picklist(SECTIONS)),
  format: v.picklist(FORMATS),
  send_hour: v.pipe(v.number(), v.integer()),
  timezone: v.string(),
  weekday: v.picklist(WEEKDAYS),
  day_of_month: v.pipe(v.number(), v.integer()),
  enabled: v.boolean(),
  /** What somebody should know of it; null where there is nothing. */
  detail: v.nullable(v.string()),
  /** In the past where it is due, until it has been sent. */
  next_send_at: v.nullable(Time),
  /** When the server last took a copy of any of its reports. */
  last_sent_at: v.nullable(Time),
  last_status: v.nullable(v.picklist(RUN_STATUSES)),
  /** Who has left by the link in a mail: they get no more, even where they are named again. */
  unsubscribed: v.array(v.object({ email: v.string(), left_at: Time })),
  created_at: Time,
});
export type Schedule = v.InferOutput<typeof Schedule>;

const COPY_STATUSES = ['queued', 'sent', 'failed', 'unsubscribed', 'not_configured'] as const;

const ReportCopy = v.object({
  recipient: v.string(),
  status: v.picklist(COPY_STATUSES),
  /** Why it failed, or why it is tried again. */
  error: v.nullable(v.string()),
  sent_at: v.nullable(Time),
});
export type ReportCopy = v.InferOutput<typeof ReportCopy>;

export const ReportRun = v.object({
  id: v.string(),
  object: v.literal('report_run'),
  schedule_id: v.string(),
  trigger: v.picklist(['schedule', 'manual']),
  /** The time of the schedule that it is for; null where somebody asked for it. */
  slot: v.nullable(Time),
  period_from: Time,
  period_to: Time,
  status: v.picklist(RUN_STATUSES),
  error: v.nullable(v.string()),
  copies: v.array(ReportCopy),
  created_at: Time,
});
export type ReportRun = v.InferOutput<typeof ReportRun>;

export const ScheduleListQuery = v.strictObject(PAGE);
export const ReportRunListQuery = v.strictObject(PAGE);
