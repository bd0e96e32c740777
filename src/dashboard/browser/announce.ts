/** Tells screen readers what has changed on the page. */

/** Readers notice the text only if the region was there before. */
const DELAY_MS = 200;

let region: HTMLElement | null = null;
let last = '';

/** Each text once in a row, so that a page that updates often does not chatter. */
export function announce(text: string): void {
  if (text === '' || text === last) return;
  last = text;
  if (!region) {
    region = document.createElement('div');
    region.className = 'visually-hidden';
    region.role = 'status';
    region.ariaLive = 'polite';
    document.body.append(region);
  }
  const target = region;
  setTimeout(() => {
    target.textContent = text;
  }, DELAY_MS);
}
