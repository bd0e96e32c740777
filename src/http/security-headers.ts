/** What every answer tells browsers: to guess no type, to frame nothing, to run nothing, to send no referrer. */

import type { Config } from '../config.ts';

export type HeaderFields = Readonly<Record<string, string>>;

const CSP = 'content-security-policy';
const NO_FRAME = "frame-ancestors 'none'";

/** The same wherever the service is reached. */
export const COMMON_HEADERS: HeaderFields = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  [CSP]: `default-src 'none'; ${NO_FRAME}`,
};

/** Where clients come by https, they are told to come by nothing else for a year (RFC 6797). */
export function securityHeaders({
  BASE_URL,
  APP_URL,
}: Pick<Config, 'BASE_URL' | 'APP_URL'>): HeaderFields {
  const https = [BASE_URL, APP_URL].every((url) => url.startsWith('https:'));
  return https
    ? { ...COMMON_HEADERS, 'strict-transport-security': 'max-age=31536000' }
    : COMMON_HEADERS;
}

/** Adds them to an answer that a route has made itself; what the route set stays. */
export function addSecurityHeaders({ headers }: Response, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields))
    if (!headers.has(name)) headers.set(name, name === CSP ? policyFor(headers) : value);
}

/** A browser's own viewer of PDFs needs what the strict policy forbids. */
function policyFor(headers: Headers): string {
  return headers.get('content-type') === 'application/pdf' ? NO_FRAME : COMMON_HEADERS[CSP]!;
}
