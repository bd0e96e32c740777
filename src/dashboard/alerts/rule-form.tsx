/** The form of an alert rule, for a new one and for changes. */

import type { ChannelField } from '../../alerts/channels/channel.ts';
import {
  CHANNEL_IDS,
  CHANNELS,
  type ChannelId,
  isKnownChannel,
  unconfiguredChannels,
} from '../../alerts/channels/index.ts';
import { shownName } from '../../alerts/channels/settings.ts';
import { findSubscribedEndpoints } from '../../alerts/channels/webhook.ts';
import type { Threshold } from '../../alerts/conditions/condition.ts';
import { CONDITION_IDS, CONDITIONS, type ConditionId } from '../../alerts/conditions/index.ts';
import { unknownCondition } from '../../alerts/conditions/unknown.ts';
import { alertOr404 } from '../../alerts/queries.ts';
import { RECOMMENDED_CONDITIONS } from '../../alerts/recommended.ts';
import { type Alert, type AlertPatch, type NewAlert, REMINDER_HOURS } from '../../alerts/schema.ts';
import type { App } from '../../app.ts';
import { findDomainByName } from '../../domains/queries.ts';
import { domainOperations } from '../../domains/routes.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { AppError } from '../../lib/errors.ts';
import type { AlertRow } from '../../store/tables.generated.ts';
import type { PageCall } from '../frame/app-page.tsx';
import { Choices } from '../frame/choices.tsx';
import {
  Checkbox,
  type FormProblem,
  ProblemNotice,
  readForm,
  readFormList,
  Select,
  TextArea,
  TextField,
} from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { NotSetUp } from '../frame/states.tsx';
import { splitTags, TAG_LIST } from '../frame/tags-field.tsx';
import { VersionField } from '../frame/version.tsx';

/** What was typed. */
export interface RuleValues {
  name: string;
  condition: string;
  threshold: string;
  /** The name of a domain; empty for all domains. */
  domain: string;
  tags: string;
  channels: string[];
  /** What channels need, by the names of their fields. Secrets that are stored are never among them. */
  settings: Record<string, string>;
  /** The stored secrets to remove. */
  removed: string[];
  /** Hours; empty for no reminders. */
  reminders: string;
  enabled: boolean;
}

const FIELDS = CHANNEL_IDS.flatMap((id) => CHANNELS[id].fields);
const NO_SETTINGS = Object.fromEntries(FIELDS.map(({ name }) => [name, '']));
const removalName = (name: string): string => `remove_${name}`;

/** Labels of the fields in error messages. */
export const RULE_LABELS = {
  name: 'name',
  condition: 'condition',
  threshold: 'threshold',
  domain: 'domain',
  tags: 'list of tags',
  channels: 'list of channels',
  reminder_hours: 'time between reminders',
  ...Object.fromEntries(FIELDS.map(({ name, label, noun }) => [name, noun ?? label])),
};

export const NEW_RULE: RuleValues = {
  name: '',
  condition: 'score_below',
  // The default of the condition.
  threshold: '',
  domain: '',
  tags: '',
  channels: ['email'],
  settings: NO_SETTINGS,
  removed: [],
  reminders: '',
  enabled: true,
};

export const valuesOf = (alert: Alert, domainName: string | null): RuleValues => ({
  name: alert.name,
  condition: alert.condition,
  threshold: alert.threshold?.toString() ?? '',
  domain: domainName ?? '',
  tags: (alert.tags ?? []).join(', '),
  channels: alert.channels,
  settings: Object.fromEntries(FIELDS.map((field) => [field.name, typedValue(alert, field)])),
  removed: [],
  reminders: alert.reminder_hours?.toString() ?? '',
  enabled: alert.enabled,
});

/** What the form shows of a field. */
function typedValue(alert: Alert, { name, kind, isSecret }: ChannelField): string {
  if (isSecret) return '';
  const value = (alert as Record<string, unknown>)[name] ?? '';
  return kind === 'addresses' ? [value].flat().join('\n') : String(value);
}

export function readValues(raw: Uint8Array): RuleValues {
  const field = readForm(raw);
  return {
    name: field('name'),
    condition: field('condition'),
    threshold: field(thresholdName(field('condition'))).trim(),
    domain: field('domain').trim(),
    tags: field('tags'),
    channels: readFormList(raw)('channels'),
    settings: Object.fromEntries(
      FIELDS.map(({ name, kind }) => [
        name,
        kind === 'addresses' ? field(name) : field(name).trim(),
      ]),
    ),
    removed: FIELDS.flatMap(({ name }) => (field(removalName(name)) === 'on' ? [name] : [])),
    reminders: field('reminder_hours').trim(),
    enabled: field('enabled') === 'on',
  };
}

/** The body for the API. Throws `validation_failed` for an unknown domain. */
export async function bodyOf(
  { db }: Pick<App, 'db'>,
  values: RuleValues,
): Promise<NewAlert & AlertPatch> {
  const { name, condition, threshold, channels, reminders, enabled } = values;
  const tags = splitTags(values.tags);
  const hasThreshold = CONDITIONS.find(({ id }) => id === condition)?.threshold != null;
  return {
    name,
    // The operation rejects other values. One that a newer version has stored is left alone.
    condition: isShownOnly(condition) ? (undefined as never) : (condition as ConditionId),
    // Those of a newer version stay with the rule.
    channels: channels.filter(isKnownChannel),
    enabled,
    reminder_hours: reminders === '' ? null : Number(reminders),
    ...(hasThreshold ? { threshold: threshold === '' ? null : Number(threshold) } : {}),
    domain_id: await domainIdOf(db, values.domain),
    tags: tags.length > 0 ? tags : null,
    ...Object.fromEntries(FIELDS.flatMap((field) => settingOf(values, field))),
  };
}

/** The form never contains a stored secret, so an empty field keeps it. */
function settingOf(
  { settings, removed }: RuleValues,
  { name, kind, isSecret, choices }: ChannelField,
): [name: string, value: unknown][] {
  const text = settings[name] ?? '';
  if (kind === 'addresses') {
    const addresses = text.split(/[\s,;]+/).filter((address) => address !== '');
    return [[name, addresses.length > 0 ? addresses : null]];
  }
  if (text !== '' && text !== choices?.[0]) return [[name, text]];
  return isSecret && !removed.includes(name) ? [] : [[name, null]];
}

async function domainIdOf(db: App['db'], name: string): Promise<string | null> {
  if (name === '') return null;
  const domain = await findDomainByName(db, normalizeDomain(name) ?? name);
  if (domain) return domain.id;
  const message = 'is not one of your domains. Add it under “Domains” first';
  throw new AppError('validation_failed', `The domain ${message}.`, [
    { param: 'domain', code: 'invalid', message },
  ]);
}

/** What the form shows besides the values. */
export interface RuleFormContext {
  /** Domain names; null if there are too many to choose from. */
  domains: string[] | null;
  /** The channels that cannot deliver. */
  unconfigured: ChannelId[];
  /** How the API shows the settings of the rule. */
  shown: Record<string, unknown>;
}

/** `alert`: the rule to change; none for a new one. */
export async function ruleFormContext(call: PageCall, alert?: Alert): Promise<RuleFormContext> {
  const { app } = call;
  const domains = await call.invoke(domainOperations.list, { query: { limit: '100' } });
  const endpoints = await findSubscribedEndpoints(app.db, 'alert.triggered');
  return {
    domains: domains.has_more ? null : domains.data.map(({ name }) => name).sort(),
    unconfigured: unconfiguredChannels(
      app,
      { ...(alert ? await alertOr404(app.db, alert.id) : BLANK), channels: ALL_CHANNELS },
      endpoints.length > 0,
    ),
    shown: alert ?? {},
  };
}

const ALL_CHANNELS = JSON.stringify(CHANNEL_IDS);
/** A rule without settings. */
const BLANK: AlertRow = {
  id: '',
  name: '',
  condition: 'score_below',
  threshold: null,
  channels: '[]',
  enabled: 1,
  domain_id: null,
  tags: null,
  recipients: null,
  slack_webhook_url: null,
  last_triggered_at: null,
  reminder_hours: null,
  created_at: '',
};

interface RuleFormProps extends RuleFormContext {
  action: string;
  values: RuleValues;
  problem: FormProblem | null;
  submit: string;
  /** Of the rule to change. */
  version?: string;
}

export function RuleForm({ action, values, problem, submit, version, ...context }: RuleFormProps) {
  const errors = problem?.fields ?? {};
  return (
    <form method="post" action={action} class="fields rule-form">
      <ProblemNotice problem={problem} />
      <VersionField version={version} />
      <TextField
        name="name"
        label="Name"
        hint="Shown in notifications, such as “Low score”."
        value={values.name}
        error={errors.name}
        required
      />
      <Choices
        type="radio"
        name="condition"
        label="Alert when"
        error={errors.condition}
        choices={conditionChoices(values, errors.threshold)}
        values={[values.condition]}
      />
      <DomainField domains={context.domains} value={values.domain} error={errors.domain} />
      <TextField
        name="tags"
        label="Domains with the tags"
        list={TAG_LIST}
        hint="Instead of one domain: limits the rule to the domains that have one of these tags, such as client:acme. Each domain has its own incident."
        value={values.tags}
        error={errors.tags}
      />
      <Choices
        type="checkbox"
        name="channels"
        label="Notify by"
        error={errors.channels}
        choices={[...channelChoices(context.unconfigured), ...unknownChannels(values.channels)]}
        values={values.channels}
      />
      {CHANNEL_IDS.map((id) => (
        <ChannelSettings key={id} id={id} values={values} errors={errors} shown={context.shown} />
      ))}
      <div class="reminders">
        <TextField
          type="number"
          name="reminder_hours"
          label="Reminder after (hours)"
          hint={`Repeats the alert while an incident is open: ${REMINDER_HOURS.min} to ${REMINDER_HOURS.max} hours after the last message. If empty, no reminders are sent. Webhooks never get them.`}
          {...REMINDER_HOURS}
          value={values.reminders}
          error={errors.reminder_hours}
        />
      </div>
      <Checkbox
        name="enabled"
        label="Enabled"
        hint="A disabled rule opens no incidents. Disabling a rule resolves its open incidents."
        checked={values.enabled}
      />
      <button type="submit" class="button primary">
        {submit}
      </button>
    </form>
  );
}

/** The recommended ones first, the most urgent of them at the top. */
const SORTED_CONDITIONS = [
  ...RECOMMENDED_CONDITIONS,
  ...CONDITION_IDS.filter((id) => !RECOMMENDED_CONDITIONS.includes(id)),
].map((id) => CONDITIONS.find((condition) => condition.id === id)!);

/** Each condition has its own field, because the form also sends those that are not shown. */
export const thresholdName = (condition: string): string => `threshold_${condition}`;

/** Whether the form shows a condition only because the rule has it. */
const isShownOnly = (condition: string): boolean =>
  condition !== '' && !CONDITIONS.some(({ id }) => id === condition);

function conditionChoices(
  { condition: current, threshold: typed }: RuleValues,
  error: string | undefined,
) {
  const known = SORTED_CONDITIONS.map(({ id, choice, threshold }) => ({
    value: id as string,
    ...choice,
    fields: threshold && (
      <ThresholdField
        name={thresholdName(id)}
        threshold={threshold}
        typed={id === current ? typed : ''}
        error={id === current ? error : undefined}
      />
    ),
  }));
  return isShownOnly(current)
    ? [...known, { value: current, ...unknownCondition(current).choice }]
    : known;
}

interface ThresholdProps {
  name: string;
  threshold: Threshold;
  /** Empty for the default. */
  typed: string;
  error?: string;
}

function ThresholdField({ name, threshold, typed, error }: ThresholdProps) {
  const { min, max, unit, text, options } = threshold;
  const value = typed === '' ? String(threshold.default) : typed;
  if (options && (typed === '' || options.some(([each]) => String(each) === typed)))
    return (
      <Select
        name={name}
        label="Threshold"
        options={options.map(([each, meaning]) => [String(each), meaning])}
        value={value}
        error={error}
      />
    );
  return (
    <TextField
      type="number"
      name={name}
      label={`Threshold, in ${unit}`}
      hint={text}
      min={min}
      max={max}
      value={value}
      error={error}
    />
  );
}

function DomainField({
  domains,
  value,
  error,
}: {
  domains: string[] | null;
  value: string;
  error?: string;
}) {
  const hint = 'Limits the rule to one domain.';
  // A value that isn't in the list is shown again with its error.
  if (domains === null || (value !== '' && !domains.includes(value)))
    return (
      <TextField
        name="domain"
        label="Domain"
        hint={`${hint} Leave empty for all domains.`}
        value={value}
        error={error}
      />
    );
  return (
    <Select
      name="domain"
      label="Domain"
      hint={hint}
      options={[['', 'All domains'], ...domains.map((name): [string, string] => [name, name])]}
      value={value}
      error={error}
    />
  );
}

/** Each channel says whether it can deliver, and otherwise how to configure it. */
const channelChoices = (unconfigured: ChannelId[]) =>
  CHANNEL_IDS.map((id) => {
    const { name, hints } = CHANNELS[id];
    return {
      value: id as string,
      text: name,
      hint: unconfigured.includes(id) ? (
        <>
          <NotSetUp>Not configured</NotSetUp> <Marked text={hints.unconfigured} />
        </>
      ) : (
        <Marked text={hints.configured} />
      ),
    };
  });

/** Text with `code` and [links](/path). */
const Marked = ({ text }: { text: string }) => (
  <>
    {text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part) => {
      if (part.startsWith('`')) return <code key={part}>{part.slice(1, -1)}</code>;
      const [, label, href] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
      return label === undefined ? (
        part
      ) : (
        <a key={part} href={href}>
          {label}
        </a>
      );
    })}
  </>
);

const unknownChannels = (channels: string[]) =>
  channels
    .filter((id) => !isKnownChannel(id))
    .map((id) => ({
      value: id,
      text: id,
      hint: 'This version of the program does not know this channel. It stays with the rule.',
    }));

interface ChannelSettingsProps {
  id: ChannelId;
  values: RuleValues;
  errors: FormProblem['fields'];
  /** How the API shows the settings of the rule. */
  shown: Record<string, unknown>;
}

/** Shown while the channel is chosen, and always if something in it is wrong. */
function ChannelSettings({ id, values, errors, shown }: ChannelSettingsProps) {
  const { name, fields } = CHANNELS[id];
  if (fields.length === 0) return null;
  const isWrong = fields.some((field) => errors[field.name] !== undefined);
  return (
    <fieldset class={isWrong ? 'channel-settings' : `channel-settings of-${id}`}>
      <legend>{name}</legend>
      {fields.map((field) => (
        <SettingField
          key={field.name}
          field={field}
          values={values}
          error={errors[field.name]}
          shown={shown[shownName(field)] ?? null}
        />
      ))}
    </fieldset>
  );
}

interface SettingFieldProps {
  field: ChannelField;
  values: RuleValues;
  error?: string;
  /** How the API shows the stored value: of a secret, the host or whether it is set. */
  shown: unknown;
}

function SettingField({ field, values, error, shown }: SettingFieldProps) {
  const { name, kind, isSecret, label, hint, placeholder, removal, choices } = field;
  const value = values.settings[name] ?? '';
  if (kind === 'addresses')
    return <TextArea name={name} label={label} hint={hint} value={value} error={error} rows={3} />;
  if (choices)
    return (
      <Select
        name={name}
        label={label}
        hint={hint}
        error={error}
        options={choices.map((choice) => [choice, choice])}
        value={value}
      />
    );
  const isStored = isSecret && shown !== null && shown !== false;
  const where = typeof shown === 'string' ? ` at ${shown}` : '';
  const control = {
    name,
    value,
    error,
    placeholder,
    secret: isSecret,
    label: isStored ? `New ${label}` : label,
    hint: isStored
      ? `A ${kind === 'url' ? 'URL' : 'value'}${where} is stored, and not shown here. Leave empty to keep it.`
      : hint,
  };
  return (
    <>
      {kind === 'lines' ? (
        <TextArea {...control} mono rows={isSecret ? 3 : 8} />
      ) : (
        <TextField {...control} type={kind === 'url' ? 'url' : 'text'} />
      )}
      {isStored && (
        <Checkbox
          name={removalName(name)}
          label={`Remove the ${kind === 'url' ? 'URL' : label} from this rule`}
          hint={removal}
          checked={values.removed.includes(name)}
        />
      )}
    </>
  );
}

/** A note for readers in test mode, who cannot change rules. */
export const LiveOnlyNote = () =>
  useReader().testMode ? (
    <p class="muted">Alert rules check live tests only. Switch to live mode to change this rule.</p>
  ) : null;
