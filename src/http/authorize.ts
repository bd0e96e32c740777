/** Authorizes a request: checks rate limits, credentials, the origin (CSRF), and the role. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../lib/errors.ts';
import { type Actor, allows, type Credential, type Identify, type Role } from './actor.ts';
import { isTestMode, readSessionCookies } from './cookies.ts';
import { limitError } from './limited.ts';
import { protectedResourceOf, SCOPE } from './protected-resource.ts';
import { addressGroup, consumeRateLimit, type RateLimit } from './rate-limit.ts';
import type { RequestContext } from './request-context.ts';
import { type Route, requiresLiveMode } from './route.ts';
import { rateLimitFor } from './shared-rate-limit.ts';

/**
 * A rate limit on the probes of load balancers would take the service out of rotation. A proxy asks about the hosts of all its
 * visitors: some could keep others from getting a certificate.
 */
const UNLIMITED_PATHS = ['/healthz', '/readyz', '/v1/hosted_hosts'];

export const isRateLimited = ({ path }: Pick<Route, 'path'>): boolean =>
  !UNLIMITED_PATHS.includes(path);

/** Counts a request against the general limit of a credential, or of the IP address if `id` is null. */
export type ConsumeGeneralLimit = (context: RequestContext, id: string | null) => Promise<void>;

/** The rate limit of all operations. Counts nothing if none is configured. */
export function createConsumeGeneralLimit(
  app: Pick<App, 'config' | 'clock' | 'db'>,
): ConsumeGeneralLimit {
  const { RATE_LIMIT } = app.config;
  if (!RATE_LIMIT) return async () => {};
  const limit = rateLimitFor(app, 'default', RATE_LIMIT);
  return (context, id) =>
    consumeRateLimit(limit, id ?? addressGroup(context.caller.ip), context.responseHeaders);
}

/** The actor; on a public route null, unless it identifies members. `refusal` is set if their role or limit is too low. */
type Authorization = { actor: Actor | null; refusal: null } | { actor: Actor; refusal: AppError };

/**
 * Rejects with an AppError, except for a role that is too low: an earlier request with the same
 * `Idempotency-Key` may have been allowed.
 */
type Authorize = (context: RequestContext) => Promise<Authorization>;

interface Dependencies {
  app: Pick<App, 'config'>;
  identify: Identify;
  consumeGeneral: ConsumeGeneralLimit;
  limitOf(route: Route): RateLimit | undefined;
}

export function createAuthorize(
  { app, identify, consumeGeneral, limitOf }: Dependencies,
  route: Route,
): Authorize {
  const { role } = route;
  const consume = isRateLimited(route) ? consumeGeneral : async () => {};
  const routeLimit = limitOf(route);
  const consumeRouteLimit = async (context: RequestContext) => {
    if (routeLimit)
      await consumeRateLimit(routeLimit, addressGroup(context.caller.ip), context.responseHeaders);
  };
  const identifySession = async ({ request }: RequestContext): Promise<Actor | null> => {
    const cookie = request.headers.get('cookie');
    let actor: Actor | null = null;
    for (const token of readSessionCookies(cookie, app.config))
      actor ??= await identify({ kind: 'session', token });
    return actor && inChosenMode(actor, request.headers, app);
  };
  if (role === 'public')
    return async (context) => {
      const actor = route.identifiesMembers ? await identifySession(context) : null;
      await consume(context, actor?.sessionId ?? null);
      await consumeRouteLimit(context);
      // Login CSRF: the response may set a cookie and sign a visitor of another site in to a
      // different account.
      if (
        route.method !== 'GET' &&
        !route.allowCrossOrigin &&
        !route.anyOrigin &&
        classifyOrigin(context.request.headers, app.config) === 'cross-origin'
      )
        throw crossOriginError(app.config);
      return { actor, refusal: null };
    };
  return async (context) => {
    const credentials = credentialsOf(context.request.headers, app);
    let actor: Actor | null = null;
    for (const candidate of credentials) actor ??= await identify(candidate);
    if (actor?.assistant && !route.acceptsAssistants) actor = null;
    const credential = credentials[0] ?? null;
    await consume(context, actor && (actor.keyId ?? actor.sessionId));
    await consumeRouteLimit(context);
    if (!actor) throw unauthenticated(credential, route.acceptsAssistants ? app.config : null);
    if (
      credential?.kind === 'session' &&
      route.method !== 'GET' &&
      classifyOrigin(context.request.headers, app.config) !== 'same-origin'
    )
      throw crossOriginError(app.config);
    actor = inChosenMode(actor, context.request.headers, app);
    if (!allows(actor.role, role)) return { actor, refusal: roleError(actor.role, role) };
    const refusal = limitError(route, actor);
    if (refusal) return { actor, refusal };
    if (requiresLiveMode(route)) requireLive(actor);
    return { actor, refusal: null };
  };
}

/** In a browser, members choose the mode, which a cookie keeps. */
const inChosenMode = (actor: Actor, headers: Headers, { config }: Dependencies['app']): Actor =>
  actor.sessionId !== null && isTestMode(headers.get('cookie'), config)
    ? { ...actor, livemode: false }
    : actor;

/** `forbidden` for a role that is too low. */
export function roleError(role: Role, required: Role): AppError {
  return new AppError(
    'forbidden',
    `This operation requires the ${required} role. Your role is ${role}.`,
  );
}

/** Throws `live_mode_required` for test-mode keys. */
export function requireLive({ keyId, livemode }: Pick<Actor, 'keyId' | 'livemode'>): void {
  if (keyId === null || livemode) return;
  throw new AppError(
    'live_mode_required',
    "Test-mode keys can't use this endpoint. Use a live key, or sign in.",
  );
}

/**
 * The bearer token or, without one, the possible session cookies. Cookies are also accepted alongside
 * another authorization scheme, because a proxy may require one.
 */
function credentialsOf(headers: Headers, { config }: Pick<App, 'config'>): Credential[] {
  const authorization = headers.get('authorization');
  if (authorization !== null && /^Bearer\b/i.test(authorization)) {
    const [, key] = /^Bearer +([\x21-\x7e]{1,200})$/i.exec(authorization) ?? [];
    return [{ kind: 'key', token: key ?? '' }];
  }
  return readSessionCookies(headers.get('cookie'), config).map((token) => ({
    kind: 'session',
    token,
  }));
}

/** `config`: for a route that accepts the tokens of assistants. */
function unauthenticated(credential: Credential | null, config: Config | null): AppError {
  const detail =
    credential === null
      ? 'Missing API key. Send it as "Authorization: Bearer <key>".'
      : credential.kind === 'key'
        ? 'Invalid API key. It may have expired or been revoked.'
        : 'Your session has expired. Sign in again.';
  const resource = config && protectedResourceOf(config);
  // RFC 6750 §3.1: a request without credentials gets no error code.
  const error = credential?.kind === 'key' ? ', error="invalid_token"' : '';
  const parameters = ` resource_metadata="${resource?.metadataUrl}", scope="${SCOPE}"${error}`;
  const challenge = `Bearer${resource ? parameters : ''}`;
  return new AppError('unauthenticated', detail, [], { 'www-authenticate': challenge });
}

function crossOriginError({ APP_URL }: Pick<App['config'], 'APP_URL'>): AppError {
  return new AppError(
    'forbidden',
    `This request came from another site and was rejected. Open ${APP_URL} and try again.`,
  );
}

// CSRF protection by header fields that browsers set and pages can't change.

/** `unknown` if no header field shows the origin: not a browser, or a very old one. */
type Origin = 'same-origin' | 'cross-origin' | 'unknown';

/**
 * Throws `forbidden` for a request that names another origin than the URLs of the service, whatever else it says. A page
 * that has rebound its own name to the address of this service looks like `same-origin` to the browser.
 */
export function rejectOtherOrigins(headers: Headers, config: ServiceUrls): void {
  const origin = headers.get('origin');
  if (origin !== null && !isOwnOrigin(origin, config)) throw crossOriginError(config);
}

type ServiceUrls = Pick<Config, 'BASE_URL' | 'APP_URL'>;

/**
 * Reads `Origin` (RFC 6454 §7) and `Sec-Fetch-Site` (Fetch Metadata §2.4). Pages at the APP_URL may
 * call the BASE_URL, although browsers treat the two as different origins or sites. A request that
 * the browser reports as same-origin is accepted under any host name, because a proxy may use another.
 */
function classifyOrigin(headers: Headers, config: ServiceUrls): Origin {
  const origin = headers.get('origin');
  if (origin !== null && isOwnOrigin(origin, config)) return 'same-origin';
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin') return 'same-origin';
  // `none` is a user action such as a bookmark. A page that hides its origin sends `null` as origin.
  if (site === 'none') return origin === 'null' ? 'cross-origin' : 'same-origin';
  return site === null && origin === null ? 'unknown' : 'cross-origin';
}

function isOwnOrigin(origin: string, { BASE_URL, APP_URL }: ServiceUrls): boolean {
  return [BASE_URL, APP_URL].some((url) => new URL(url).origin === origin);
}
