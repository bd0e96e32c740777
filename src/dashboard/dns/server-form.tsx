/** The form of a name server: its name, and the fields of its kind. */

import type { DnsServer } from '../../dns-changes/schema.ts';
import type { ServerField } from '../../dns-changes/server.ts';
import { SERVER_KIND_IDS, SERVER_KINDS } from '../../dns-changes/servers/index.ts';
import { type FormProblem, ProblemNotice, readForm, Select, TextField } from '../frame/form.tsx';
import { VersionField } from '../frame/version.tsx';

export interface ServerValues {
  name: string;
  /** By the names of the fields. Secrets that are stored are never among them. */
  settings: Record<string, string>;
}

/** In the form. The API has them in an object. */
const inputName = (field: Pick<ServerField, 'name'>): string => `setting_${field.name}`;

const FIELDS: ServerField[] = SERVER_KIND_IDS.flatMap((id) => SERVER_KINDS[id].fields);

/** Labels of the fields in error messages. */
export const SERVER_LABELS: Record<string, string> = {
  name: 'name',
  kind: 'kind',
  ...Object.fromEntries(
    FIELDS.map(({ name, label }) => [
      `settings.${name}`,
      /^[A-Z]{2}/.test(label) ? label : label.toLowerCase(),
    ]),
  ),
};

export const NEW_SERVER: ServerValues = { name: '', settings: {} };

export const valuesOf = ({ name, settings }: DnsServer): ServerValues => ({
  name,
  settings: settings as Record<string, string>,
});

export function readValues(raw: Uint8Array, fields: ServerField[]): ServerValues {
  const field = readForm(raw);
  return {
    name: field('name').trim(),
    settings: Object.fromEntries(fields.map((one) => [one.name, field(inputName(one)).trim()])),
  };
}

/** For the API. An empty field removes an optional setting, and keeps a stored secret. */
export function bodyOf({ name, settings }: ServerValues, fields: ServerField[]) {
  const isSent = (field: ServerField) =>
    settings[field.name] !== '' || !(field.isRequired || field.isSecret);
  const sent = fields.filter(isSent).map((field) => [field.name, settings[field.name]]);
  return { name, settings: Object.fromEntries(sent) };
}

interface ServerFormProps {
  action: string;
  /** In the URL of a new server. */
  kind?: string;
  fields: ServerField[];
  values: ServerValues;
  problem: FormProblem | null;
  submit: string;
  /** The names of the secrets that are stored. */
  storedSecrets?: string[];
  version?: string;
}

export function ServerForm(props: ServerFormProps) {
  const { action, kind, fields, values, problem, submit, storedSecrets = [], version } = props;
  const errors = problem?.fields ?? {};
  return (
    <form method="post" action={action} class="fields">
      <ProblemNotice problem={problem} />
      <VersionField version={version} />
      {kind !== undefined && <input type="hidden" name="kind" value={kind} />}
      <TextField
        name="name"
        label="Name"
        hint="For your team, such as “ns1” or “Cloudflare”."
        value={values.name}
        error={errors.name}
        required
      />
      {fields.map((field) => (
        <SettingField
          key={field.name}
          field={field}
          value={values.settings[field.name] ?? ''}
          error={errors[`settings.${field.name}`]}
          isStored={storedSecrets.includes(field.name)}
        />
      ))}
      <button type="submit" class="button primary">
        {submit}
      </button>
    </form>
  );
}

interface SettingFieldProps {
  field: ServerField;
  value: string;
  error?: string;
  isStored: boolean;
}

function SettingField({ field, value, error, isStored }: SettingFieldProps) {
  const { label, hint, placeholder, isRequired, isSecret, choices = [] } = field;
  const name = inputName(field);
  if (field.kind === 'choice')
    return (
      <Select
        name={name}
        label={label}
        hint={hint}
        error={error}
        value={value}
        options={choices.map((choice): [string, string] => [choice, choice])}
      />
    );
  return (
    <TextField
      name={name}
      value={value}
      error={error}
      placeholder={placeholder}
      secret={isSecret}
      required={isRequired && !isStored}
      label={isStored ? `New ${label}` : isRequired ? label : `${label} (optional)`}
      hint={
        isStored
          ? 'A value is stored but not shown. Leave empty to keep it.'
          : `${hint.replaceAll('`', '')}${isSecret ? ' It is not shown again.' : ''}`
      }
    />
  );
}
