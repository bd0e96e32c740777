/** Turns the buttons for selected rows off until enough are selected, and says how many are. */

import { announce } from './announce.ts';

/** Check boxes of the rows; those of a table may be linked to its form by their `form` attribute. */
const boxesOf = (form: HTMLFormElement): HTMLInputElement[] =>
  [...form.elements].filter(
    (field): field is HTMLInputElement => field instanceof HTMLInputElement && field.name === 'id',
  );

/** Gives all boxes the state of the one in the head of the table. */
export function selectAll(box: HTMLInputElement): void {
  for (const other of box.form ? boxesOf(box.form) : []) other.checked = box.checked;
  showSelection();
}

/** Brings count and buttons up to date: after each change, and after "back", when the browser restores the boxes. */
export function showSelection(): void {
  for (const group of document.querySelectorAll<HTMLFieldSetElement>('fieldset[data-selection]')) {
    const boxes = group.form ? boxesOf(group.form) : [];
    const selected = boxes.filter(({ checked }) => checked).length;
    const all = group.form?.querySelector<HTMLInputElement>('[data-action="select-all"]');
    if (all) {
      all.checked = selected > 0 && selected === boxes.length;
      all.indeterminate = selected > 0 && selected < boxes.length;
    }
    const count = group.querySelector('[data-selected-count]');
    const text = selected === 0 ? 'None selected' : `${selected} selected`;
    if (count && count.textContent !== text) count.textContent = text;
    for (const button of group.querySelectorAll<HTMLButtonElement>('button[data-needs]'))
      allow(button, button.dataset.needs === 'two' ? selected === 2 : selected > 0);
  }
}

/** Not `disabled`: such a button cannot have the focus, so nobody would hear the reason. */
function allow(button: HTMLButtonElement, isAllowed: boolean): void {
  const reason = reasonOf(button);
  if (isAllowed) {
    button.removeAttribute('aria-disabled');
    button.removeAttribute('aria-describedby');
    button.removeAttribute('title');
  } else {
    button.ariaDisabled = 'true';
    button.setAttribute('aria-describedby', reason?.id ?? '');
    button.title = reason?.textContent?.trim() ?? '';
  }
}

const reasonOf = ({ dataset }: HTMLElement) => document.getElementById(`select-${dataset.needs}`);

/** Whether a button is off. Announces the reason, since a click on it changes nothing. */
export function isTooFew(button: HTMLElement): boolean {
  if (button.ariaDisabled !== 'true') return false;
  announce(reasonOf(button)?.textContent?.trim() ?? '');
  return true;
}
