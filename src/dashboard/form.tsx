/** Form components: fields with labels and error messages, buttons, and notices above the form. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../config/readers.ts';
import { AppError } from '../lib/errors.ts';
import { findPasswordProblem } from '../team/password-rules.ts';

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

interface NoticeProps {
  tone: 'pass' | 'fail' | 'info';
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

const MAX_FORM_BYTES = 16 * 1024;

/** `consumes` of routes that accept a form (URL Standard §5). */
export const FORM = { type: 'application/x-www-form-urlencoded', maxBytes: () => MAX_FORM_BYTES };

/** `done` names the action that redirected to the page. The router drops unknown parameters of pages. */
export const PageQuery = v.strictObject({ done: v.optional(v.string()) });

/** Returns the value of a field, or an empty string if it is missing. */
export function readForm(raw: Uint8Array): (name: string) => string {
  const fields = new URLSearchParams(new TextDecoder().decode(raw));
  return (name) => fields.get(name) ?? '';
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
  } catch (error) {
    if (error instanceof AppError && codes.includes(error.code)) return { result: null, error };
    throw error;
  }
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
  /** Set if another field of the form has the focus. */
  focusElsewhere?: boolean;
}

/** Includes the address, read-only, so that password managers store it with the password. */
export function NewPasswordFields({ email, errors, focusElsewhere = false }: NewPasswordProps) {
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
