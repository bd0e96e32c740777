/** Buttons that change something: with one click, or after a confirmation. */

import type { ComponentChildren } from 'preact';
import { Popover } from '../../ui/components.tsx';

interface ActionProps {
  /** The path of the form. */
  action: string;
  /** Hidden fields. */
  fields?: Record<string, string>;
  /** For the main action of a page. */
  primary?: boolean;
  disabled?: boolean;
  children: ComponentChildren;
}

/** A button that sends a form at once. */
export function ActionButton({ action, fields = {}, primary, disabled, children }: ActionProps) {
  return (
    <form method="post" action={action} class="inline">
      <HiddenFields fields={fields} />
      <button type="submit" class={primary ? 'button primary' : 'button'} disabled={disabled}>
        {children}
      </button>
    </form>
  );
}

interface ConfirmProps extends Pick<ActionProps, 'action' | 'fields'> {
  /** The text of the first button: "Delete…". */
  label: string;
  /** What happens, and that it cannot be undone. */
  warning: ComponentChildren;
  /** The text of the second button: "Delete test". */
  confirm: string;
  /** Fields that must be filled in first, such as a name to type. */
  children?: ComponentChildren;
  /** Open, to show an error of the form. */
  open?: boolean;
}

/** A button that opens a question; only the answer sends the form. Works without scripts. */
export function Confirm(props: ConfirmProps) {
  const { action, fields = {}, label, warning, confirm, children, open = false } = props;
  return (
    <PopoverForm
      id={idOf('confirm', [action, ...Object.values(fields)])}
      label={label}
      buttonClass="button danger"
      open={open}
    >
      <form method="post" action={action} class="confirm-panel">
        <HiddenFields fields={fields} />
        <p>{warning}</p>
        {children}
        <button type="submit" class="button danger-solid">
          {confirm}
        </button>
      </form>
    </PopoverForm>
  );
}

interface EditFormProps {
  action: string;
  label: string;
  /** Open, to show an error of the form. */
  open: boolean;
  children: ComponentChildren;
}

/** A button that opens a form with fields. */
export function EditForm({ action, label, open, children }: EditFormProps) {
  return (
    <PopoverForm id={idOf('edit', [action])} label={label} open={open}>
      <form method="post" action={action} class="fields">
        {children}
      </form>
    </PopoverForm>
  );
}

interface PopoverFormProps {
  id: string;
  label: string;
  buttonClass?: string;
  open: boolean;
  children: ComponentChildren;
}

/** Only a script could open a popover, so a form with an error is in the page. */
function PopoverForm({ id, label, buttonClass, open, children }: PopoverFormProps) {
  if (open) return <div class="opened screen-only">{children}</div>;
  return (
    <Popover id={id} button={label} buttonClass={buttonClass}>
      {children}
    </Popover>
  );
}

const idOf = (name: string, parts: string[]): string =>
  [name, ...parts].join('-').replace(/\W+/g, '-');

export function HiddenFields({ fields }: { fields: Record<string, string> }) {
  return (
    <>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
