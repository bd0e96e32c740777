/** Replaces parts of a page until they no longer wait for anything, such as for emails that are being sent. */

import { announce } from './announce.ts';
import { showLocalTimes } from './times.ts';

const INTERVAL_MS = 2_000;
/** Five minutes. Mail servers that are away longer are away for hours. */
const MAX_REFRESHES = 150;

let timer: ReturnType<typeof setTimeout> | undefined;
let refreshes = 0;

/** Refreshes the parts with `data-refresh`, if there are any. Call it again when the page is shown again. */
export function startRefreshing(): void {
  stopRefreshing();
  if (document.querySelector('[data-refresh]') && refreshes < MAX_REFRESHES)
    timer = setTimeout(() => void refresh().finally(startRefreshing), INTERVAL_MS);
}

/** Also lets the browser keep the page for "back". */
export function stopRefreshing(): void {
  clearTimeout(timer);
}

const partsToRefresh = (): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('[data-refresh]'),
];

async function refresh(): Promise<void> {
  if (document.hidden) return;
  refreshes += 1;
  try {
    const response = await fetch(location.href, {
      headers: { accept: 'text/html' },
      redirect: 'error',
      cache: 'no-store',
    });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of partsToRefresh()) replace(part, page.getElementById(part.id));
  } catch {
    // The service or the session has ended. The page stays as it is.
  }
}

function replace(shown: HTMLElement, part: HTMLElement | null): void {
  if (!part || part.outerHTML === shown.outerHTML || shown.contains(document.activeElement)) return;
  shown.replaceWith(document.adoptNode(part));
  showLocalTimes(part);
  announce(part.dataset.status ?? '');
}
