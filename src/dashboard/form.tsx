/** The parts of a form: a field with its label and what is wrong with it, the button, what is said above. */

import type { ComponentChildren } from 'preact';
import * as v from 'valibot';
import { MAX_PASSWORD, MIN_PASSWORD } from '../config/readers.ts';
import { AppError } from '../lib/errors.ts';
import { passwordFault } from '../team/password-rules.ts';

interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  /** What browsers and password managers fill in. */
  autocomplete: string;
  /** Never that of a password. */
  value?: string;
  hint?: string;
  /** What is wrong with it, in a sentence. */
  wrong?: string;
  /** The id of a note that says what is wrong with several fields together. */
  wrongNote?: string;
  /** Only shown: so that a password is kept with its account. */
  readOnly?: boolean;
  minLength?: number;
}

/** The first field that is wrong has the focus when the page is there. */
export function Field(props: FieldProps & { focus?: boolean }) {
  const { name, label, type = 'text', hint, wrong, wrongNote } = props;
  const notes = [
    ...(wrong ? [`${name}-wrong`] : []),
    ...(wrongNote ? [wrongNote] : []),
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
      {wrong && (
        <p id={`${name}-wrong`} class="wrong">
          <span class="visually-hidden">Error: </span>
          {wrong}
        </p>
      )}
      <input
        id={name}
        name={name}
        // Preact has a type of its own for each, and none for one of several.
        type={type as 'text'}
        value={props.value}
        autocomplete={props.autocomplete}
        autocapitalize={type === 'text' ? undefined : 'none'}
        spellcheck={type === 'text' ? undefined : false}
        required={!props.readOnly}
        readOnly={props.readOnly}
        minLength={props.minLength}
        aria-invalid={wrong || wrongNote ? 'true' : undefined}
        aria-describedby={notes.length > 0 ? notes.join(' ') : undefined}
        {...focus}
      />
    </div>
  );
}

interface SaidProps {
  tone: 'pass' | 'fail' | 'info';
  id?: string;
  children: ComponentChildren;
}

/** What came of the last thing done, by icon, word and colour. */
export function Said({ tone, id, children }: SaidProps) {
  return (
    <div class={`said ${tone}`} role={tone === 'fail' ? 'alert' : 'status'}>
      <svg class="icon" aria-hidden="true">
        <use href={`#icon-${tone}`} />
      </svg>
      <p id={id}>{children}</p>
    </div>
  );
}

interface SubmitProps {
  /** Not what the page is for. */
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

// What a form sends, and what is said where it cannot be taken.

const MAX_FORM_BYTES = 16 * 1024;

/** For routes that take a form (URL Standard §5). */
export const FORM = { type: 'application/x-www-form-urlencoded', maxBytes: () => MAX_FORM_BYTES };

/** What a page says that it was led to by a form; what else an address carries never comes so far. */
export const PageQuery = v.strictObject({ done: v.optional(v.string()) });

/** A field as it was sent; empty where it is missing. */
export function readForm(raw: Uint8Array): (name: string) => string {
  const fields = new URLSearchParams(new TextDecoder().decode(raw));
  return (name) => fields.get(name) ?? '';
}

/** What is wrong with each field, in a sentence. */
export type Wrong = Record<string, string | undefined>;

export const anyWrong = (wrong: Wrong): boolean => Object.values(wrong).some(Boolean);

/** A fault of `AppError` as a sentence for a field: "must be …" becomes "It must be …". */
export const asSentence = (message: string): string => `It ${message}.`;

/** Calls `work`; an AppError of one of these codes is given back, everything else is thrown on. */
export async function refused<T>(
  codes: AppError['code'][],
  work: () => Promise<T>,
): Promise<{ done: T; error: null } | { done: null; error: AppError }> {
  try {
    return { done: await work(), error: null };
  } catch (error) {
    if (error instanceof AppError && codes.includes(error.code)) return { done: null, error };
    throw error;
  }
}

// The fields by which a password is chosen, on the page of a link and on that of an invitation.

/** What is wrong with the password chosen, or with its repetition. */
export function newPasswordFaults(field: (name: string) => string, email: string): Wrong {
  const password = field('password');
  if (password === '') return { password: 'Choose a password.' };
  const fault = passwordFault(password, email);
  if (fault) return { password: asSentence(fault) };
  return field('repeated') === password ? {} : { repeated: 'The two passwords are not the same.' };
}

interface NewPasswordProps {
  email: string;
  wrong: Wrong;
  /** Whether the field before is wrong, and has the focus. */
  otherWrong?: boolean;
}

/** Two fields, as nothing shows what is typed; the address, so that a password manager keeps both together. */
export function NewPasswordFields({ email, wrong, otherWrong = false }: NewPasswordProps) {
  const repeat = Boolean(wrong.repeated);
  return (
    <>
      <Field
        name="email"
        label="E-mail address"
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
        minLength={MIN_PASSWORD}
        hint={`${MIN_PASSWORD} to ${MAX_PASSWORD} characters, whichever you like: four words make a good one.`}
        wrong={wrong.password}
        focus={!otherWrong && !repeat}
      />
      <Field
        name="repeated"
        label="The same password again"
        type="password"
        autocomplete="new-password"
        wrong={wrong.repeated}
        focus={!otherWrong && repeat}
      />
    </>
  );
}
