/**
 * Updates the page of a test until it is the report. Each request waits on the service until something
 * changes, and its response is complete, so proxies that buffer responses do no harm. Where the report has another
 * security policy than the page, as for public tests, the report is loaded instead.
 */

import { announce } from './announce.ts';
import { showLocalTimes } from './times.ts';

/** How long a request may wait for a change. */
const WAIT_SECONDS = 20;
/** A request that takes longer was lost, for example because the computer slept. */
const LOST_MS = (WAIT_SECONDS + 10) * 1000;
const MIN_INTERVAL_MS = 500;
const MAX_RETRY_MS = 30_000;
/** A page that cannot be watched is loaded again, but not in a loop. */
const RELOAD_INTERVAL_MS = 60_000;

/** Ends the requests for the page that is shown. */
let current: AbortController | null = null;
let requestedAt = 0;

/** Watches the test that the page shows, if it is in progress. Call it again when the page is shown again. */
export function watchTest(): void {
  stopWatching();
  if (watchedUrl() === null) return;
  current = new AbortController();
  void follow(current.signal);
}

/** Also lets the browser keep the page for "back". */
export function stopWatching(): void {
  current?.abort();
  current = null;
}

/** Asks again at once if the last request was lost while the page was hidden. */
export function resumeWatching(): void {
  if (current && Date.now() - requestedAt > LOST_MS) watchTest();
}

const watched = (root: ParentNode = document): HTMLElement | null => root.querySelector('#watched');
const watchedUrl = (): string | null => watched()?.dataset.watch ?? null;

async function follow(stop: AbortSignal): Promise<void> {
  let failures = 0;
  for (let url = watchedUrl(); url !== null && !stop.aborted; url = watchedUrl()) {
    const startedAt = performance.now();
    try {
      const page = await load(url, stop);
      if (stop.aborted) return;
      failures = 0;
      showConnection(true);
      if (page) await show(page);
    } catch {
      if (stop.aborted) return;
      failures += 1;
      if (failures > 1) showConnection(false);
    }
    const minMs = failures > 0 ? Math.min(1000 * 2 ** failures, MAX_RETRY_MS) : MIN_INTERVAL_MS;
    await pause(minMs - (performance.now() - startedAt), stop);
  }
}

/** Null if nothing has changed. Rejects if the service could not be reached. */
async function load(url: string, stop: AbortSignal): Promise<Document | null> {
  requestedAt = Date.now();
  const query = new URLSearchParams({
    wait: String(WAIT_SECONDS),
    seen: watched()?.dataset.version ?? '',
  });
  const response = await fetch(`${url}?${query}`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
    cache: 'no-store',
    signal: AbortSignal.any([stop, AbortSignal.timeout(LOST_MS)]),
  });
  if (response.status === 204) return null;
  if (response.status >= 500 || response.status === 429) throw new Error(String(response.status));
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
  const page = isPage && response.ok ? parse(await response.text()) : null;
  const next = page && watched(page);
  if (next) return next.dataset.version === watched()?.dataset.version ? null : page;
  // The session has ended, the test was deleted, or its report is a page of its own.
  reload();
  throw new Error('reload');
}

const parse = (html: string): Document => new DOMParser().parseFromString(html, 'text/html');

function reload(): void {
  const key = `reloaded ${location.pathname}`;
  try {
    if (Date.now() - Number(sessionStorage.getItem(key)) < RELOAD_INTERVAL_MS) return;
    sessionStorage.setItem(key, String(Date.now()));
  } catch {
    return;
  }
  location.reload();
}

function showConnection(isThere: boolean): void {
  const note = document.getElementById('connection-lost');
  if (note) note.hidden = isThere;
}

/** While the stage is the same, only the parts that change are replaced. */
async function show(page: Document): Promise<void> {
  const { stage, status, report } = watched()?.dataset ?? {};
  const next = { ...watched(page)!.dataset };
  if (stage === next.stage && (stage === 'waiting' || report === next.report)) replaceParts(page);
  else await replaceContent(page);
  if (next.status !== status) announce(next.status ?? '');
}

/** In a report, those are the results from seed mailboxes, so that what is open stays open. */
function replaceParts(page: Document): void {
  document.title = page.title;
  for (const part of page.querySelectorAll<HTMLElement>('[data-live], section#placement')) {
    const shown = document.getElementById(part.id);
    if (!shown || shown.outerHTML === part.outerHTML) continue;
    const hadFocus = shown.contains(document.activeElement);
    shown.replaceWith(document.adoptNode(part));
    if (hadFocus) focusOn(document.getElementById('main'));
  }
  // Goes when the message is there.
  const card = document.getElementById('address-card');
  if (card && !page.getElementById(card.id)) {
    const hadFocus = card.contains(document.activeElement);
    card.remove();
    if (hadFocus) focusOn(document.getElementById('main'));
  }
  showLocalTimes(document);
}

/** Keeps header and navigation, so that an open menu, the theme, and a focus there stay as they are. */
async function replaceContent(page: Document): Promise<void> {
  const part = document.querySelector('.app') ? '.app > .wrap' : '#main';
  const [shown, content] = [document, page].map((each) => each.querySelector(part));
  if (!content || !shown) return reload();
  const wasReport = watched()?.dataset.stage === 'completed';
  await loadStyle(page);
  const hadFocus = shown.contains(document.activeElement);
  document.title = page.title;
  shown.replaceWith(document.adoptNode(content));
  const [foot, newFoot] = [document.querySelector('.foot'), page.querySelector('.foot')];
  foot?.remove();
  if (newFoot) document.body.append(document.adoptNode(newFoot));
  const [skip, newSkip] = [document.querySelector('.skip'), page.querySelector('.skip')];
  if (skip && newSkip) skip.textContent = newSkip.textContent;
  showLocalTimes(document);
  if (hadFocus) focusOn(document.getElementById('main'));
  if (!wasReport) scrollTo(0, 0);
}

const focusOn = (element: HTMLElement | null): void => element?.focus({ preventScroll: true });

/** Reports have a stylesheet of their own. The old one stays until the new one is there. */
async function loadStyle(page: Document): Promise<void> {
  const selector = 'link[rel="stylesheet"]';
  const [old, next] = [document, page].map((each) => each.querySelector<HTMLLinkElement>(selector));
  if (!old || !next || old.getAttribute('href') === next.getAttribute('href')) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = next.getAttribute('href')!;
  const loaded = new Promise((resolve) => {
    link.onload = resolve;
    link.onerror = resolve;
  });
  // Does not apply before the content is replaced.
  link.media = 'print';
  old.after(link);
  await loaded;
  link.media = 'all';
  old.remove();
}

const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (ms <= 0 || stop.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    // The network is back, or the page is visible again: no reason to wait any longer.
    for (const event of ['online', 'pageshow'])
      addEventListener(event, () => resolve(), { once: true, signal: stop });
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
