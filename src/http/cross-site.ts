/** Whether a page of another site has made a request (CSRF): by what browsers say, which no page can change. */

import type { Config } from '../config.ts';

/** `unknown` where nothing is said: no browser, or a very old one. */
type Origin = 'own' | 'foreign' | 'unknown';

/** Reads `Sec-Fetch-Site` (Fetch Metadata §2.4), and where it is not sent, `Origin` (RFC 6454 §7). */
export function originOf(headers: Headers, config: Pick<Config, 'BASE_URL' | 'APP_URL'>): Origin {
  const site = headers.get('sec-fetch-site');
  // `none`: the user's own doing, such as a bookmark.
  if (site !== null) return site === 'same-origin' || site === 'none' ? 'own' : 'foreign';
  const origin = headers.get('origin');
  if (origin === null) return 'unknown';
  const own = [config.BASE_URL, config.APP_URL].map((url) => new URL(url).origin);
  return own.includes(origin) ? 'own' : 'foreign';
}
