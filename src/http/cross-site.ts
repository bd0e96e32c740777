/** Whether a page of another site has made a request (CSRF): by what browsers say, which no page can change. */

import type { Config } from '../config.ts';

/** `unknown` where nothing is said: no browser, or a very old one. */
type Origin = 'own' | 'foreign' | 'unknown';

type Addresses = Pick<Config, 'BASE_URL' | 'APP_URL'>;

/**
 * Reads `Origin` (RFC 6454 §7) and `Sec-Fetch-Site` (Fetch Metadata §2.4). A page of the APP_URL is our
 * own to the BASE_URL too, although the browser calls it another origin, or another site; and what it
 * calls the same origin is our own by whatever name a proxy has let it in.
 */
export function originOf(headers: Headers, config: Addresses): Origin {
  const origin = headers.get('origin');
  if (origin !== null && isOurs(origin, config)) return 'own';
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin') return 'own';
  // The user's own doing, such as a bookmark; what comes from a page that hides its origin is not.
  if (site === 'none') return origin === 'null' ? 'foreign' : 'own';
  return site === null && origin === null ? 'unknown' : 'foreign';
}

function isOurs(origin: string, { BASE_URL, APP_URL }: Addresses): boolean {
  return [BASE_URL, APP_URL].some((url) => new URL(url).origin === origin);
}
