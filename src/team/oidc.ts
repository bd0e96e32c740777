/** Sign-in with OpenID Connect: the authorization request and its response. */

import * as oidc from 'openid-client';
import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { cookieValues, sessionCookieName, setCookieHeader } from '../http/cookies.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { AppError } from '../lib/errors.ts';
import { needsUserinfo, type PersonClaims } from './oidc-claims.ts';
import type { SignInRequest } from './sign-in.ts';

export const CALLBACK_PATH = '/sign-in/oidc/callback';

type OidcRequest = Pick<SignInRequest, 'app' | 'requestId'>;

const callbackUrl = ({ config }: App): URL => new URL(config.APP_URL + CALLBACK_PATH);

/** Throws `not_found` if OpenID Connect isn't configured. */
function requireSettings({ config }: App): OidcSettings {
  const settings = oidcSettings(config);
  if (settings) return settings;
  throw new AppError('not_found', "Single sign-on isn't configured on this server.");
}

/** Throws `unavailable` if the provider can't be reached, or has another name (OpenID Connect Discovery §4.3). */
async function providerOf(
  request: OidcRequest,
  settings: OidcSettings,
): Promise<oidc.Configuration> {
  let named: unknown;
  let failure: unknown = new Error('the issuer serves all tenants');
  try {
    const provider = await discoverProvider(request.app, settings);
    named = provider.serverMetadata().issuer;
    // For Entra, the library takes any tenant that the ID token names, and each decides which addresses it verifies.
    if (!String(named).includes('{')) return provider;
  } catch (error) {
    failure = error;
    if (isIssuerMismatch(error))
      named = (error.cause as { body?: { issuer?: unknown } }).body?.issuer;
  }
  const { code, detail } = unavailable(request, 'discovery failed', failure);
  if (typeof named !== 'string') throw new AppError(code, detail);
  throw new AppError(
    code,
    `Your identity provider calls itself ${named.slice(0, MAX_FIELD_LENGTH)}, but DELIVERABILITY_OIDC_ISSUER is ${settings.issuer}. Your administrator must set the URL of your own tenant.`,
  );
}

/** The URL to redirect the browser to, and the cookie that it must send back. Throws `not_found` and `unavailable`. */
export async function startOidcSignIn(
  request: OidcRequest,
  next: string,
): Promise<{ location: string; cookie: string }> {
  const { app } = request;
  const provider = await providerOf(request, requireSettings(app));
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const verifier = oidc.randomPKCECodeVerifier();
  const challenge = await oidc.calculatePKCECodeChallenge(verifier);
  try {
    const { href } = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: callbackUrl(app).href,
      scope: app.config.OIDC_SCOPES,
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    return { location: href, cookie: oidcStateCookie(app, { state, nonce, verifier, next }) };
  } catch (error) {
    throw unavailable(request, 'authorization request failed', error);
  }
}

/**
 * Returns the claims for the authorization response in the query. The library checks state, issuer, audience, nonce,
 * expiry, and signature. Throws `malformed_request` for an expired, used, or denied response.
 */
export async function completeOidcSignIn(
  request: OidcRequest,
  oidcState: OidcState | null,
  query: Record<string, string>,
): Promise<PersonClaims> {
  const settings = requireSettings(request.app);
  if (!oidcState) throw callbackError(request, 'missing cookie', EXPIRED);
  if (query.state !== oidcState.state) throw callbackError(request, 'wrong state', EXPIRED);
  const provider = await providerOf(request, settings);
  const url = callbackUrl(request.app);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  try {
    const tokens = await oidc.authorizationCodeGrant(provider, url, {
      expectedState: oidcState.state,
      expectedNonce: oidcState.nonce,
      pkceCodeVerifier: oidcState.verifier,
      idTokenExpected: true,
    });
    const idToken = tokens.claims()!;
    const hasUserinfo = provider.serverMetadata().userinfo_endpoint !== undefined;
    const userinfo =
      hasUserinfo && needsUserinfo(idToken, request.app.config)
        ? await oidc.fetchUserInfo(provider, tokens.access_token, idToken.sub)
        : {};
    return { idToken, userinfo };
  } catch (error) {
    throw failureOf(request, error);
  }
}

const EXPIRED = 'This sign-in has expired or was started in another browser. Sign in again.';

function failureOf(request: OidcRequest, error: unknown): AppError {
  if (error instanceof oidc.AuthorizationResponseError)
    return error.error === 'access_denied'
      ? callbackError(
          request,
          'access denied',
          'The sign-in was canceled, or your identity provider denied access.',
        )
      : unavailable(request, 'authorization error', error);
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
    return callbackError(request, 'invalid code', EXPIRED);
  return unavailable(request, 'invalid response', error);
}

function callbackError({ app, requestId }: OidcRequest, reason: string, detail: string) {
  app.log.info('OpenID Connect sign-in failed', { request_id: requestId, reason });
  return new AppError('malformed_request', detail);
}

function unavailable({ app, requestId }: OidcRequest, reason: string, error: unknown): AppError {
  app.log.warn('OpenID Connect provider failed', {
    request_id: requestId,
    reason,
    ...errorFields(error),
  });
  return new AppError(
    'unavailable',
    'Your identity provider is unavailable. Try again later, or sign in with your password.',
  );
}

const MAX_FIELD_LENGTH = 200;

/** Only codes and the library's message: causes contain responses, and responses contain tokens. */
function errorFields(error: unknown): Record<string, string> {
  const { message, code, error: oauthError, cause } = error as Record<string, unknown>;
  const systemCode = (cause as { code?: unknown } | undefined)?.code;
  const fields = { fault: message, code, provider_error: oauthError, system_error: systemCode };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.slice(0, MAX_FIELD_LENGTH)]] : [],
    ),
  );
}

// Discovery of the OpenID Connect provider.

const DISCOVERY_CACHE_MS = HOUR_MS;
const PROVIDER_TIMEOUT_S = 10;

interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

function oidcSettings(config: Config): OidcSettings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  return issuer && clientId && clientSecret ? { issuer, clientId, clientSecret } : null;
}

/** The host of the provider; null if none is configured. */
export function oidcHost(config: Config): string | null {
  const settings = oidcSettings(config);
  return settings && new URL(settings.issuer).host;
}

interface CachedProvider {
  expiresAt: number;
  provider: Promise<oidc.Configuration>;
}

const cachedProviders = new WeakMap<App, CachedProvider>();

/** OpenID Connect Discovery §4. */
function discoverProvider(app: App, settings: OidcSettings): Promise<oidc.Configuration> {
  const now = app.clock.now();
  const cached = cachedProviders.get(app);
  if (cached && now < cached.expiresAt) return cached.provider;
  const entry: CachedProvider = {
    expiresAt: now + DISCOVERY_CACHE_MS,
    provider: discover(settings),
  };
  cachedProviders.set(app, entry);
  // The next request retries a failed discovery.
  entry.provider.catch(() => {
    if (cachedProviders.get(app) === entry) cachedProviders.delete(app);
  });
  return entry.provider;
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: OidcSettings): Promise<oidc.Configuration> {
  const url = new URL(issuer);
  const execute = [oidc.enableNonRepudiationChecks];
  // The configuration accepts plain HTTP on loopback only.
  if (url.protocol !== 'https:') execute.push(oidc.allowInsecureRequests);
  const discoverAt = (server: URL) =>
    oidc.discovery(server, clientId, undefined, createClientAuth(clientSecret), {
      execute,
      timeout: PROVIDER_TIMEOUT_S,
    });
  try {
    return await discoverAt(url);
  } catch (error) {
    // The configuration removes a trailing slash, but the identifiers of some issuers end with one.
    if (!isIssuerMismatch(error)) throw error;
    return discoverAt(new URL(`${issuer}/`));
  }
}

const isIssuerMismatch = (error: unknown): error is oidc.ClientError =>
  error instanceof oidc.ClientError && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** Uses the Authorization header, the default (OpenID Connect Core §9), if the provider supports it. */
function createClientAuth(secret: string): oidc.ClientAuth {
  const basic = oidc.ClientSecretBasic(secret);
  const post = oidc.ClientSecretPost(secret);
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const supportsHeader = methods.includes('client_secret_basic');
    return (supportsHeader ? basic : post)(server, ...request);
  };
}

// The state of a sign-in while the browser is at the provider, in an encrypted cookie.

const OIDC_STATE_LIFETIME_MS = 10 * 60_000;
const OIDC_STATE_PURPOSE = 'sign-in by OpenID Connect';

const OidcState = v.strictObject({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  /** The path to open after signing in. */
  next: v.optional(v.string()),
  /** Milliseconds since the Unix epoch. */
  expiresAt: v.number(),
});
type OidcState = v.InferOutput<typeof OidcState>;

type OidcCookieContext = Pick<App, 'secrets' | 'clock' | 'config'>;

/** The `Set-Cookie` for a sign-in that starts now. SameSite=Lax, because the redirect comes from another site. */
export function oidcStateCookie(
  app: OidcCookieContext,
  oidcState: Omit<OidcState, 'expiresAt'>,
): string {
  const expiresAt = app.clock.now() + OIDC_STATE_LIFETIME_MS;
  const sealed = app.secrets.seal(JSON.stringify({ ...oidcState, expiresAt }), OIDC_STATE_PURPOSE);
  return setCookieHeader(oidcCookieName(app), sealed, app.config, OIDC_STATE_LIFETIME_MS / 1000);
}

/** The `Set-Cookie` that deletes the state cookie, because a state is valid only once. */
export function clearedOidcStateCookie(app: OidcCookieContext): string {
  return setCookieHeader(oidcCookieName(app), '', app.config, 0);
}

export function readOidcState(app: OidcCookieContext, header: string | null): OidcState | null {
  const [sealed] = cookieValues(header, oidcCookieName(app));
  const text = sealed && app.secrets.open(sealed, OIDC_STATE_PURPOSE);
  if (!text) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), OidcState), text);
  return success && app.clock.now() < output.expiresAt ? output : null;
}

const oidcCookieName = ({ config }: OidcCookieContext): string =>
  `${sessionCookieName(config.APP_URL.startsWith('https:'))}-oidc`;
