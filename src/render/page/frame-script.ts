/** The one script of a page: copy buttons, the theme, unfolding. Without it everything can still be read. */

import { createHash } from 'node:crypto';

/** Runs in the head, so that a chosen theme is there before anything is painted. */
export const FRAME_SCRIPT = `(() => {
  const root = document.documentElement;
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem('theme');
      if (value === null) localStorage.removeItem('theme');
      else localStorage.setItem('theme', value);
    } catch { /* A file, or storage is off: the choice lasts as long as the page. */ }
    return null;
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
  const show = () => {
    for (const button of document.querySelectorAll('[data-action="theme"]'))
      button.setAttribute('aria-pressed', String(isDark()));
  };
  const chosen = stored();
  if (chosen === 'light' || chosen === 'dark') root.dataset.theme = chosen;
  root.classList.add('script');
  const switchTheme = () => {
    const wanted = isDark() ? 'light' : 'dark';
    if ((wanted === 'dark') === system.matches) delete root.dataset.theme;
    else root.dataset.theme = wanted;
    stored(root.dataset.theme ?? null);
    show();
  };
  const copy = async (button) => {
    const source = button.parentElement.querySelector('code');
    let done = true;
    try { await navigator.clipboard.writeText(source.textContent); } catch {
      getSelection().selectAllChildren(source);
      done = document.execCommand('copy');
    }
    const label = button.querySelector('span');
    label.textContent = done ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => { label.textContent = 'Copy'; }, 2000);
  };
  addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-action]');
    if (button?.dataset.action === 'theme') switchTheme();
    if (button?.dataset.action === 'copy') copy(button);
  });
  const unfold = () => {
    let folded = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('details');
    for (; folded; folded = folded.parentElement.closest('details')) folded.open = true;
  };
  addEventListener('hashchange', unfold);
  addEventListener('DOMContentLoaded', () => { show(); unfold(); });
  system.addEventListener('change', show);
  // For browsers whose style cannot unfold what is printed.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    for (const each of opened) each.open = true;
  });
  addEventListener('afterprint', () => { for (const each of opened) each.open = false; });
})();`;

/** For `script-src`: nothing but this very text may run. */
export const FRAME_SCRIPT_HASH = `sha256-${createHash('sha256').update(FRAME_SCRIPT).digest('base64')}`;
