/** The cookie by which a signed-in browser says who it is, and how cookies of ours are named, read and written. */

import type { Config } from '../config/config.ts';

type Addresses = Pick<Config, 'APP_URL'>;

/** What a token may consist of (RFC 6265 §4.1.1), and how long it may be. */
const TOKEN = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,200}$/;

/**
 * Where browsers come by https, the prefix makes them keep the cookie to this very host, so that no
 * neighbour under the same domain can put one of its own in its place (RFC 6265bis §4.1.3.2).
 */
export function sessionCookieName(https: boolean): string {
  return https ? '__Host-deliverability' : 'deliverability';
}

const isHttps = ({ APP_URL }: Addresses): boolean => APP_URL.startsWith('https:');

/**
 * What could be the token in a `Cookie` header, three at most: where browsers come by http, a neighbour
 * under the same domain can put a cookie of its own before ours, and only asking tells which is which.
 */
export function readSessionCookies(header: string | null, config: Addresses): string[] {
  const name = sessionCookieName(isHttps(config));
  return cookieValues(header, name)
    .filter((value) => TOKEN.test(value))
    .slice(0, 3);
}

/** The `Set-Cookie` of a session; without `maxAge` (seconds) it ends with the browser. */
export function sessionCookie(token: string, config: Addresses, maxAge?: number): string {
  if (!TOKEN.test(token)) throw new Error('a session token has characters that no cookie takes');
  return cookieField(sessionCookieName(isHttps(config)), token, config, maxAge);
}

/** The `Set-Cookie` that takes the cookie away. */
export function clearedSessionCookie(config: Addresses): string {
  return cookieField(sessionCookieName(isHttps(config)), '', config, 0);
}

/** Every value that a `Cookie` header has under this name: a neighbour may have added one. */
export function cookieValues(header: string | null, name: string): string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at >= 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

/** The `Set-Cookie` of a cookie that no script reads and no form of another site brings along. */
export function cookieField(
  name: string,
  value: string,
  config: Addresses,
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
