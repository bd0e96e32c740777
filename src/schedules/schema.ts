/** Schemas of report schedules and their runs (contract §5). */

import * as v from 'valibot';
import {
  described,
  exampleId,
  idOf,
  maxCharacters,
  Name,
  named,
  noDuplicates,
  oneOf,
  PAGE_QUERY,
  Time,
  TimeZone,
  typeField,
  wholeNumber,
} from '../http/schemas.ts';
import { Tag, TagLimit } from '../http/tags.ts';
import { EmailAddress } from '../team/schema.ts';

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

const Recipients = v.pipe(
  v.array(EmailAddress, 'must be a list of email addresses'),
  v.minLength(1, 'must contain at least one address'),
  v.maxLength(MAX_RECIPIENTS, `must contain at most ${MAX_RECIPIENTS} addresses`),
  noDuplicates('is a duplicate'),
);

const MAX_CLIENTS = 300;

const RecipientsByTag = v.nullable(
  v.pipe(
    v.record(Tag, Recipients, 'must be an object with a list of recipients for each tag'),
    v.minEntries(1, 'must have at least one tag'),
    v.maxEntries(MAX_CLIENTS, `must have at most ${MAX_CLIENTS} tags`),
  ),
);

const DomainId = v.pipe(
  v.string('must be the ID of a domain'),
  v.minLength(1, 'must be the ID of a domain'),
  maxCharacters(100, 'must have at most 100 characters'),
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

const Enabled = v.boolean('must be true or false');
const Hour = wholeNumber(0, 23);
const DayOfMonth = wholeNumber(1, 31);

const TEXTS = {
  name: 'The name of the schedule, which is also the title of its reports.',
  frequency: 'How often a report is sent. It covers the last day, week or month.',
  recipients:
    'The email addresses that get the report. Required unless `recipients_by_tag` is set, and then empty.',
  domains: 'IDs of the domains that the report covers. Null means all domains.',
  tags: 'The report covers the domains that have one of these tags when it is sent. Null for `domains`.',
  recipients_by_tag:
    'Sends a separate report for each tag, such as `client:acme`, about its domains and to its own recipients. Null for one report.',
  include_sections: 'The sections of the report.',
  format: '`pdf` attaches the report as a PDF.',
  send_hour: 'Hour of the day, from 0 to 23, in the time zone of the schedule.',
  timezone: 'IANA time zone name, such as `Europe/Berlin`.',
  weekday: 'Used by weekly schedules only.',
  day_of_month: 'Used by monthly schedules only. A shorter month uses its last day.',
  enabled: 'Whether reports are sent.',
};

const CLIENTS_EXAMPLE = { 'client:acme': ['ann@acme.example'] };
const LIMITS = {
  tags: v.optional(described(TagLimit, TEXTS.tags, ['client:acme'])),
  recipients_by_tag: v.optional(
    described(RecipientsByTag, TEXTS.recipients_by_tag, CLIENTS_EXAMPLE),
  ),
};

export const NewSchedule = named(
  'CreateReportSchedule',
  v.strictObject({
    name: described(Name, TEXTS.name),
    frequency: described(oneOf(FREQUENCIES), TEXTS.frequency),
    recipients: described(v.optional(Recipients), TEXTS.recipients),
    domains: described(v.optional(v.nullable(Domains)), TEXTS.domains, [exampleId('dom')]),
    ...LIMITS,
    include_sections: described(v.optional(Sections, [...SECTIONS]), TEXTS.include_sections),
    format: described(v.optional(oneOf(FORMATS), 'html'), TEXTS.format),
    send_hour: described(v.optional(Hour, 8), TEXTS.send_hour, 8),
    timezone: described(v.optional(TimeZone, 'UTC'), TEXTS.timezone),
    weekday: described(v.optional(oneOf(WEEKDAYS), 'monday'), TEXTS.weekday),
    day_of_month: described(v.optional(DayOfMonth, 1), TEXTS.day_of_month, 1),
    enabled: described(v.optional(Enabled, true), TEXTS.enabled),
  }),
  'A new report schedule.',
  {
    name: 'Every Monday',
    frequency: 'weekly',
    recipients: ['alex@example.com'],
    timezone: 'Europe/Berlin',
  },
);
export type NewSchedule = v.InferOutput<typeof NewSchedule>;

export const SchedulePatch = named(
  'UpdateReportSchedule',
  v.strictObject({
    name: described(v.optional(Name), TEXTS.name),
    frequency: described(v.optional(oneOf(FREQUENCIES)), TEXTS.frequency),
    recipients: described(v.optional(Recipients), TEXTS.recipients, ['alex@example.com']),
    domains: described(v.optional(v.nullable(Domains)), TEXTS.domains, [exampleId('dom')]),
    ...LIMITS,
    include_sections: described(v.optional(Sections), TEXTS.include_sections, ['summary']),
    format: described(v.optional(oneOf(FORMATS)), TEXTS.format),
    send_hour: described(v.optional(Hour), TEXTS.send_hour, 8),
    timezone: described(v.optional(TimeZone), TEXTS.timezone, 'Europe/Berlin'),
    weekday: described(v.optional(oneOf(WEEKDAYS)), TEXTS.weekday),
    day_of_month: described(v.optional(DayOfMonth), TEXTS.day_of_month, 1),
    enabled: described(v.optional(Enabled), TEXTS.enabled),
  }),
  'The changes to a report schedule. Omitted fields keep their value.',
  { name: 'Every Friday', weekday: 'friday', enabled: true },
);
export type SchedulePatch = v.InferOutput<typeof SchedulePatch>;

const RUN_STATUSES = ['sending', 'sent', 'partial', 'failed', 'not_configured'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const Schedule = named(
  'ReportSchedule',
  v.object({
    id: idOf('rps'),
    object: typeField('report_schedule'),
    name: described(v.string(), TEXTS.name),
    frequency: described(v.picklist(FREQUENCIES), TEXTS.frequency),
    recipients: described(v.array(v.string()), TEXTS.recipients),
    domains: described(
      v.nullable(v.array(v.string())),
      'IDs of the domains that the report covers. Null means all domains. Deleted domains are removed from the list. With an empty list, the report includes no tests.',
      [exampleId('dom')],
    ),
    tags: described(v.nullable(v.array(v.string())), TEXTS.tags, ['client:acme']),
    recipients_by_tag: described(
      v.nullable(v.record(v.string(), v.array(v.string()))),
      TEXTS.recipients_by_tag,
      CLIENTS_EXAMPLE,
    ),
    include_sections: described(v.array(v.picklist(SECTIONS)), TEXTS.include_sections),
    format: described(v.picklist(FORMATS), TEXTS.format),
    send_hour: described(v.pipe(v.number(), v.integer()), TEXTS.send_hour),
    timezone: described(v.string(), TEXTS.timezone),
    weekday: described(v.picklist(WEEKDAYS), TEXTS.weekday),
    day_of_month: described(v.pipe(v.number(), v.integer()), TEXTS.day_of_month),
    enabled: described(v.boolean(), TEXTS.enabled),
    detail: described(
      v.nullable(v.string()),
      'Describes a problem with the schedule. Null if there is none.',
      'Outgoing email is not configured.',
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
      v.array(
        named(
          'UnsubscribedRecipient',
          v.object({
            email: described(v.string(), 'The email address.', 'robin@example.com'),
            left_at: described(Time, 'When the recipient unsubscribed.'),
          }),
          'A recipient who unsubscribed.',
        ),
      ),
      'Recipients who unsubscribed with the link in an email. They get no reports, even if you add them again.',
    ),
    created_at: Time,
  }),
  'A report that is emailed every day, week or month.',
  {
    name: 'Every Monday',
    frequency: 'weekly',
    recipients: ['alex@example.com'],
    domains: null,
    tags: null,
    recipients_by_tag: null,
    include_sections: ['summary', 'trends', 'alerts'],
    format: 'html',
    send_hour: 8,
    timezone: 'Europe/Berlin',
    weekday: 'monday',
    day_of_month: 1,
    enabled: true,
    detail: null,
    next_send_at: '2026-11-30T07:00:00.000Z',
    last_sent_at: '2026-11-23T07:00:03.000Z',
    last_status: 'sent',
    unsubscribed: [],
    created_at: '2026-11-20T09:12:00.000Z',
  },
);
export type Schedule = v.InferOutput<typeof Schedule>;

const COPY_STATUSES = ['queued', 'sent', 'failed', 'unsubscribed', 'not_configured'] as const;

const ReportCopy = named(
  'ReportCopy',
  v.object({
    recipient: described(v.string(), 'The email address.'),
    status: described(v.picklist(COPY_STATUSES), 'The status of the copy.'),
    error: described(
      v.nullable(v.string()),
      'Why the copy failed or, while it is queued, why the last attempt failed.',
      'The mail server rejected the recipient: 550 5.1.1 No such user.',
    ),
    sent_at: described(v.nullable(Time), 'When the mail server accepted it. Null before that.'),
  }),
  'The email with a report to one recipient.',
  {
    recipient: 'alex@example.com',
    status: 'sent',
    error: null,
    sent_at: '2026-11-23T07:00:03.000Z',
  },
);
export type ReportCopy = v.InferOutput<typeof ReportCopy>;

export const ReportRun = named(
  'ReportRun',
  v.object({
    id: idOf('rpr'),
    object: typeField('report_run'),
    schedule_id: described(v.string(), 'The ID of the schedule.'),
    trigger: described(
      v.picklist(['schedule', 'manual']),
      'Whether the schedule or a request started the run.',
    ),
    slot: described(
      v.nullable(Time),
      'The scheduled time of the report. Null for a report that was sent manually.',
    ),
    tag: described(
      v.nullable(v.string()),
      'The tag whose domains the report covers, if the schedule has a report for each tag.',
      'client:acme',
    ),
    period_from: described(Time, 'The start of the period that the report covers.'),
    period_to: described(Time, 'The end of the period that the report covers.'),
    status: described(
      v.picklist(RUN_STATUSES),
      '`partial`: some copies failed. `not_configured`: outgoing email is not configured.',
    ),
    error: described(
      v.nullable(v.string()),
      'Why the report could not be created. Null if it could.',
      'The report could not be rendered.',
    ),
    copies: described(v.array(ReportCopy), 'The email to each recipient.'),
    created_at: described(Time, 'When the run started.'),
  }),
  'One report that a schedule has sent, or the report for one tag.',
  {
    trigger: 'schedule',
    slot: '2026-11-23T07:00:00.000Z',
    tag: null,
    period_from: '2026-11-16T00:00:00.000Z',
    period_to: '2026-11-23T00:00:00.000Z',
    status: 'sent',
    error: null,
    copies: [],
    created_at: '2026-11-23T07:00:00.000Z',
  },
);
export type ReportRun = v.InferOutput<typeof ReportRun>;

export const ScheduleListQuery = v.strictObject(PAGE_QUERY);
export const ReportRunListQuery = v.strictObject(PAGE_QUERY);
