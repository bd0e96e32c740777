/** Filters and sorts a list on the spot: loads the page of the new URL, and replaces the parts that are marked as live. */

import { showSelection } from './selection.ts';
import { showLocalTimes } from './times.ts';

/** A pause in typing. */
const TYPING_MS = 200;

let timer: ReturnType<typeof setTimeout> | undefined;
let current: AbortController | undefined;

/** Whether the form replaces parts instead of loading its page. */
export const isLive = (form: HTMLFormElement | null): form is HTMLFormElement =>
  form?.dataset.replaces !== undefined;

/** Applies what was typed, after a pause. */
export function applySoon(form: HTMLFormElement): void {
  clearTimeout(timer);
  timer = setTimeout(() => applyForm(form), TYPING_MS);
}

/** Shows the list of the fields that have a value. */
export function applyForm(form: HTMLFormElement): void {
  clearTimeout(timer);
  const given = [...new FormData(form)].filter(
    (entry): entry is [string, string] => entry[1] !== '',
  );
  const query = new URLSearchParams(given).toString();
  void showAt(form.action + (query && `?${query}`));
}

/** A link in a live part to the same page, such as a heading that sorts. */
export const isLiveLink = (target: Element): HTMLAnchorElement | null => {
  const link = target.closest<HTMLAnchorElement>('[data-live] a[href]');
  return link && link.pathname === location.pathname && link.origin === location.origin
    ? link
    : null;
};

/** Falls back to loading the page. */
export async function showAt(url: string): Promise<void> {
  current?.abort();
  const mine = new AbortController();
  current = mine;
  try {
    const response = await fetch(url, { headers: { accept: 'text/html' }, signal: mine.signal });
    if (!response.ok || response.redirected) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll<HTMLElement>('[data-live]'))
      replace(part, page.getElementById(part.id));
    history.replaceState(history.state, '', url);
    keepOrder(page);
    showSelection();
  } catch {
    if (!mine.signal.aborted) location.assign(url);
  }
}

function replace(shown: HTMLElement, part: HTMLElement | null): void {
  if (!part) throw new Error(`The page has no ${shown.id}.`);
  const focused = shown.contains(document.activeElement)
    ? document.activeElement?.getAttribute('data-focus')
    : null;
  shown.replaceWith(document.adoptNode(part));
  showLocalTimes(part);
  if (focused) part.querySelector<HTMLElement>(`[data-focus="${focused}"]`)?.focus();
}

/** The form shows and keeps the order that a heading has set. */
function keepOrder(page: Document): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-replaces]')) {
    const fresh = page.querySelector<HTMLFormElement>('form[data-replaces]');
    const sort = form.elements.namedItem('sort');
    const freshSort = fresh?.elements.namedItem('sort');
    if (sort instanceof HTMLSelectElement && freshSort instanceof HTMLSelectElement)
      sort.value = freshSort.value;
    form.querySelector('input[name="order"]')?.remove();
    const order = fresh?.querySelector('input[name="order"]');
    if (order) form.append(document.adoptNode(order));
  }
}
