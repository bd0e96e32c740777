/** The way to the provider and back: the question, and from its answer the person's address and name. */

import * as oidc from 'openid-client';
import * as v from 'valibot';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { cookieField, cookieValues, sessionCookieName } from '../http/cookies.ts';
import { Name } from '../http/schemas.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { join } from './accept-invitation.ts';
import { findMemberByEmail, normalizeEmail } from './members.ts';
import { type SignInRequest, startSession } from './sign-in.ts';

export const CALLBACK_PATH = '/sign-in/oidc/callback';

/** What the provider says of a person; nothing of it is believed yet beyond that it said so. */
type Claims = Pick<oidc.UserInfoResponse, 'email' | 'email_verified' | 'name'>;

type Asking = Pick<SignInRequest, 'app' | 'requestId'>;

const callbackUrl = ({ config }: App): URL => new URL(config.APP_URL + CALLBACK_PATH);

/** Throws `not_found` where it is not set up. */
function settingsOf({ config }: App): OidcSettings {
  const settings = oidcSettings(config);
  if (settings) return settings;
  throw new AppError('not_found', 'Sign-in by another service is not set up here.');
}

/** Throws `unavailable` while the provider cannot be reached. */
async function providerOf(request: Asking, settings: OidcSettings): Promise<oidc.Configuration> {
  try {
    return await discoverProvider(request.app, settings);
  } catch (error) {
    throw unavailable(request, 'cannot be discovered', error);
  }
}

/**
 * Where to send the browser, and the cookie for it to bring back. Throws `not_found` where it
 * is not set up, `unavailable` while the provider cannot be asked.
 */
export async function beginJourney(request: Asking): Promise<{ location: string; cookie: string }> {
  const { app } = request;
  const provider = await providerOf(request, settingsOf(app));
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const verifier = oidc.randomPKCECodeVerifier();
  const challenge = await oidc.calculatePKCECodeChallenge(verifier);
  try {
    const { href } = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: callbackUrl(app).href,
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    return { location: href, cookie: journeyCookie(app, { state, nonce, verifier }) };
  } catch (error) {
    throw unavailable(request, 'cannot be asked', error);
  }
}

/**
 * Takes the provider's answer in the query. The library checks state, issuer, audience, nonce, expiry
 * and signature. Throws `malformed_request` for an answer that is none, was used, or says no, and as
 * `beginJourney` does.
 */
export async function endJourney(
  request: Asking,
  journey: Journey | null,
  query: Record<string, string>,
): Promise<Claims> {
  const settings = settingsOf(request.app);
  if (!journey) throw callbackError(request, 'no journey', STALE);
  if (query.state !== journey.state) throw callbackError(request, 'wrong state', STALE);
  const provider = await providerOf(request, settings);
  const url = callbackUrl(request.app);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  try {
    const tokens = await oidc.authorizationCodeGrant(provider, url, {
      expectedState: journey.state,
      expectedNonce: journey.nonce,
      pkceCodeVerifier: journey.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    // Many say no more in the ID token than who it is.
    if (claims.email !== undefined || !provider.serverMetadata().userinfo_endpoint)
      return claims as Claims;
    return await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub);
  } catch (error) {
    throw failureOf(request, error);
  }
}

const STALE = 'This sign-in was begun elsewhere, has been used or took too long. Begin it again.';

function failureOf(request: Asking, error: unknown): AppError {
  if (error instanceof oidc.AuthorizationResponseError)
    return error.error === 'access_denied'
      ? callbackError(request, 'cancelled', 'The sign-in was cancelled, or not allowed to you.')
      : unavailable(request, 'refused the question', error);
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
    return callbackError(request, 'code refused', STALE);
  return unavailable(request, 'gave an answer that cannot be taken', error);
}

function callbackError({ app, requestId }: Asking, reason: string, said: string) {
  app.log.info('sign-in by OpenID Connect refused', { request_id: requestId, reason });
  return new AppError('malformed_request', said);
}

function unavailable({ app, requestId }: Asking, reason: string, error: unknown): AppError {
  app.log.warn('the OpenID Connect provider failed', {
    request_id: requestId,
    reason,
    ...faultOf(error),
  });
  return new AppError(
    'unavailable',
    'The service that signs you in cannot be used at the moment. Try again later, or sign in with your password.',
  );
}

const MAX_FAULT_LENGTH = 200;

/** Codes and the library's own words: causes hold answers, and answers hold tokens. */
function faultOf(error: unknown): Record<string, string> {
  const { message, code, error: answered, cause } = error as Record<string, unknown>;
  const system = (cause as { code?: unknown } | undefined)?.code;
  const fields = { fault: message, code, answered, system };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.slice(0, MAX_FAULT_LENGTH)]] : [],
    ),
  );
}

// The provider of OpenID Connect by which members may sign in: what it says of itself, asked when it is needed.

/** Its keys and endpoints may change; so long they are believed. */
const DISCOVERY_CACHE_MS = 3_600_000;
/** For each request to it. */
const PROVIDER_TIMEOUT_S = 10;

interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** null where sign-in by OpenID Connect is not set up. */
function oidcSettings(config: Config): OidcSettings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  return issuer && clientId && clientSecret ? { issuer, clientId, clientSecret } : null;
}

/** Who is asked, as people know it; null where nobody is. */
export function oidcHost(config: Config): string | null {
  const settings = oidcSettings(config);
  return settings && new URL(settings.issuer).host;
}

interface KnownProvider {
  until: number;
  provider: Promise<oidc.Configuration>;
}

const knownProviders = new WeakMap<App, KnownProvider>();

/** Discovers the provider (OpenID Connect Discovery §4), at most once an hour. Rejects while it cannot be reached. */
function discoverProvider(app: App, settings: OidcSettings): Promise<oidc.Configuration> {
  const now = app.clock.now();
  const present = knownProviders.get(app);
  if (present && now < present.until) return present.provider;
  const entry: KnownProvider = { until: now + DISCOVERY_CACHE_MS, provider: discover(settings) };
  knownProviders.set(app, entry);
  // What failed is asked again by the next who comes.
  entry.provider.catch(() => {
    if (knownProviders.get(app) === entry) knownProviders.delete(app);
  });
  return entry.provider;
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: OidcSettings): Promise<oidc.Configuration> {
  const address = new URL(issuer);
  const execute = [oidc.enableNonRepudiationChecks];
  // The configuration takes such an address on loopback alone.
  if (address.protocol !== 'https:') execute.push(oidc.allowInsecureRequests);
  const ask = (server: URL) =>
    oidc.discovery(server, clientId, undefined, authenticateBy(clientSecret), {
      execute,
      timeout: PROVIDER_TIMEOUT_S,
    });
  try {
    return await ask(address);
  } catch (error) {
    // The configuration leaves off a slash at the end, which is a part of some issuers' names.
    if (!(error instanceof oidc.ClientError) || error.code !== OTHER_ISSUER) throw error;
    return ask(new URL(`${issuer}/`));
  }
}

const OTHER_ISSUER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** By the header, as providers expect of a client unless told otherwise (OpenID Connect Core §9). */
function authenticateBy(secret: string): oidc.ClientAuth {
  const basic = oidc.ClientSecretBasic(secret);
  const post = oidc.ClientSecretPost(secret);
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const byHeader = methods.includes('client_secret_basic');
    return (byHeader ? basic : post)(server, ...request);
  };
}

// What a browser keeps for us while it is at the provider: sealed in a cookie, so that we keep nothing.

const JOURNEY_LIFETIME_MS = 10 * 60_000;
const JOURNEY_PURPOSE = 'sign-in by OpenID Connect';

const Journey = v.strictObject({
  /** Told to the provider, which tells it back: the answer is one to this browser's question. */
  state: v.string(),
  /** Comes back in the ID token. */
  nonce: v.string(),
  /** Proves to the provider that who brings the code is who asked for it (RFC 7636). */
  verifier: v.string(),
  /** Milliseconds since the Unix epoch. */
  until: v.number(),
});
type Journey = v.InferOutput<typeof Journey>;

type JourneyCookieContext = Pick<App, 'secrets' | 'clock' | 'config'>;

/** The `Set-Cookie` for a journey that begins now. Lax: the provider's redirect comes from another site, and must bring it. */
export function journeyCookie(app: JourneyCookieContext, journey: Omit<Journey, 'until'>): string {
  const until = app.clock.now() + JOURNEY_LIFETIME_MS;
  const sealed = app.secrets.seal(JSON.stringify({ ...journey, until }), JOURNEY_PURPOSE);
  return cookieField(journeyCookieName(app), sealed, app.config, JOURNEY_LIFETIME_MS / 1000);
}

/** The `Set-Cookie` that takes it away: a journey ends once. */
export function clearedJourneyCookie(app: JourneyCookieContext): string {
  return cookieField(journeyCookieName(app), '', app.config, 0);
}

/** null where the browser has none, or one that is not ours or has run out. */
export function readJourney(app: JourneyCookieContext, header: string | null): Journey | null {
  const [sealed] = cookieValues(header, journeyCookieName(app));
  const text = sealed && app.secrets.open(sealed, JOURNEY_PURPOSE);
  if (!text) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Journey), text);
  return success && app.clock.now() < output.until ? output : null;
}

const journeyCookieName = ({ config }: JourneyCookieContext): string =>
  `${sessionCookieName(config.APP_URL.startsWith('https:'))}-oidc`;

// Who comes from the provider gets a session: a member, or somebody invited, who joins by it.

/** Throws `forbidden` for who is neither on the team nor invited, and for an address that is not verified. */
export async function signInByClaims(
  request: SignInRequest,
  claims: Claims,
): Promise<{ token: string; member: MemberRow }> {
  const email = verifiedEmail(claims);
  if (email === null) throw signInForbidden(request, 'no verified address', unverified(claims));
  const member = await memberOf(request, email, claims.name);
  const session = member && (await startSession(request, member, { by: 'oidc' }));
  if (session) return session;
  throw signInForbidden(
    request,
    'not on the team',
    `${email} is not on the team. Ask an admin of the team to invite this address.`,
  );
}

/** As members have it; null where the provider does not vouch for it. */
function verifiedEmail({ email, email_verified }: Claims): string | null {
  return typeof email === 'string' && email_verified === true ? normalizeEmail(email) : null;
}

function unverified({ email, email_verified }: Claims): string {
  if (typeof email !== 'string')
    return 'The service that signs you in does not say what your e-mail address is.';
  return email_verified === true
    ? `${email} is no address that a member can have. Ask an admin of the team for an invitation to another.`
    : `The service that signs you in has not verified ${email}. Confirm the address there, or ask an admin of the team for an invitation to another.`;
}

/** In one transaction: who joins twice at once is one member. */
function memberOf(request: SignInRequest, email: string, name: unknown): Promise<MemberRow | null> {
  const { app, transact } = request;
  const now = isoTime(app.clock.now());
  return transact(async (tx) => {
    const member = await findMemberByEmail(tx, email);
    if (member) return member;
    const invitation = await tx
      .selectFrom('invitations')
      .selectAll()
      .where('email', '=', email)
      .where('accepted_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    if (!invitation) return null;
    return join(tx, request, invitation, { name: displayNameOf(name, email), passwordHash: null });
  });
}

/** The provider's, where it can be one here; else what stands before the @. */
function displayNameOf(name: unknown, email: string): string {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.trim(), Name), name);
  return success ? output : email.slice(0, email.lastIndexOf('@'));
}

function signInForbidden(
  { app, requestId, caller }: SignInRequest,
  reason: string,
  said: string,
): AppError {
  const fields = { request_id: requestId, ip: caller.ip, reason };
  app.log.info('sign-in by OpenID Connect refused', fields);
  return new AppError('forbidden', said);
}
