/** The URLs that events and alerts may be sent to: https to public hosts, and what the operator allows in private networks. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import { characterCount } from '../http/schemas.ts';
import type { Network } from '../lib/addresses.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { AppError } from '../lib/errors.ts';
import { isAllowedPrivate, mayConnect } from '../net/address-guard.ts';
import { PLAIN_HTTP_RULE } from '../net/guarded-connection.ts';
import { parseHttpTarget } from '../net/http/web.ts';

const MAX_URL_LENGTH = 2048;
const EXAMPLE = 'https://example.com/hooks';

/**
 * Checks the text only; `requireAllowedUrl` checks the host. Returns the URL as the parser serializes it, so
 * that users see what is actually requested: `https://2130706433` becomes `https://127.0.0.1/`.
 */
export const EndpointUrl = v.pipe(
  v.string('must be a string'),
  v.check(
    (text) => textProblem(text) === null,
    ({ input }) => textProblem(input)!,
  ),
  v.metadata({
    jsonSchema: {
      type: 'string',
      format: 'uri',
      pattern: '^[hH][tT][tT][pP][sS]?://',
      maxLength: MAX_URL_LENGTH,
    },
  }),
  v.transform((text) => new URL(text).href),
);

function textProblem(text: string): string | null {
  if (characterCount(text, MAX_URL_LENGTH) > MAX_URL_LENGTH)
    return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!/^https?:\/\//i.test(text)) return `must start with https://, as in ${EXAMPLE}`;
  // The parser silently removes or converts these, or users can't see them.
  if (/[\s\\\p{Cc}\p{Cf}\p{Cs}]/u.test(text))
    return 'must not contain spaces, backslashes or invisible characters; percent-encode them, as in %20';
  const [authority] = /(?<=^https?:\/\/)[^/?#]*/i.exec(text)!;
  if (authority.includes('@')) return 'must not contain a user name or password';
  // The parser skips extra slashes and takes what follows as the host.
  if (authority === '' || !URL.canParse(text)) return `must be a valid URL such as ${EXAMPLE}`;
  if (new URL(text).href.length > MAX_URL_LENGTH)
    return `must have at most ${MAX_URL_LENGTH} characters when encoded`;
  if (text.includes('#')) return 'must not contain a fragment (#)';
  const target = parseHttpTarget(text);
  if (typeof target === 'string')
    return 'must use port 443, or a port above 1023 that is not reserved for another protocol';
  return nameProblem(target.host);
}

function nameProblem(host: string): string | null {
  if (isIP(host) !== 0) return null;
  if (normalizeDomain(host) === null) return `must have a valid host name, as in ${EXAMPLE}`;
  if (/(?:^|\.)localhost$/.test(host))
    return 'must not point to localhost; use a host name or IP address that this service can reach';
  return null;
}

/**
 * Throws `validation_failed` for a host that is known not to be public, unless the operator allows it.
 * `param` is the name of the field with the URL.
 */
export function requireAllowedUrl(url: string, allowed: Network[], param = 'url'): void {
  const message = endpointUrlProblem(url, allowed);
  if (message === null) return;
  throw new AppError('validation_failed', `Invalid ${param}: ${message}.`, [
    { param, code: 'invalid', message },
  ]);
}

/** Why this URL is not allowed, worded to follow the name of the field; null if it is allowed. */
export function endpointUrlProblem(url: string, allowed: Network[]): string | null {
  const target = parseHttpTarget(url);
  if (typeof target === 'string') return target;
  const { host, secure } = target;
  // The addresses of a name are checked when the service connects.
  const mayBePrivate = isIP(host) === 0 ? allowed.length > 0 : isAllowedPrivate(host, allowed);
  return secure || mayBePrivate
    ? hostProblem(host, allowed)
    : `must start with https://: ${PLAIN_HTTP_RULE}`;
}

function hostProblem(host: string, allowed: Network[]): string | null {
  if (isIP(host) !== 0)
    return mayConnect(host, allowed)
      ? null
      : `must not point to ${host}, which is not a public address; use a public one, or ask your administrator to allow its network (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS)`;
  // Single-label names resolve only on the operator's own network.
  return host.includes('.') || allowed.length > 0
    ? null
    : `must have a full host name, as in ${EXAMPLE}; ${host} only resolves on a private network, and your administrator allows none (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS)`;
}
