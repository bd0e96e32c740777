/** The script of the pages for members. Every page works without it, except that it does not update itself. */

import { startCharts } from './charts.ts';
import { saveDraft } from './drafts.ts';
import { startFilters } from './filters.ts';
import { fillInReceipt, omitUnchanged } from './receipt.ts';
import { startRefreshing, stopRefreshing } from './refresh.ts';
import { openSearch, opensSearch } from './search.ts';
import { isTooFew, selectAll, showSelection } from './selection.ts';
import { checkSession } from './signed-out.ts';
import { showLocalTimes, startRelativeTimes } from './times.ts';
import { startUploads } from './upload-files.ts';
import { resumeWatching, stopWatching, watchTest } from './watch-test.ts';

/** Opens and closes the navigation on small screens. */
function toggleNavigation(button: HTMLElement): void {
  const isOpen = document.getElementById('navigation')!.classList.toggle('open');
  button.setAttribute('aria-expanded', String(isOpen));
}

/** Before the upload, which could take minutes. */
function checkFileSize(field: HTMLInputElement): void {
  const { maxBytes, tooLarge = '' } = field.dataset;
  const size = field.files?.[0]?.size ?? 0;
  field.setCustomValidity(size > Number(maxBytes) ? tooLarge : '');
  field.reportValidity();
}

/** The fields of a form that reads how a message was sent. */
const isMessageSource = (
  target: EventTarget | null,
): target is HTMLInputElement | HTMLTextAreaElement =>
  (target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && target.type === 'file')) &&
  target.form?.dataset.receipt !== undefined;

/** The boxes of a table may be linked to its form by their `form` attribute. */
addEventListener('click', (event) => {
  const { target } = event;
  if (!(target instanceof Element)) return;
  const control = target.closest<HTMLElement>('[data-action]');
  // With a key, the link opens as any other, for example in a new tab.
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey);
  if (control?.dataset.action === 'search' && isPlain && openSearch()) event.preventDefault();
  if (control?.dataset.action === 'navigation') toggleNavigation(control);
  if (control instanceof HTMLInputElement && control.dataset.action === 'select-all')
    selectAll(control);
});

addEventListener('keydown', (event) => {
  if (opensSearch(event) && openSearch()) event.preventDefault();
});

addEventListener('change', ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset.maxBytes) checkFileSize(target);
  if (isMessageSource(target)) void fillInReceipt(target);
  if (target instanceof HTMLInputElement && target.name === 'id') showSelection();
});

/** A form is sent once, even if its button is clicked twice. */
addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  if (event.submitter && isTooFew(event.submitter)) {
    event.preventDefault();
    return;
  }
  if ('filters' in form.dataset) return;
  if (form.method === 'get') {
    for (const field of form.elements)
      if (
        (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) &&
        field.value === ''
      )
        field.disabled = true;
    return;
  }
  saveDraft(form);
  // A download leaves the page as it is, and its form in use.
  if ('repeatable' in form.dataset) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = 'yes';
});

/** A page from the cache of the browser, after "back", can be used again. */
addEventListener('pageshow', () => {
  checkSession();
  for (const form of document.forms) {
    delete form.dataset.sent;
    for (const field of form.elements)
      if (form.method === 'get' && 'disabled' in field) field.disabled = false;
  }
  start();
});

addEventListener('formdata', ({ target, formData }) =>
  omitUnchanged(target as HTMLFormElement, formData),
);

addEventListener('pagehide', () => {
  stopWatching();
  stopRefreshing();
});
for (const event of ['online', 'visibilitychange']) addEventListener(event, resumeWatching);
addEventListener('DOMContentLoaded', startRelativeTimes);
startFilters(start);

function start(): void {
  showLocalTimes(document);
  watchTest();
  startRefreshing();
  startUploads();
  showSelection();
  startCharts();
}
