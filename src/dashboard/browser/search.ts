/** The search over every page: a field with results by group, which opens with `/` or Ctrl+K. */

interface Result {
  title: string;
  detail: string | null;
  url: string;
}

interface Group {
  group: string;
  data: Result[];
}

const TITLES: Record<string, string> = {
  domains: 'Domains',
  pages: 'Pages',
  tests: 'Tests',
  help: 'Help',
};
/** After the last letter, so that a word is one request. */
const DELAY_MS = 150;
const HINT = 'Domains, pages, tests and help';

/** The link to the page with the results, which works without this script. */
const linkToPage = (): HTMLAnchorElement | null =>
  document.querySelector<HTMLAnchorElement>('a[data-action="search"]');

/** Returns false if the page has no search, or has another dialog open. */
export function openSearch(): boolean {
  const link = linkToPage();
  if (!link || document.querySelector('dialog[open]')) return false;
  const dialog = createDialog(link.href);
  document.body.append(dialog);
  // The browser returns the focus to where it was.
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
  return true;
}

/** `/` outside of fields, and Ctrl+K or ⌘K anywhere. */
export function opensSearch(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing, target } = event;
  if (isComposing || event.defaultPrevented || altKey) return false;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey;
  // On some keyboards, `/` needs Shift.
  return key === '/' && !isField(target);
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type=checkbox], [type=radio])'));

function createDialog(page: string): HTMLDialogElement {
  const dialog = element('dialog', { class: 'search', 'aria-label': 'Search' });
  const form = element('form', { action: page, role: 'search' });
  const field = element('input', {
    name: 'q',
    maxlength: '200',
    autocomplete: 'off',
    spellcheck: 'false',
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': 'search-results',
    'aria-label': 'Search',
    placeholder: 'Search',
    enterkeyhint: 'search',
    autofocus: '',
  });
  const close = element('button', { type: 'button', class: 'button' }, 'Close');
  const list = element('div', { id: 'search-results', role: 'listbox', 'aria-label': 'Results' });
  const status = element('p', { class: 'small muted', role: 'status' }, HINT);
  list.hidden = true;
  form.append(field, close);
  dialog.append(form, list, status);
  close.addEventListener('click', () => dialog.close());
  // A click beside the dialog, which has no padding.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  field.addEventListener('keydown', (event) => chooseByKey(event, field, list));

  let timer = 0;
  let request = new AbortController();
  const show = (groups: Group[], text: string) => {
    list.replaceChildren(...groups.map(optionsOf));
    list.hidden = groups.length === 0;
    field.ariaExpanded = String(groups.length > 0);
    field.removeAttribute('aria-activedescendant');
    status.textContent = text;
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    request.abort();
    const q = field.value.trim();
    if (q === '') return show([], HINT);
    request = new AbortController();
    const { signal } = request;
    timer = setTimeout(async () => {
      const groups = await load(page, q, signal);
      if (signal.aborted) return;
      if (groups === null) return show([], 'Press Enter to open the search page.');
      const count = groups.reduce((sum, { data }) => sum + data.length, 0);
      show(
        groups,
        count === 0
          ? 'No results'
          : `${count} ${count === 1 ? 'result' : 'results'}. Press Enter for all of them.`,
      );
    }, DELAY_MS);
  });
  return dialog;
}

/** Null if there is no answer, for example because the session has ended. */
async function load(page: string, q: string, signal: AbortSignal): Promise<Group[] | null> {
  try {
    // Beside the page, so that a path before it stays.
    const url = new URL(`v1/search?${new URLSearchParams({ q })}`, page);
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
    return response.ok ? (await response.json()).groups : null;
  } catch {
    return null;
  }
}

function optionsOf({ group, data }: Group): HTMLElement {
  const title = TITLES[group] ?? group;
  const box = element('div', { role: 'group', 'aria-label': title });
  box.append(element('div', { class: 'search-group', 'aria-hidden': 'true' }, title));
  for (const [i, { title: name, detail, url }] of data.entries()) {
    const { pathname, search, hash } = new URL(url);
    const option = element('a', {
      id: `search-${group}-${i}`,
      role: 'option',
      'aria-selected': 'false',
      tabindex: '-1',
      // The reader may have come by another host name than the URL has.
      href: pathname + search + hash,
    });
    option.append(element('bdi', {}, name));
    if (detail !== null) option.append(element('bdi', { class: 'row-note' }, detail));
    box.append(option);
  }
  return box;
}

/** The arrow keys choose a result, and Enter opens it. Without a choice, Enter opens the page with all results. */
function chooseByKey(event: KeyboardEvent, field: HTMLInputElement, list: HTMLElement): void {
  if (event.isComposing) return;
  const options = [...list.querySelectorAll<HTMLElement>('[role="option"]')];
  const current = options.findIndex(({ ariaSelected }) => ariaSelected === 'true');
  if (event.key === 'Enter' && current >= 0) {
    event.preventDefault();
    options[current]!.click();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || options.length === 0) return;
  event.preventDefault();
  // Before the first and after the last, none is chosen: the field itself.
  const places = options.length + 1;
  const next = ((current + 1 + step + places) % places) - 1;
  for (const [i, option] of options.entries()) option.ariaSelected = String(i === next);
  const chosen = options[next];
  if (chosen) field.setAttribute('aria-activedescendant', chosen.id);
  else field.removeAttribute('aria-activedescendant');
  chosen?.scrollIntoView({ block: 'nearest' });
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string>,
  text = '',
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.textContent = text;
  return created;
}
