/**
 * Access tokens of accounts with OAuth 2. Providers can replace a refresh token with every answer, and then accept only
 * the new one. So a new one is stored before its access token is used.
 */

import type { App } from '../app.ts';
import { isoTime } from '../lib/clock.ts';
import { HOUR_MS } from '../lib/durations.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { AccountError } from '../net/account-error.ts';
import { createTrustedWebClient } from '../net/http/client.ts';
import type { WebClient } from '../net/http/web.ts';
import { refreshTokens, type Tokens } from '../net/oauth/token-endpoint.ts';
import { untilAvailable } from '../store/until-available.ts';
import {
  currentCredential,
  findCredential,
  readRefreshToken,
  replaceCredential,
  setRejected,
} from './credentials.ts';
import { type SignIn, signInAdvice, signInExpired, signInRequired } from './sign-in.ts';

/** How long a rejected refresh token is not sent again. Signing in again replaces it at once. */
const REJECTED_RETRY_MS = HOUR_MS;
/** An access token is not used in the last minutes of its life, or in the last tenth of a short one. */
const MAX_EXPIRY_MARGIN_MS = 300_000;

interface CachedToken {
  accessToken: string;
  expiresAt: number;
  /** The encrypted refresh token that is stored with it. */
  version: string;
}

/** What a provider has sent, until it is stored. */
interface Unsaved {
  /** The encrypted refresh token that it replaces. */
  replaces: string;
  refreshToken: string;
}

/** The maps are by kind and name. */
interface Memory {
  web: WebClient;
  tokens: Map<string, CachedToken>;
  refreshing: Map<string, Promise<CachedToken>>;
  unsaved: Map<string, Unsaved>;
}

const memoryOf = memoizePerObject(
  (app: App): Memory => ({
    web: createTrustedWebClient(app.backgroundResolver),
    tokens: new Map(),
    refreshing: new Map(),
    unsaved: new Map(),
  }),
);

const keyOf = ({ kind, name }: SignIn): string => `${kind} ${name}`;

/** The client for requests to providers: it reaches every network, because the administrator configured the servers. */
export const providerWeb = (app: App): WebClient => memoryOf(app).web;

/** Calls `use` with an access token, and again with a new one if the server rejects the first. Rejects with a AccountError. */
export async function withAccessToken<T>(
  app: App,
  signIn: SignIn,
  use: (accessToken: string) => Promise<T>,
): Promise<T> {
  const accessToken = await accessTokenOf(app, signIn);
  try {
    return await use(accessToken);
  } catch (error) {
    if (!isRejection(error)) throw error;
  }
  const another = await accessTokenOf(app, signIn, accessToken);
  try {
    return await use(another);
  } catch (error) {
    if (!isRejection(error)) throw error;
    throw new AccountError(error.problem, `${error.message} ${signInAdvice(signIn)}`);
  }
}

const isRejection = (error: unknown): error is AccountError =>
  error instanceof AccountError && error.problem === 'sign_in_failed';

/** `rejected` is an access token that the server no longer accepts, although it is valid by its time. */
async function accessTokenOf(app: App, signIn: SignIn, rejected?: string): Promise<string> {
  const { tokens, refreshing } = memoryOf(app);
  const key = keyOf(signIn);
  const cached = tokens.get(key);
  if (cached && cached.accessToken !== rejected && app.clock.now() < cached.expiresAt) {
    const row = await findCredential(app.db, signIn);
    // The command has signed in again.
    if (row?.refresh_token === cached.version) return cached.accessToken;
  }
  const running = refreshing.get(key) ?? refresh(app, signIn);
  refreshing.set(key, running);
  try {
    const token = await running;
    tokens.set(key, token);
    return token.accessToken;
  } finally {
    if (refreshing.get(key) === running) refreshing.delete(key);
  }
}

async function refresh(app: App, signIn: SignIn): Promise<CachedToken> {
  const { web, unsaved } = memoryOf(app);
  await saveUnsaved(app, signIn);
  const row = await untilAvailable(() => currentCredential(app, signIn));
  const refreshToken = row && readRefreshToken(app, signIn, row);
  if (!row || !refreshToken) throw signInRequired(signIn);
  const now = app.clock.now();
  if (row.rejected_at !== null && now < Date.parse(row.rejected_at) + REJECTED_RETRY_MS)
    throw signInExpired(signIn);
  let received: Tokens;
  try {
    received = await refreshTokens(signIn.oauth, refreshToken, web);
  } catch (error) {
    if (!(error instanceof AccountError) || error.problem !== 'sign_in_expired') throw error;
    await setRejected(app.db, signIn, row, isoTime(now));
    throw signInExpired(signIn, error.message);
  }
  if (received.refreshToken !== null && received.refreshToken !== refreshToken)
    unsaved.set(keyOf(signIn), {
      replaces: row.refresh_token,
      refreshToken: received.refreshToken,
    });
  else if (row.rejected_at !== null) await setRejected(app.db, signIn, row, null);
  const version = (await saveUnsaved(app, signIn)) ?? row.refresh_token;
  const margin = Math.min(MAX_EXPIRY_MARGIN_MS, received.expiresInMs / 10);
  return {
    accessToken: received.accessToken,
    expiresAt: now + received.expiresInMs - margin,
    version,
  };
}

/** Stores a replaced refresh token. Returns its encrypted form, or null if there is none. */
async function saveUnsaved(app: App, signIn: SignIn): Promise<string | null> {
  const { unsaved } = memoryOf(app);
  const change = unsaved.get(keyOf(signIn));
  if (!change) return null;
  const stored = await replaceCredential(app, signIn, change);
  unsaved.delete(keyOf(signIn));
  return stored;
}
