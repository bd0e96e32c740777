/** Authorises a request: rate limits, credentials, its origin (CSRF) and the role. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../lib/errors.ts';
import { type Actor, allows, type Credential, type Identify, type Role } from './actor.ts';
import { readSessionCookies } from './cookies.ts';
import { addressGroup, consumeRateLimit, createRateLimit, type RateLimit } from './rate-limit.ts';
import type { RequestContext } from './request-context.ts';
import type { Route } from './route.ts';

/** Load balancers request these: with a rate limit they would take the service out. */
const UNLIMITED = ['/healthz', '/readyz'];

export const isLimited = ({ path }: Pick<Route, 'path'>): boolean => !UNLIMITED.includes(path);

/** Counts a request under the general limit, for an id or, where it is null, for the address. */
export type ConsumeGeneralLimit = (context: RequestContext, who: string | null) => void;

/** The rate limit of all operations; without a configured one, requests are not counted. */
export function createConsumeGeneralLimit({
  config,
  clock,
}: Pick<App, 'config' | 'clock'>): ConsumeGeneralLimit {
  if (!config.RATE_LIMIT) return () => {};
  const limit = createRateLimit('default', config.RATE_LIMIT, clock);
  return (context, who) =>
    consumeRateLimit(limit, who ?? addressGroup(context.caller.ip), context.fields);
}

/** The actor, null on a public route; with the refusal where their role is too low. */
type Authorized = { actor: Actor | null; refusal: null } | { actor: Actor; refusal: AppError };

/** Rejects with the AppError of what is missing, except for a role that is too low: it may have sufficed earlier. */
type Authorize = (context: RequestContext) => Promise<Authorized>;

interface Setting {
  app: Pick<App, 'config'>;
  identify: Identify;
  consumeGeneral: ConsumeGeneralLimit;
  limitOf(route: Route): RateLimit | undefined;
}

export function createAuthorize(
  { app, identify, consumeGeneral, limitOf }: Setting,
  route: Route,
): Authorize {
  const { role } = route;
  const consume = isLimited(route) ? consumeGeneral : () => {};
  const own = limitOf(route);
  const consumeOwn = (context: RequestContext) => {
    if (own) consumeRateLimit(own, addressGroup(context.caller.ip), context.fields);
  };
  if (role === 'public')
    return async (context) => {
      consume(context, null);
      consumeOwn(context);
      // The answer may set a cookie: no page signs its visitor in to somebody else's account.
      if (
        route.method !== 'GET' &&
        !route.fromAnywhere &&
        originOf(context.request.headers, app.config) === 'foreign'
      )
        throw fromForeignPage(app.config);
      return { actor: null, refusal: null };
    };
  return async (context) => {
    const credentials = credentialsOf(context.request.headers, app);
    let actor: Actor | null = null;
    for (const one of credentials) actor ??= await identify(one);
    const credential = credentials[0] ?? null;
    consume(context, actor && (actor.keyId ?? actor.sessionId));
    consumeOwn(context);
    if (!actor) throw unauthenticated(credential);
    if (
      credential?.kind === 'session' &&
      route.method !== 'GET' &&
      originOf(context.request.headers, app.config) !== 'own'
    )
      throw fromForeignPage(app.config);
    if (!allows(actor.role, role)) return { actor, refusal: roleTooLow(actor.role, role) };
    if (route.live) requireLive(actor);
    return { actor, refusal: null };
  };
}

function roleTooLow(role: Role, needed: Role): AppError {
  return new AppError('forbidden', `This needs the role ${needed}; yours is ${role}.`);
}

/** Throws `forbidden` for a test-mode key: only tests have a sandbox. */
export function requireLive({ keyId, livemode }: Pick<Actor, 'keyId' | 'livemode'>): void {
  if (keyId === null || livemode) return;
  throw new AppError(
    'forbidden',
    'A test-mode key changes nothing of the team, its members, domains, monitors and alert rules, nor has domains looked at; use a live key or sign in.',
  );
}

/**
 * A bearer token, else what may be the session cookie: beside other schemes too, which a proxy may
 * ask for.
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

function unauthenticated(credential: Credential | null): AppError {
  const detail =
    credential === null
      ? 'This needs an API key: Authorization: Bearer <key>.'
      : credential.kind === 'key'
        ? 'The API key is not valid.'
        : 'The session has ended. Sign in again.';
  return new AppError('unauthenticated', detail, [], { 'www-authenticate': 'Bearer' });
}

function fromForeignPage({ APP_URL }: Pick<App['config'], 'APP_URL'>): AppError {
  return new AppError(
    'forbidden',
    `A browser may ask for changes from the pages of this service alone. Open them at ${APP_URL}.`,
  );
}

// Whether a page of another site has made a request (CSRF): by what browsers say, which no page can change.

/** `unknown` where nothing is said: no browser, or a very old one. */
type Origin = 'own' | 'foreign' | 'unknown';

type Addresses = Pick<Config, 'BASE_URL' | 'APP_URL'>;

/**
 * Reads `Origin` (RFC 6454 §7) and `Sec-Fetch-Site` (Fetch Metadata §2.4). A page of the APP_URL is our
 * own to the BASE_URL too, although the browser calls it another origin, or another site; and what it
 * calls the same origin is our own by whatever name a proxy has let it in.
 */
function originOf(headers: Headers, config: Addresses): Origin {
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
