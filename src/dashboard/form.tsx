/** The parts of a form: a field with its label and what is wrong with it, the button, what is said above. */

import type { ComponentChildren } from 'preact';

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
