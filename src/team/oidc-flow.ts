/** The way to the provider and back: the question, and from its answer the person's address and name. */

import * as oidc from 'openid-client';
import type { App } from '../app.ts';
import { AppError } from '../lib/errors.ts';
import { type Journey, journeyCookie } from './oidc-cookie.ts';
import { discoverProvider, oidcSettings, type Settings } from './oidc-provider.ts';
import type { Visit } from './session-sign-in.ts';

export const CALLBACK_PATH = '/sign-in/oidc/callback';

/** What the provider says of a person; nothing of it is believed yet beyond that it said so. */
export type Claims = Pick<oidc.UserInfoResponse, 'email' | 'email_verified' | 'name'>;

type Asking = Pick<Visit, 'app' | 'requestId'>;

const callbackUrl = ({ config }: App): URL => new URL(config.APP_URL + CALLBACK_PATH);

/** Throws `not_found` where it is not set up. */
function settingsOf({ config }: App): Settings {
  const settings = oidcSettings(config);
  if (settings) return settings;
  throw new AppError('not_found', 'Sign-in by another service is not set up here.');
}

/** Throws `unavailable` while the provider cannot be reached. */
async function providerOf(visit: Asking, settings: Settings): Promise<oidc.Configuration> {
  try {
    return await discoverProvider(visit.app, settings);
  } catch (error) {
    throw unavailable(visit, 'cannot be discovered', error);
  }
}

/**
 * Where to send the browser, and the cookie for it to bring back. Throws `not_found` where it
 * is not set up, `unavailable` while the provider cannot be asked.
 */
export async function beginJourney(visit: Asking): Promise<{ location: string; cookie: string }> {
  const { app } = visit;
  const provider = await providerOf(visit, settingsOf(app));
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
    throw unavailable(visit, 'cannot be asked', error);
  }
}

/**
 * Takes the provider's answer in the query. The library checks state, issuer, audience, nonce, expiry
 * and signature. Throws `malformed_request` for an answer that is none, was used, or says no, and as
 * `beginJourney` does.
 */
export async function endJourney(
  visit: Asking,
  journey: Journey | null,
  query: Record<string, string>,
): Promise<Claims> {
  const settings = settingsOf(visit.app);
  if (!journey) throw refusal(visit, 'no journey', STALE);
  if (query.state !== journey.state) throw refusal(visit, 'wrong state', STALE);
  const provider = await providerOf(visit, settings);
  const url = callbackUrl(visit.app);
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
    throw failureOf(visit, error);
  }
}

const STALE = 'This sign-in was begun elsewhere, has been used or took too long. Begin it again.';

function failureOf(visit: Asking, error: unknown): AppError {
  if (error instanceof oidc.AuthorizationResponseError)
    return error.error === 'access_denied'
      ? refusal(visit, 'cancelled', 'The sign-in was cancelled, or not allowed to you.')
      : unavailable(visit, 'refused the question', error);
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
    return refusal(visit, 'code refused', STALE);
  return unavailable(visit, 'gave an answer that cannot be taken', error);
}

function refusal({ app, requestId }: Asking, reason: string, said: string) {
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

const LONGEST = 200;

/** Codes and the library's own words: causes hold answers, and answers hold tokens. */
function faultOf(error: unknown): Record<string, string> {
  const { message, code, error: answered, cause } = error as Record<string, unknown>;
  const system = (cause as { code?: unknown } | undefined)?.code;
  const fields = { fault: message, code, answered, system };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.slice(0, LONGEST)]] : [],
    ),
  );
}
