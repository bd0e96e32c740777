/** Keeps relative times up to date, and shows times in the zone and language of the browser unless the reader has chosen them. */

import { relativeTime } from '../frame/relative-time.ts';

const UPDATE_MS = 20_000;

export function showLocalTimes(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    const date = new Date(element.dateTime);
    // Empty: the language of the browser.
    const locale = element.dataset.local || undefined;
    const timeZone = element.dataset.zone;
    const exact = date.toLocaleString(locale, {
      timeZone,
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'short',
    });
    element.title = exact;
    if (element.dataset.format === 'time') element.textContent = exact;
    if (element.dataset.format === 'day')
      element.textContent = date.toLocaleDateString(locale, {
        timeZone,
        day: 'numeric',
        month: 'short',
        year: 'numeric',
      });
  }
}

/** The clock of the browser may be wrong, so the time of the service goes on from when the page was loaded. */
export function startRelativeTimes(): void {
  const loadedAt = Date.now();
  const now = Number(document.querySelector<HTMLElement>('[data-now]')?.dataset.now);
  if (!now) return;
  setInterval(() => {
    for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-format="ago"]')) {
      const text = relativeTime(Date.parse(element.dateTime), now + Date.now() - loadedAt);
      if (text !== null && text !== element.textContent) element.textContent = text;
    }
  }, UPDATE_MS);
}
