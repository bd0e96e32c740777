/** Requests to OAuth 2 endpoints (RFC 6749) for access tokens, within limits of size and time. */

import * as oidc from 'openid-client';
import type { OAuthClient } from '../../config/oauth-client.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { AccountError, type AccountProblem, quoted } from '../account-error.ts';
import type { Failure } from '../guarded-connection.ts';
import type { WebClient } from '../http/web.ts';
import { adviceOn } from './microsoft-errors.ts';

export interface Tokens {
  accessToken: string;
  /** How long it is valid. */
  expiresInMs: number;
  /** A new one that replaces the former; null if that stays valid. */
  refreshToken: string | null;
  /** The permissions that were granted; null if the provider doesn’t say. */
  scopes: string[] | null;
}

const REQUEST_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The library with the endpoints of one client. It sends no secret for a public one. */
export function configurationOf(client: OAuthClient, web: WebClient): oidc.Configuration {
  const server: oidc.ServerMetadata = {
    issuer: client.issuer,
    token_endpoint: client.tokenUrl,
    ...(client.deviceUrl ? { device_authorization_endpoint: client.deviceUrl } : {}),
    ...(client.authorizationUrl ? { authorization_endpoint: client.authorizationUrl } : {}),
  };
  const auth =
    client.clientSecret === null ? oidc.None() : oidc.ClientSecretPost(client.clientSecret);
  const configuration = new oidc.Configuration(server, client.clientId, undefined, auth);
  // The configuration accepts plain HTTP on loopback only.
  oidc.allowInsecureRequests(configuration);
  // The requests have their own limit.
  configuration.timeout = 0;
  configuration[oidc.customFetch] = fetchWith(web);
  return configuration;
}

/** Gets an access token for a refresh token. Rejects with a AccountError; `sign_in_expired` if it was rejected. */
export async function refreshTokens(
  client: OAuthClient,
  refreshToken: string,
  web: WebClient,
): Promise<Tokens> {
  const scope: Record<string, string> = client.scope === null ? {} : { scope: client.scope };
  try {
    const response = await oidc.refreshTokenGrant(
      configurationOf(client, web),
      refreshToken,
      scope,
    );
    return tokensOf(response, client);
  } catch (error) {
    throw toAccountError(error, client);
  }
}

const DEFAULT_LIFETIME_S = 300;
const MAX_LIFETIME_S = 86_400;
/** The tokens of Microsoft have about 3,000 characters. */
const TOKEN = /^[\x21-\x7e]{1,20000}$/;

/** Throws a AccountError if the tokens can’t be used. */
export function tokensOf(
  { access_token, refresh_token, expires_in, scope }: oidc.TokenEndpointResponse,
  { tokenUrl }: Pick<OAuthClient, 'tokenUrl'>,
): Tokens {
  if (!TOKEN.test(access_token) || (refresh_token !== undefined && !TOKEN.test(refresh_token)))
    throw new AccountError('bad_response', `${new URL(tokenUrl).host} sent an invalid token.`);
  const lifetime = expires_in !== undefined && expires_in > 0 ? expires_in : DEFAULT_LIFETIME_S;
  return {
    accessToken: access_token,
    expiresInMs: Math.min(lifetime, MAX_LIFETIME_S) * 1000,
    refreshToken: refresh_token ?? null,
    scopes: scope?.split(' ') ?? null,
  };
}

/** Why the person has to sign in again (RFC 6749 §5.2, and what Microsoft adds). */
const EXPIRED = ['invalid_grant', 'interaction_required', 'consent_required', 'login_required'];
const TEMPORARY = ['temporarily_unavailable', 'server_error', 'slow_down'];

/** Any error of the library or of a request as a AccountError. */
export function toAccountError(error: unknown, { tokenUrl }: OAuthClient): AccountError {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AccountError) return cause;
  const { host } = new URL(tokenUrl);
  if (!(error instanceof oidc.ResponseBodyError))
    return new AccountError('bad_response', `${host} sent an invalid OAuth 2 response.`);
  const code = /^[\w.-]{1,60}$/.test(error.error) ? error.error : 'error';
  const reason = `${code}.${quoted(error.error_description)}`;
  const advice = adviceOn(error.error_description);
  if (EXPIRED.includes(code))
    return new AccountError(
      'sign_in_expired',
      `${host} no longer accepts the sign-in: ${reason}${advice ? ` ${advice}` : ''}`,
    );
  if (TEMPORARY.includes(code))
    return new AccountError('unreachable', `${host} is temporarily unavailable: ${reason}`);
  return new AccountError(
    'sign_in_failed',
    `${host} rejects the app: ${reason} ${advice ?? 'Check "client_id", "client_secret" and the settings of the app.'}`,
  );
}

/** `fetch` for the library: one request without redirects. */
function fetchWith(web: WebClient): oidc.CustomFetch {
  return async (url, { method, headers, body }) => {
    const { host } = new URL(url);
    const result = await web({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers, 'user-agent': 'deliverability' },
      ...(body ? { body: String(body) } : {}),
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
    });
    if (result.status === 'failed') throw requestError(result, host);
    const { code } = result;
    if (code >= 300 && code < 400)
      throw new AccountError('bad_response', `${host} sent a redirect, which is not allowed.`);
    if (code === 429 || code >= 500) throw overloadError(host, result);
    // Statuses without a body are no valid answers, and `Response` accepts none for them.
    if (code < 200 || code === 204 || code === 205)
      throw new AccountError('bad_response', `${host} responded with HTTP ${code}.`);
    return new Response(withoutIdToken(result.body), { status: code, headers: result.headers });
  };
}

/** Nothing is read from ID tokens. The library would reject those of Microsoft, whose issuer names a tenant. */
function withoutIdToken(body: Uint8Array): string {
  const text = Buffer.from(body).toString('utf8');
  try {
    const { id_token: _, ...rest } = JSON.parse(text);
    return JSON.stringify(rest);
  } catch {
    return text;
  }
}

const PROBLEMS: Partial<Record<Failure['reason'], AccountProblem>> = {
  timeout: 'timeout',
  tls: 'tls_failed',
  protocol: 'bad_response',
  too_large: 'bad_response',
};

/** A request that failed, as a AccountError. */
export const requestError = (
  { reason, detail }: Pick<Failure, 'reason' | 'detail'>,
  host: string,
): AccountError =>
  new AccountError(PROBLEMS[reason] ?? 'unreachable', `Request to ${host} failed: ${detail}.`);

const MAX_RETRY_AFTER_MS = HOUR_MS;

/** For the statuses 429 and 5xx. */
export function overloadError(
  host: string,
  { code, headers }: { code: number; headers: Record<string, string> },
): AccountError {
  const seconds = /^\d{1,9}$/.exec(headers['retry-after'] ?? '')?.[0];
  const retryAfterMs =
    seconds === undefined ? null : Math.min(Number(seconds) * 1000, MAX_RETRY_AFTER_MS);
  return code === 429 || retryAfterMs !== null
    ? new AccountError(
        'throttled',
        `${host} is rate-limiting requests (HTTP ${code}).`,
        retryAfterMs,
      )
    : new AccountError('unreachable', `${host} is unavailable (HTTP ${code}).`);
}
