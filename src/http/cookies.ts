/** The session cookie, and how the service names, reads, and writes its cookies. */

import type { Config } from '../config/config.ts';

type CookieConfig = Pick<Config, 'APP_URL'>;

/** The characters of a cookie value (RFC 6265 §4.1.1), up to the longest token. */
const TOKEN = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,200}$/;

/**
 * Over HTTPS, the `__Host-` prefix keeps sibling hosts of the same domain from setting this cookie
 * (RFC 6265bis §4.1.3.2).
 */
export function sessionCookieName(https: boolean): string {
  return https ? '__Host-deliverability' : 'deliverability';
}

const isHttps = ({ APP_URL }: CookieConfig): boolean => APP_URL.startsWith('https:');

/**
 * Up to three possible session tokens of a `Cookie` header. Over plain HTTP, a sibling host of the
 * same domain can add cookies with this name, so each token must be looked up.
 */
export function readSessionCookies(header: string | null, config: CookieConfig): string[] {
  const name = sessionCookieName(isHttps(config));
  return cookieValues(header, name)
    .filter((value) => TOKEN.test(value))
    .slice(0, 3);
}

/** The `Set-Cookie` of a session. Without `maxAge` (in seconds), it ends when the browser closes. */
export function sessionCookie(token: string, config: CookieConfig, maxAge?: number): string {
  if (!TOKEN.test(token))
    throw new Error('session token contains characters not allowed in cookies');
  return setCookieHeader(sessionCookieName(isHttps(config)), token, config, maxAge);
}

/** The `Set-Cookie` that deletes the session cookie. */
export function clearedSessionCookie(config: CookieConfig): string {
  return setCookieHeader(sessionCookieName(isHttps(config)), '', config, 0);
}

// The mode of a browser session: live, unless its member has switched to test mode.

const modeCookieName = (config: CookieConfig): string =>
  `${sessionCookieName(isHttps(config))}-mode`;

/** Whether the browser shows test mode. */
export function isTestMode(header: string | null, config: CookieConfig): boolean {
  return cookieValues(header, modeCookieName(config)).includes('test');
}

/** The `Set-Cookie` that switches the mode until the browser closes. */
export function modeCookie(testMode: boolean, config: CookieConfig): string {
  return testMode
    ? setCookieHeader(modeCookieName(config), 'test', config, undefined)
    : setCookieHeader(modeCookieName(config), '', config, 0);
}

/** All values with this name in a `Cookie` header. A sibling host may have added some. */
export function cookieValues(header: string | null, name: string): string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals >= 0 && pair.slice(0, equals).trim() === name
      ? [pair.slice(equals + 1).trim()]
      : [];
  });
}

/** The `Set-Cookie` of a cookie that scripts can't read and cross-site forms don't send. */
export function setCookieHeader(
  name: string,
  value: string,
  config: CookieConfig,
  maxAge: number | undefined,
): string {
  return [
    `${name}=${value}`,
    'Path=/',
    ...(maxAge === undefined ? [] : [`Max-Age=${Math.floor(maxAge)}`]),
    ...(isHttps(config) ? ['Secure'] : []),
    'HttpOnly',
    'SameSite=Lax',
  ].join('; ');
}
