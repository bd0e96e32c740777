/** Form components: fields with labels and error messages, buttons, and notices above the form. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../config/readers.ts';
import { unavailableDatabase } from '../../http/unavailable-database.ts';
import { AppError, ERROR_STATUS } from '../../lib/errors.ts';
import { findPasswordProblem } from '../../team/password-rules.ts';

interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  /** For browsers and password managers. */
  autocomplete: string;
  /** Never set for passwords. */
  value?: string;
  hint?: string;
  /** An error message: a full sentence. */
  error?: string;
  /** The id of a notice with an error that concerns several fields. */
  errorNoticeId?: string;
  /** For information only: password managers store the password with this account. */
  readOnly?: boolean;
  minLength?: number;
}

/** Give `focus` to the first field with an error. */
export function Field(props: FieldProps & { focus?: boolean }) {
  const { name, label, type = 'text', hint, error, errorNoticeId } = props;
  const descriptions = [
    ...(error ? [`${name}-wrong`] : []),
    ...(errorNoticeId ? [errorNoticeId] : []),
    ...(hint ? [`${name}-hint`] : []),
  ];
  const focus = props.focus ? { autofocus: true } : {};
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p id={`${name}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${name}-wrong`} class="wrong">
          <span class="visually-hidden">Error: </span>
          {error}
        </p>
      )}
      <input
        id={name}
        name={name}
        // Preact types each input type separately, and none of them accepts a union.
        type={type as 'text'}
        value={props.value}
        autocomplete={props.autocomplete}
        autocapitalize={type === 'text' ? undefined : 'none'}
        spellcheck={type === 'text' ? undefined : false}
        required={!props.readOnly}
        readOnly={props.readOnly}
        minLength={props.minLength}
        aria-invalid={error || errorNoticeId ? 'true' : undefined}
        aria-describedby={descriptions.length > 0 ? descriptions.join(' ') : undefined}
        {...focus}
      />
    </div>
  );
}

interface ControlProps {
  name: string;
  label: string;
  hint?: string;
  error?: string;
}

/** The label, hint, and error of any control, which names them by `describedBy`. */
function Labeled({
  name,
  label,
  hint,
  error,
  grow = false,
  children,
}: ControlProps & { grow?: boolean; children: ComponentChildren }) {
  return (
    <div class={grow ? 'field grow' : 'field'}>
      <label for={name}>{label}</label>
      {hint && (
        <p id={`${name}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${name}-wrong`} class="wrong">
          <span class="visually-hidden">Error: </span>
          {error}
        </p>
      )}
      {children}
    </div>
  );
}

const describedBy = ({ name, hint, error }: ControlProps): string | undefined =>
  [error && `${name}-wrong`, hint && `${name}-hint`].filter(Boolean).join(' ') || undefined;

type Option = [value: string, text: string];

/** A choice of one value. */
export function Select(props: ControlProps & { options: Option[]; value?: string }) {
  const { name, options, value, error } = props;
  return (
    <Labeled {...props}>
      <select
        id={name}
        name={name}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={describedBy(props)}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
      </select>
    </Labeled>
  );
}

/** Text of several lines. */
export function TextArea(
  props: ControlProps & {
    value?: string;
    rows?: number;
    required?: boolean;
    mono?: boolean;
    placeholder?: string;
    /** The browser does not keep it for a form that could not be sent. */
    secret?: boolean;
  },
) {
  const { name, value, rows = 4, required, mono, placeholder, secret, error } = props;
  return (
    <Labeled {...props}>
      <textarea
        id={name}
        name={name}
        rows={rows}
        required={required}
        class={mono ? 'mono' : undefined}
        spellcheck={mono ? false : undefined}
        placeholder={placeholder}
        data-secret={secret ? 'yes' : undefined}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={describedBy(props)}
      >
        {/* The first line break after the tag is dropped. */}
        {`\n${value ?? ''}`}
      </textarea>
    </Labeled>
  );
}

/** Text, a number, or a date in one line; optional unless `required` is set. */
export function TextField(
  props: ControlProps & {
    type?: 'text' | 'number' | 'date' | 'url' | 'email' | 'search' | 'file';
    value?: string;
    required?: boolean;
    min?: number;
    max?: number;
    maxLength?: number;
    placeholder?: string;
    /** The id of a `datalist` with suggestions. */
    list?: string;
    /** Takes the space that is left in a row of filters. */
    grow?: boolean;
    focus?: boolean;
    /** The browser does not keep it for a form that could not be sent. */
    secret?: boolean;
  },
) {
  const {
    name,
    type = 'text',
    value,
    required,
    min,
    max,
    maxLength,
    placeholder,
    list,
    error,
  } = props;
  return (
    <Labeled {...props}>
      <input
        id={name}
        name={name}
        type={type as 'text'}
        value={value}
        required={required}
        min={min}
        max={max}
        maxLength={maxLength}
        placeholder={placeholder}
        list={list}
        autocomplete="off"
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={describedBy(props)}
        data-secret={props.secret ? 'yes' : undefined}
        {...(props.focus ? { autofocus: true } : {})}
      />
    </Labeled>
  );
}

/** Any number of values of one name. */
export function Checkboxes(
  props: Omit<ControlProps, 'error'> & { options: Option[]; values: string[]; error?: string },
) {
  const { name, label, hint, options, values, error } = props;
  return (
    <fieldset class="field" aria-describedby={describedBy(props)}>
      <legend>{label}</legend>
      {hint && (
        <p id={`${name}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${name}-wrong`} class="wrong">
          <span class="visually-hidden">Error: </span>
          {error}
        </p>
      )}
      {options.map(([value, text]) => (
        <label key={value} class="check">
          <input type="checkbox" name={name} value={value} checked={values.includes(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/** One choice between yes and no. */
export function Checkbox(props: ControlProps & { checked: boolean }) {
  const { name, label, hint, checked } = props;
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name={name}
          value="on"
          checked={checked}
          aria-describedby={describedBy({ ...props, error: undefined })}
        />
        {label}
      </label>
      {hint && (
        <p id={`${name}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface NoticeProps {
  tone: 'pass' | 'warn' | 'fail' | 'info';
  id?: string;
  children: ComponentChildren;
}

/** The result of the last action, with an icon and a color. */
export function Notice({ tone, id, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'fail' ? 'alert' : 'status'}>
      <svg class="icon" aria-hidden="true">
        <use href={`#icon-${tone}`} />
      </svg>
      <p id={id}>{children}</p>
    </div>
  );
}

interface SubmitProps {
  /** For actions beside the main purpose of the page. */
  secondary?: boolean;
  children: ComponentChildren;
}

export function Submit({ secondary, children }: SubmitProps) {
  return (
    <button type="submit" class={secondary ? 'submit secondary' : 'submit'}>
      {children}
    </button>
  );
}

// Form bodies, and error messages for their fields.

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** `consumes` of routes that accept a form of a visitor (URL Standard §5). */
export const FORM = { type: FORM_TYPE, maxBytes: () => 16 * 1024 };

/**
 * `consumes` of routes that accept a form of a member. It has room for the longest metadata, and for lists of hosts and
 * recipients: a character takes up to 12 bytes in a form.
 */
export const MEMBER_FORM = { type: FORM_TYPE, maxBytes: () => 512 * 1024 };

/** `done` names the action that redirected to the page. The router drops unknown parameters of pages. */
export const PageQuery = v.strictObject({ done: v.optional(v.string()) });

/** Returns the value of a field, or an empty string if it is missing. */
export function readForm(raw: Uint8Array): (name: string) => string {
  const fields = new URLSearchParams(new TextDecoder().decode(raw));
  return (name) => fields.get(name) ?? '';
}

/** Returns all values of a field. */
export function readFormList(raw: Uint8Array): (name: string) => string[] {
  const fields = new URLSearchParams(new TextDecoder().decode(raw));
  return (name) => fields.getAll(name).filter((value) => value !== '');
}

/** Error messages by field: full sentences. */
export type FieldErrors = Record<string, string | undefined>;

export const hasErrors = (errors: FieldErrors): boolean => Object.values(errors).some(Boolean);

/** Turns the message of a parameter error into a sentence: "must be …" becomes "The name must be …". */
export const asSentence = (label: string, message: string): string => `The ${label} ${message}.`;

/** Runs `work` and returns its AppError if it has one of these codes. Rethrows every other error. */
export async function catchErrors<T>(
  codes: AppError['code'][],
  work: () => Promise<T>,
): Promise<{ result: T; error: null } | { result: null; error: AppError }> {
  try {
    return { result: await work(), error: null };
  } catch (thrown) {
    const error = unavailableDatabase(thrown) ?? thrown;
    if (error instanceof AppError && codes.includes(error.code)) return { result: null, error };
    throw thrown;
  }
}

/** What went wrong with a form, and where. */
export interface FormProblem {
  status: number;
  /** For the whole form; null if each error belongs to a field. */
  notice: string | null;
  fields: FieldErrors;
  headers: Record<string, string>;
}

/** Errors that a member can correct or should read on the page of the form. */
const FORM_ERRORS: AppError['code'][] = [
  'validation_failed',
  'conflict',
  'precondition_failed',
  'rate_limited',
  'unavailable',
  'gone',
  'malformed_request',
  'body_too_large',
];

const CHANGED_MEANWHILE =
  'This has changed since you opened the form, so nothing was saved. To replace those changes with yours, save again.';

/**
 * Runs the work of a form. `labels` names the fields of the form by the parameters of the API, as in "The name must
 * not be empty."; errors of other parameters become the notice.
 */
export async function submit<T>(
  labels: Record<string, string>,
  work: () => Promise<T>,
): Promise<{ result: T; problem: null } | { result: null; problem: FormProblem }> {
  const { result, error } = await catchErrors(FORM_ERRORS, work);
  if (error === null) return { result: result as T, problem: null };
  const fields: FieldErrors = {};
  const others: string[] = [];
  for (const { param, message } of error.params) {
    const name = Object.hasOwn(labels, param) ? param : param.split('.')[0]!;
    if (Object.hasOwn(labels, name)) fields[name] ??= asSentence(labels[name]!, message);
    else others.push(message);
  }
  const isElsewhere = error.params.length === 0 || others.length > 0;
  const detail = error.code === 'precondition_failed' ? CHANGED_MEANWHILE : error.detail;
  return {
    result: null,
    problem: {
      status: ERROR_STATUS[error.code],
      notice: isElsewhere ? detail : null,
      fields,
      headers: error.headers,
    },
  };
}

/** The notice above a form with a problem. */
export function ProblemNotice({ problem }: { problem: FormProblem | null }) {
  if (problem === null) return null;
  return (
    <Notice tone="fail">
      {problem.notice ?? 'Some fields are not valid. Correct them and try again.'}
    </Notice>
  );
}

// The password fields of the reset page and of the invitation page.

/** Errors of the new password or its confirmation. */
export function newPasswordErrors(field: (name: string) => string, email: string): FieldErrors {
  const password = field('password');
  if (password === '') return { password: 'Enter a password.' };
  const fault = findPasswordProblem(password, email);
  if (fault) return { password: asSentence('password', fault) };
  return field('repeated') === password ? {} : { repeated: "The passwords don't match." };
}

interface NewPasswordProps {
  email: string;
  errors: FieldErrors;
  /** Fields between the address and the new password. */
  children?: ComponentChildren;
  /** Set if another field of the form has the focus. */
  focusElsewhere?: boolean;
}

/** Includes the address, read-only, so that password managers store it with the password. */
export function NewPasswordFields({
  email,
  errors,
  children,
  focusElsewhere = false,
}: NewPasswordProps) {
  const focusConfirmation = Boolean(errors.repeated);
  return (
    <>
      <Field
        name="email"
        label="Email address"
        type="email"
        autocomplete="username"
        value={email}
        readOnly
      />
      {children}
      <Field
        name="password"
        label="New password"
        type="password"
        autocomplete="new-password"
        minLength={MIN_PASSWORD_LENGTH}
        hint={`Use ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters. Four random words make a strong password.`}
        error={errors.password}
        focus={!focusElsewhere && !focusConfirmation}
      />
      <Field
        name="repeated"
        label="Confirm password"
        type="password"
        autocomplete="new-password"
        error={errors.repeated}
        focus={!focusElsewhere && focusConfirmation}
      />
    </>
  );
}
