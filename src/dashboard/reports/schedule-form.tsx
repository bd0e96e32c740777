/** The form of a report schedule: its fields, and how they become a request. */

import { domainOperations } from '../../domains/routes.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { oneLine } from '../../report/blocks.ts';
import type { NewSchedule, Schedule } from '../../schedules/schema.ts';
import type { PageCall } from '../frame/app-page.tsx';
import {
  Checkbox,
  Checkboxes,
  type FieldErrors,
  type FormProblem,
  ProblemNotice,
  readForm,
  readFormList,
  Select,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { splitTags, TAG_LIST } from '../frame/tags-field.tsx';
import { VersionField } from '../frame/version.tsx';
import { findDomainNames, findDomainsByName } from './schedule-domains.ts';

/** What was typed, as text. */
export interface ScheduleValues {
  name: string;
  frequency: string;
  weekday: string;
  day_of_month: string;
  send_hour: string;
  timezone: string;
  recipients: string;
  /** The chosen IDs, if the form lists the domains. */
  domains: string[];
  tags: string;
  /** Who gets the reports: `one` list, or a list for each `client`. */
  audience: string;
  /** `tag: address, address` on each line. */
  recipients_by_tag: string;
  /** Names, one on each line, if there are too many to list. */
  domain_names: string;
  include_sections: string[];
  format: string;
  enabled: boolean;
}

export const SCHEDULE_LABELS = {
  name: 'name',
  frequency: 'frequency',
  weekday: 'day of the week',
  day_of_month: 'day of the month',
  send_hour: 'time',
  timezone: 'time zone',
  recipients: 'list of recipients',
  domains: 'list of domains',
  domain_names: 'list of domains',
  tags: 'list of tags',
  recipients_by_tag: 'list of clients',
  include_sections: 'list of sections',
  format: 'format',
};

export const newValues = (timezone: string | null): ScheduleValues => ({
  name: '',
  frequency: 'weekly',
  weekday: 'monday',
  day_of_month: '1',
  send_hour: '8',
  timezone: timezone ?? 'UTC',
  recipients: '',
  domains: [],
  tags: '',
  audience: 'one',
  recipients_by_tag: '',
  domain_names: '',
  include_sections: ['summary', 'trends', 'alerts'],
  format: 'html',
  enabled: true,
});

export async function valuesOf(call: PageCall, schedule: Schedule): Promise<ScheduleValues> {
  const { name, frequency, weekday, timezone, format, enabled, domains } = schedule;
  const names = await findDomainNames(call.app.db, domains ?? []);
  return {
    name,
    frequency,
    weekday,
    timezone,
    format,
    enabled,
    day_of_month: String(schedule.day_of_month),
    send_hour: String(schedule.send_hour),
    recipients: schedule.recipients.join('\n'),
    domains: domains ?? [],
    tags: (schedule.tags ?? []).join(', '),
    audience: schedule.recipients_by_tag ? 'client' : 'one',
    recipients_by_tag: Object.entries(schedule.recipients_by_tag ?? {})
      .map(([tag, emails]) => `${tag}: ${emails.join(', ')}`)
      .join('\n'),
    domain_names: [...names.values()].join('\n'),
    include_sections: schedule.include_sections,
  };
}

export function readValues(raw: Uint8Array): ScheduleValues {
  const [field, list] = [readForm(raw), readFormList(raw)];
  return {
    name: field('name').trim(),
    frequency: field('frequency'),
    weekday: field('weekday'),
    day_of_month: field('day_of_month'),
    send_hour: field('send_hour'),
    timezone: field('timezone'),
    recipients: field('recipients'),
    domains: list('domains'),
    tags: field('tags'),
    audience: field('audience'),
    recipients_by_tag: field('recipients_by_tag'),
    domain_names: field('domain_names'),
    include_sections: list('include_sections'),
    format: field('format'),
    enabled: field('enabled') === 'on',
  };
}

const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** The body of the request. Its values are checked by the operation. `errors` are those it cannot find. */
export async function bodyOf(
  { app }: PageCall,
  values: ScheduleValues,
): Promise<{ body: NewSchedule; errors: FieldErrors }> {
  const names = linesOf(values.domain_names);
  const found = await findDomainsByName(
    app.db,
    names.map((name) => normalizeDomain(name) ?? ''),
  );
  const unknown = names.filter((name) => !found.has(normalizeDomain(name) ?? ''));
  const ids = [...new Set([...values.domains, ...found.values()])];
  const { name, enabled } = values;
  const isForClients = values.audience === 'client';
  const tags = splitTags(values.tags);
  const clients = isForClients ? readClients(values.recipients_by_tag) : { byTag: null, wrong: [] };
  return {
    body: {
      name,
      enabled,
      frequency: values.frequency as NewSchedule['frequency'],
      weekday: values.weekday as NewSchedule['weekday'],
      day_of_month: numberOf(values.day_of_month),
      send_hour: numberOf(values.send_hour),
      timezone: values.timezone,
      ...(isForClients ? {} : { recipients: linesOf(values.recipients) }),
      domains: isForClients || ids.length === 0 ? null : ids,
      tags: isForClients || tags.length === 0 ? null : tags,
      recipients_by_tag: clients.byTag,
      include_sections: values.include_sections as NewSchedule['include_sections'],
      format: values.format as NewSchedule['format'],
    },
    errors: {
      ...(unknown.length > 0 && {
        domain_names: `Your team has no domain named ${unknown.slice(0, 3).join(', ')}.`,
      }),
      ...(clients.wrong.length > 0 && {
        recipients_by_tag: `Enter a tag and its recipients on each line, such as “client:acme: ann@acme.example”. Invalid line: “${clients.wrong[0]}”.`,
      }),
    },
  };
}

/** `client:acme: ann@acme.example, bob@acme.example` on each line. Tags can contain colons. */
function readClients(text: string): { byTag: Record<string, string[]>; wrong: string[] } {
  const byTag: Record<string, string[]> = {};
  const wrong: string[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const [, tag, addresses] = /^(.*\S)\s*:\s*([^:]*@[^:]*)$/.exec(line) ?? [];
    if (tag === undefined) wrong.push(oneLine(line, 80));
    else byTag[tag] = [...(byTag[tag] ?? []), ...linesOf(addresses!)];
  }
  return { byTag, wrong };
}

/** An empty field is not 0. */
const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

// The choices.

export const FREQUENCIES: [string, string][] = [
  ['daily', 'Every day'],
  ['weekly', 'Every week'],
  ['monthly', 'Every month'],
];

export const WEEKDAYS: [string, string][] = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
].map((name) => [name.toLowerCase(), name]);

export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

const HOURS = Array.from({ length: 24 }, (_, hour): [string, string] => [
  String(hour),
  clockOf(hour),
]);

export const SECTIONS: [string, string][] = [
  ['summary', 'Summary: score, pass rates, grades and top issues'],
  ['trends', 'Trends: charts over the period'],
  ['alerts', 'Alerts: domains that need attention, and incidents'],
];

const FORMATS: [string, string][] = [
  ['html', 'Email'],
  ['pdf', 'Email with PDF'],
];

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** With more domains, their names are typed. */
const MAX_LISTED_DOMAINS = 30;

interface FormProps {
  action: string;
  submit: string;
  values: ScheduleValues;
  /** Of the schedule to change. */
  version?: string;
  problem: FormProblem | null;
  /** To choose from; null if there are too many. */
  choices: [id: string, name: string][] | null;
}

export async function domainChoices(call: PageCall): Promise<FormProps['choices']> {
  const query = { limit: String(MAX_LISTED_DOMAINS) };
  const { data, has_more } = await call.invoke(domainOperations.list, { query });
  if (has_more) return null;
  return data
    .map(({ id, name }): [string, string] => [id, name])
    .sort(([, a], [, b]) => (a < b ? -1 : 1));
}

export function ScheduleForm({ action, submit, values, version, problem, choices }: FormProps) {
  const errors = problem?.fields ?? {};
  return (
    <form method="post" action={action} class="fields card panel schedule-form">
      <ProblemNotice problem={problem} />
      <VersionField version={version} />
      <TextField
        name="name"
        label="Name"
        hint="Used as the title of the reports, such as “Every Monday”."
        value={values.name}
        error={errors.name}
        required
      />
      <div class="field-row">
        <Select
          name="frequency"
          label="How often"
          options={FREQUENCIES}
          value={values.frequency}
          error={errors.frequency}
        />
        <div class="for-weekly">
          <Select
            name="weekday"
            label="Day (weekly)"
            options={WEEKDAYS}
            value={values.weekday}
            error={errors.weekday}
          />
        </div>
        <div class="for-monthly">
          <TextField
            name="day_of_month"
            label="Day of the month (monthly)"
            type="number"
            min={1}
            max={31}
            value={values.day_of_month}
            error={errors.day_of_month}
          />
        </div>
      </div>
      <div class="field-row">
        <Select
          name="send_hour"
          label="Time"
          options={HOURS}
          value={values.send_hour}
          error={errors.send_hour}
        />
        <Select
          name="timezone"
          label="Time zone"
          options={[...new Set([...ZONES, values.timezone])].map((zone) => [zone, zone])}
          value={values.timezone}
          error={errors.timezone}
        />
      </div>
      <Select
        name="audience"
        label="Send"
        options={[
          ['one', 'One report to all recipients'],
          ['client', 'A report for each client, about its own domains'],
        ]}
        value={values.audience}
      />
      <div class="for-one">
        <TextArea
          name="recipients"
          label="Recipients"
          hint="One email address on each line, at most 50. They don't need an account."
          value={values.recipients}
          error={errors.recipients}
        />
      </div>
      <div class="for-clients">
        <TextArea
          name="recipients_by_tag"
          label="Recipients of each client"
          hint="On each line a tag of domains and its recipients, such as “client:acme: ann@acme.example, bob@acme.example”. Each gets a report about the domains with that tag, and about nothing else."
          value={values.recipients_by_tag}
          error={errors.recipients_by_tag}
        />
      </div>
      <div class="for-one">
        <TextField
          name="tags"
          label="Domains with the tags (optional)"
          list={TAG_LIST}
          hint="Separated by commas. Instead of a list of domains: covers those that have one of the tags when a report is sent."
          value={values.tags}
          error={errors.tags}
        />
      </div>
      <div class="for-one">
        {choices === null ? (
          <TextArea
            name="domain_names"
            label="Domains (optional)"
            hint="One on each line. Leave empty to include all domains."
            value={values.domain_names}
            error={errors.domain_names ?? errors.domains}
          />
        ) : (
          choices.length > 0 && (
            <Checkboxes
              name="domains"
              label="Domains (optional)"
              hint="Select none to include all domains, and tests without a domain."
              options={choices}
              values={values.domains}
              error={errors.domains}
            />
          )
        )}
      </div>
      <Checkboxes
        name="include_sections"
        label="Sections"
        options={SECTIONS}
        values={values.include_sections}
        error={errors.include_sections}
      />
      <Select
        name="format"
        label="Format"
        options={FORMATS}
        value={values.format}
        error={errors.format}
      />
      <Checkbox name="enabled" label="Send reports on schedule" checked={values.enabled} />
      <button type="submit" class="button primary">
        {submit}
      </button>
    </form>
  );
}
