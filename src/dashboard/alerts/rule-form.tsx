/** The form of an alert rule, for a new one and for changes. */

import { CHANNELS, type ChannelId, isKnownChannel } from '../../alerts/channels/index.ts';
import { findSubscribedEndpoints } from '../../alerts/channels/webhook.ts';
import { CONDITIONS, type ConditionId, THRESHOLD_RANGE } from '../../alerts/conditions/index.ts';
import { unknownCondition } from '../../alerts/conditions/unknown.ts';
import type { Alert, AlertPatch, NewAlert } from '../../alerts/schema.ts';
import type { App } from '../../app.ts';
import { findDomainByName } from '../../domains/queries.ts';
import { domainOperations } from '../../domains/routes.ts';
import { normalizeDomain } from '../../lib/domain-names.ts';
import { AppError } from '../../lib/errors.ts';
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
import { VersionField } from '../frame/version.tsx';

/** What was typed. */
export interface RuleValues {
  name: string;
  condition: string;
  threshold: string;
  /** The name of a domain; empty for all domains. */
  domain: string;
  channels: string[];
  /** One address in each line. */
  recipients: string;
  slack_webhook_url: string;
  /** Whether to use the URL of the server instead of the rule's own. */
  remove_slack_url: boolean;
  enabled: boolean;
}

/** Labels of the fields in error messages. */
export const RULE_LABELS = {
  name: 'name',
  condition: 'condition',
  threshold: 'threshold',
  domain: 'domain',
  channels: 'list of channels',
  recipients: 'list of recipients',
  slack_webhook_url: 'Slack URL',
};

export const NEW_RULE: RuleValues = {
  name: '',
  condition: 'score_below',
  // The default of the condition.
  threshold: '',
  domain: '',
  channels: ['email'],
  recipients: '',
  slack_webhook_url: '',
  remove_slack_url: false,
  enabled: true,
};

export const valuesOf = (alert: Alert, domainName: string | null): RuleValues => ({
  name: alert.name,
  condition: alert.condition,
  threshold: alert.threshold?.toString() ?? '',
  domain: domainName ?? '',
  channels: alert.channels,
  recipients: alert.recipients?.join('\n') ?? '',
  slack_webhook_url: '',
  remove_slack_url: false,
  enabled: alert.enabled,
});

export function readValues(raw: Uint8Array): RuleValues {
  const field = readForm(raw);
  return {
    name: field('name'),
    condition: field('condition'),
    threshold: field('threshold').trim(),
    domain: field('domain').trim(),
    channels: readFormList(raw)('channels'),
    recipients: field('recipients'),
    slack_webhook_url: field('slack_webhook_url').trim(),
    remove_slack_url: field('remove_slack_url') === 'on',
    enabled: field('enabled') === 'on',
  };
}

/** The body for the API. Throws `validation_failed` for an unknown domain. */
export async function bodyOf(
  { db }: Pick<App, 'db'>,
  values: RuleValues,
): Promise<NewAlert & AlertPatch> {
  const { name, condition, threshold, channels, enabled } = values;
  const recipients = values.recipients.split(/[\s,;]+/).filter((address) => address !== '');
  const hasThreshold = CONDITIONS.find(({ id }) => id === condition)?.threshold != null;
  return {
    name,
    // The operation rejects other values. One that a newer version has stored is left alone.
    condition: isShownOnly(condition) ? (undefined as never) : (condition as ConditionId),
    // Those of a newer version stay with the rule.
    channels: channels.filter(isKnownChannel),
    enabled,
    ...(hasThreshold ? { threshold: threshold === '' ? null : Number(threshold) } : {}),
    domain_id: await domainIdOf(db, values.domain),
    recipients: recipients.length > 0 ? recipients : null,
    ...slackUrlOf(values),
  };
}

/** The URL is a secret that the form never contains, so an empty field keeps it. */
function slackUrlOf({
  slack_webhook_url,
  remove_slack_url,
}: RuleValues): Pick<AlertPatch, 'slack_webhook_url'> {
  if (slack_webhook_url !== '') return { slack_webhook_url };
  return remove_slack_url ? { slack_webhook_url: null } : {};
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
  /** Whether each channel can deliver, apart from the rule's own settings. */
  configured: Record<ChannelId, boolean>;
}

export async function ruleFormContext(call: PageCall): Promise<RuleFormContext> {
  const { app } = call;
  const domains = await call.invoke(domainOperations.list, { query: { limit: '100' } });
  const endpoints = await findSubscribedEndpoints(app.db, 'alert.triggered');
  return {
    domains: domains.has_more ? null : domains.data.map(({ name }) => name).sort(),
    configured: {
      email: app.mailer !== null,
      webhook: endpoints.length > 0,
      slack: app.config.SLACK_WEBHOOK_URL !== null,
    },
  };
}

interface RuleFormProps extends RuleFormContext {
  action: string;
  values: RuleValues;
  problem: FormProblem | null;
  /** The host of the rule's own Slack URL. */
  slackHost: string | null;
  submit: string;
  /** Of the rule to change. */
  version?: string;
}

export function RuleForm({
  action,
  values,
  problem,
  slackHost,
  submit,
  version,
  ...context
}: RuleFormProps) {
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
        choices={conditionChoices(values.condition)}
        values={[values.condition]}
      />
      <div class="threshold">
        <TextField
          type="number"
          name="threshold"
          label="Threshold"
          hint={THRESHOLD_HINT}
          min={THRESHOLD_RANGE.min}
          max={THRESHOLD_RANGE.max}
          value={values.threshold}
          error={errors.threshold}
        />
      </div>
      <DomainField domains={context.domains} value={values.domain} error={errors.domain} />
      <Choices
        type="checkbox"
        name="channels"
        label="Notify by"
        error={errors.channels}
        choices={[
          ...channelChoices(context.configured, slackHost),
          ...unknownChannels(values.channels),
        ]}
        values={values.channels}
      />
      <TextArea
        name="recipients"
        label="Email recipients"
        hint="One address per line. If empty, the owner and all admins get the email."
        value={values.recipients}
        error={errors.recipients}
        rows={3}
      />
      <SlackFields values={values} error={errors.slack_webhook_url} host={slackHost} />
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

const CONDITION_CHOICES = CONDITIONS.map(({ id, choice }) => ({ value: id as string, ...choice }));

/** Whether the form shows a condition only because the rule has it. */
const isShownOnly = (condition: string): boolean =>
  condition !== '' && !CONDITIONS.some(({ id }) => id === condition);

const conditionChoices = (current: string) =>
  isShownOnly(current)
    ? [...CONDITION_CHOICES, { value: current, ...unknownCondition(current).choice }]
    : CONDITION_CHOICES;

const THRESHOLD_HINT = CONDITIONS.flatMap(({ threshold, choice }) =>
  threshold ? `${choice.text}: ${threshold.text}` : [],
).join(' ');

function DomainField({
  domains,
  value,
  error,
}: {
  domains: string[] | null;
  value: string;
  error?: string;
}) {
  const hint = 'Limits the rule to the tests and monitors of one domain.';
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
const channelChoices = (configured: RuleFormContext['configured'], slackHost: string | null) => [
  {
    value: 'email',
    text: CHANNELS.email.name,
    hint: configured.email ? (
      'Sends an email to each recipient.'
    ) : (
      <>
        <NotSetUp>Not configured</NotSetUp> Set <code>DELIVERABILITY_MAIL_URL</code> and{' '}
        <code>DELIVERABILITY_MAIL_FROM</code> on the server.
      </>
    ),
  },
  {
    value: 'webhook',
    text: CHANNELS.webhook.name,
    hint: configured.webhook ? (
      <>
        Sends <code>alert.triggered</code> and <code>alert.resolved</code> to your live endpoints.
      </>
    ) : (
      <>
        <NotSetUp>Not configured</NotSetUp> No enabled live endpoint gets{' '}
        <code>alert.triggered</code>. <a href="/webhooks/new">Add an endpoint</a>.
      </>
    ),
  },
  {
    value: 'slack',
    text: CHANNELS.slack.name,
    hint:
      configured.slack || slackHost !== null ? (
        'Posts to a Slack channel.'
      ) : (
        <>
          <NotSetUp>Not configured</NotSetUp> Enter a Slack URL below, or set{' '}
          <code>DELIVERABILITY_SLACK_WEBHOOK_URL</code> on the server.
        </>
      ),
  },
];

const unknownChannels = (channels: string[]) =>
  channels
    .filter((id) => !isKnownChannel(id))
    .map((id) => ({
      ...{ value: id, text: id },
      hint: 'This version of the program does not know this channel. It stays with the rule.',
    }));

function SlackFields({
  values,
  error,
  host,
}: {
  values: RuleValues;
  error?: string;
  host: string | null;
}) {
  return (
    <>
      <TextField
        type="url"
        name="slack_webhook_url"
        label={host === null ? 'Slack URL' : 'New Slack URL'}
        hint={
          host === null
            ? 'The URL of a Slack incoming webhook. It is a secret and is not shown again. If empty, the default URL of the server is used.'
            : `This rule has its own URL at ${host}, which is not shown. Leave empty to keep it.`
        }
        placeholder="https://hooks.slack.com/services/…"
        value={values.slack_webhook_url}
        error={error}
        secret
      />
      {host !== null && (
        <Checkbox
          name="remove_slack_url"
          label="Remove the URL from this rule"
          hint="The rule then uses the default URL of the server."
          checked={values.remove_slack_url}
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
