/** Applies filters as soon as they change, without leaving the page: the form keeps the focus, and what is around it changes. */

import { announce } from './announce.ts';

/** After the last letter, so that a word is one request. */
const PAUSE_MS = 500;

let timer: ReturnType<typeof setTimeout> | undefined;
let request = new AbortController();
/** The field that was typed in last: its letters are one step in the history. */
let typedIn: EventTarget | null = null;
let shownUrl = location.href;

const filtersOf = (target: EventTarget | null): HTMLFormElement | null =>
  target instanceof HTMLElement ? target.closest<HTMLFormElement>('form[data-filters]') : null;

/** Calls `onReplaced` when parts of the page are new. */
export function startFilters(onReplaced: () => void): void {
  const applyNow = (form: HTMLFormElement, field: EventTarget | null, url = urlOf(form)) => {
    clearTimeout(timer);
    void apply(form, field, url).then((isApplied) => isApplied && onReplaced());
  };
  addEventListener('click', (event) => {
    const { target } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>('th a[href]') : null;
    const form = document.querySelector<HTMLFormElement>('main form[data-filters]');
    if (!link || !form || link.pathname !== location.pathname) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    applyNow(form, null, link.href);
  });
  addEventListener('input', ({ target }) => {
    const form = filtersOf(target);
    if (!form || !(target instanceof HTMLInputElement)) return;
    clearTimeout(timer);
    timer = setTimeout(() => applyNow(form, target), PAUSE_MS);
  });
  addEventListener('change', ({ target }) => {
    const form = filtersOf(target);
    if (form) applyNow(form, target);
  });
  addEventListener('submit', (event) => {
    const form = filtersOf(event.target);
    if (!form) return;
    event.preventDefault();
    applyNow(form, document.activeElement);
  });
  // The button that opened the form on a phone may be another one by now.
  addEventListener(
    'toggle',
    ({ target, newState }) => {
      const form = filtersOf(target);
      const used = document.activeElement;
      if (form && newState === 'closed' && (used === document.body || form.contains(used)))
        document.querySelector<HTMLElement>(`.filter-button[popovertarget="${form.id}"]`)?.focus();
    },
    true,
  );
  addEventListener('popstate', () => {
    if (withoutFragment(shownUrl) !== withoutFragment(location.href)) location.reload();
  });
}

const withoutFragment = (url: string): string => url.replace(/#.*/, '');

function urlOf(form: HTMLFormElement): string {
  const url = new URL(form.action);
  const fields = [...new FormData(form)].filter(([, value]) => value !== '') as [string, string][];
  url.search = String(new URLSearchParams(fields));
  return url.href;
}

async function apply(
  form: HTMLFormElement,
  field: EventTarget | null,
  url: string,
): Promise<boolean> {
  request.abort();
  if (withoutFragment(url) === withoutFragment(shownUrl)) return false;
  request = new AbortController();
  const { signal } = request;
  const page = await load(url, signal);
  if (signal.aborted) return false;
  const main = page?.querySelector('main');
  const next = main?.querySelector<HTMLFormElement>(`#${form.id}`);
  const shownMain = form.closest('main');
  // The session has ended, or the service is away: the browser shows what is wrong.
  if (!page || !main || !next || !shownMain) {
    location.assign(url);
    return false;
  }
  const isTyping = field === typedIn && field instanceof HTMLInputElement;
  typedIn = field;
  history[isTyping ? 'replaceState' : 'pushState'](null, '', url);
  shownUrl = url;
  document.title = page.title;
  const heading = document.activeElement?.getAttribute('data-focus');
  replaceAround(form, next, shownMain);
  if (heading) document.querySelector<HTMLElement>(`[data-focus="${heading}"]`)?.focus();
  replaceFields(form, next);
  if (next.popover === null) {
    form.popover = null;
    form.className = next.className;
  }
  announce(resultsAfter(form));
  return true;
}

async function load(url: string, signal: AbortSignal): Promise<Document | null> {
  try {
    const response = await fetch(url, { headers: { accept: 'text/html' }, signal });
    // A filter with an error has a page, too.
    if (response.status >= 500 || response.redirected) return null;
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch {
    return null;
  }
}

/** Replaces everything in `end` but the form and what contains it. */
function replaceAround(form: Element, next: Element, end: Element): void {
  for (let [old, fresh] = [form, next]; old !== end; ) {
    const [oldParent, freshParent] = [old.parentElement!, fresh.parentElement!];
    const before = siblingsOf(fresh, 'previousSibling').toReversed();
    const after = siblingsOf(fresh, 'nextSibling');
    for (const sibling of siblingsOf(old, 'previousSibling')) sibling.remove();
    for (const sibling of siblingsOf(old, 'nextSibling')) sibling.remove();
    old.before(...before);
    old.after(...after);
    [old, fresh] = [oldParent, freshParent];
  }
}

function siblingsOf(node: ChildNode, side: 'previousSibling' | 'nextSibling'): ChildNode[] {
  const siblings: ChildNode[] = [];
  for (let each = node[side]; each; each = each[side]) siblings.push(each as ChildNode);
  return siblings;
}

/** Choices and errors may be others now. The control in use stays. */
function replaceFields(form: HTMLFormElement, next: HTMLFormElement): void {
  const used = document.activeElement;
  if (!form.contains(used)) {
    form.replaceChildren(...next.childNodes);
    return;
  }
  const same = used?.id && next.querySelector(`#${used.id}`);
  if (!used || !same) return;
  for (const name of ['aria-invalid', 'aria-describedby']) {
    const value = same.getAttribute(name);
    if (value === null) used.removeAttribute(name);
    else used.setAttribute(name, value);
  }
  replaceAround(used, same, form);
}

function resultsAfter(form: Element): string {
  const follows = (element: Element) =>
    (form.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const [first] = [...document.querySelectorAll('main :is(table.rows, .empty h2)')].filter(follows);
  if (!first) return 'The page is up to date.';
  if (!(first instanceof HTMLTableElement)) return first.textContent ?? '';
  const count = first.tBodies[0]?.rows.length ?? 0;
  const where = document.querySelector('main .pager') ? ' on this page' : '';
  return `${count} ${count === 1 ? 'result' : 'results'}${where}`;
}
