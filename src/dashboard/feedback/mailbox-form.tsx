/** The form of a report mailbox: how to sign in, what to read, and what to do with it. */

import type { ReportMailbox } from '../../feedback/mailboxes/schema.ts';
import {
  type FormProblem,
  ProblemNotice,
  readForm,
  Select,
  Submit,
  TextField,
} from '../frame/form.tsx';
import { VersionField } from '../frame/version.tsx';

const FIELDS = [
  'name',
  'sign_in',
  'host',
  'port',
  'tls',
  'username',
  'password',
  'authserv_id',
  'folder',
  'move_to',
  'schedule',
] as const;

/** What was typed. */
export type MailboxValues = Record<(typeof FIELDS)[number], string>;

/** Labels of the fields in error messages. */
export const MAILBOX_LABELS: Record<string, string> = {
  name: 'name',
  sign_in: 'sign-in',
  host: 'IMAP server',
  port: 'port',
  tls: 'encryption',
  username: 'user name',
  password: 'password',
  authserv_id: 'authserv-id',
  folder: 'folder',
  move_to: 'target folder',
  schedule: 'schedule',
};

export const NEW_MAILBOX: MailboxValues = {
  ...(Object.fromEntries(FIELDS.map((name) => [name, ''])) as MailboxValues),
  folder: 'INBOX',
  schedule: 'daily',
};

export const valuesOf = (mailbox: ReportMailbox): MailboxValues => ({
  ...(Object.fromEntries(
    FIELDS.map((name) => [name, name === 'password' ? '' : String(mailbox[name] ?? '')]),
  ) as MailboxValues),
});

export function readMailboxForm(raw: Uint8Array): MailboxValues {
  const field = readForm(raw);
  return Object.fromEntries(FIELDS.map((name) => [name, field(name).trim()])) as MailboxValues;
}

/** For the API. An empty password keeps the stored one, and a sign-in needs no server. */
export function bodyOf({ name, password, folder, schedule, tls, ...values }: MailboxValues) {
  const isServer = values.sign_in === '';
  const ofServer = (text: string) => (isServer ? text || null : null);
  return {
    name,
    sign_in: values.sign_in || null,
    host: ofServer(values.host),
    port: isServer && values.port !== '' ? Number(values.port) : null,
    tls: isServer ? ((tls || 'implicit') as 'implicit') : null,
    username: ofServer(values.username),
    ...(isServer && password !== '' ? { password } : {}),
    authserv_id: values.authserv_id || null,
    folder: folder || 'INBOX',
    move_to: values.move_to || null,
    schedule: (schedule || 'off') as 'off',
  };
}

interface FormProps {
  action: string;
  values: MailboxValues;
  problem: FormProblem | null;
  submit: string;
  /** The names of configured seed mailboxes that are read over IMAP. */
  signIns: string[];
  isStored?: boolean;
  version?: string;
}

export function MailboxForm({ action, values, problem, submit, signIns, ...rest }: FormProps) {
  const { isStored = false, version } = rest;
  const errors = problem?.fields ?? {};
  const hasSignIns = signIns.length > 0 || values.sign_in !== '';
  const isRequired = !hasSignIns;
  const field = (name: keyof MailboxValues) => ({
    name,
    value: values[name],
    error: errors[name],
  });
  return (
    <form method="post" action={action} class="fields">
      <ProblemNotice problem={problem} />
      <VersionField version={version} />
      <TextField
        {...field('name')}
        label="Name"
        hint="For your team, such as “DMARC reports”."
        required
      />
      {hasSignIns && (
        <Select
          {...field('sign_in')}
          label="Sign in with"
          hint="With the sign-in of a seed mailbox, leave the server, user name and password empty."
          options={[
            ['', 'The server and password below'],
            ...[...new Set([...signIns, ...(values.sign_in ? [values.sign_in] : [])])].map(
              (name): [string, string] => [name, name],
            ),
          ]}
        />
      )}
      <TextField
        {...field('host')}
        label="IMAP server"
        placeholder="imap.example.com"
        hint="For Gmail: imap.gmail.com. For Microsoft 365, use the sign-in of a seed mailbox."
        required={isRequired}
      />
      <Select
        {...field('tls')}
        label="Encryption"
        options={[
          ['implicit', 'TLS, port 993'],
          ['starttls', 'STARTTLS, port 143'],
        ]}
      />
      <TextField
        {...field('port')}
        type="number"
        min={1}
        max={65_535}
        label="Port (optional)"
        hint="If it is not the default."
      />
      <TextField {...field('username')} label="User name" required={isRequired} />
      <TextField
        name="password"
        error={errors.password}
        secret
        label={isStored ? 'New password' : 'Password'}
        hint={
          isStored
            ? 'A password is stored but not shown. Leave empty to keep it for the same server.'
            : 'Use an app password if your provider offers them.'
        }
        required={isRequired && !isStored}
      />
      <TextField {...field('folder')} label="Folder" hint="The folder with the reports." required />
      <TextField
        {...field('move_to')}
        label="Move reports to (optional)"
        hint="An existing folder. If empty, messages stay where they are, and unread messages stay unread."
      />
      <Select
        {...field('schedule')}
        label="Import"
        hint={isStored ? undefined : 'The first import starts at once.'}
        options={[
          ['daily', 'Every day'],
          ['hourly', 'Every hour'],
          ['off', 'Only when you start it'],
        ]}
      />
      <TextField
        {...field('authserv_id')}
        label="Trusted authserv-id (optional)"
        placeholder="mx.example.com"
        hint="For your own mail server: the authserv-id at the beginning of its Authentication-Results fields. The server must remove fields with this authserv-id from mail that it receives. Leave empty for known providers."
      />
      <Submit>{submit}</Submit>
    </form>
  );
}
