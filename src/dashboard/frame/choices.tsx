/** Radio buttons and check boxes whose options are explained. */

import type { ComponentChildren } from 'preact';

export interface Choice {
  value: string;
  text: ComponentChildren;
  /** One or two sentences below the option. */
  hint?: ComponentChildren;
  fields?: ComponentChildren;
}

interface ChoicesProps {
  /** `radio` for exactly one value, `checkbox` for any number. */
  type: 'radio' | 'checkbox';
  name: string;
  label: string;
  hint?: string;
  error?: string;
  choices: Choice[];
  values: string[];
}

export function Choices({ type, name, label, hint, error, choices, values }: ChoicesProps) {
  const descriptions = [error && `${name}-wrong`, hint && `${name}-hint`].filter(Boolean);
  return (
    <fieldset class="field" aria-describedby={descriptions.join(' ') || undefined}>
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
      {choices.map((choice) => (
        <ChoiceOption
          key={choice.value}
          {...choice}
          type={type}
          name={name}
          checked={values.includes(choice.value)}
        />
      ))}
    </fieldset>
  );
}

function ChoiceOption({
  type,
  name,
  value,
  text,
  hint,
  fields,
  checked,
}: Choice & { type: ChoicesProps['type']; name: string; checked: boolean }) {
  // Values such as `*` and `test.completed` are valid in an id, but not in every selector.
  const id = `${name}-${value.replace(/\W/g, '-')}`;
  return (
    <div class="choice">
      <input
        id={id}
        type={type as 'radio'}
        name={name}
        value={value}
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <div>
        <label for={id}>{text}</label>
        {hint && (
          <p id={`${id}-hint`} class="small muted">
            {hint}
          </p>
        )}
        {fields && <div class="choice-fields">{fields}</div>}
      </div>
    </div>
  );
}
