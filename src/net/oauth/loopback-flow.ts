/** Signing in with a browser on this machine: a redirect to a loopback address (RFC 8252 §7.3) with PKCE (RFC 7636). */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oidc from 'openid-client';
import type { OAuthClient } from '../../config/oauth-client.ts';
import { AccountError, quoted } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { adviceOn } from './microsoft-errors.ts';
import { configurationOf, type Tokens, toAccountError, tokensOf } from './token-endpoint.ts';

export interface LoopbackFlow {
  web: WebClient;
  /** The account to offer in the browser; null: all. */
  loginHint: string | null;
  /** Ends the wait for the browser. */
  signal: AbortSignal;
  /** Shows the person the address to open, and the port on which this machine waits. */
  show(url: string, port: number): void;
  /**
   * Asks for the address of the last page, which a browser on another machine can’t load. Null or empty: the person has
   * none. The signal ends the question.
   */
  paste?(isAgain: boolean, signal: AbortSignal): Promise<string | null>;
}

/** Google gives a refresh token only with these parameters. */
const GOOGLE = {
  redirectUri: 'http://127.0.0.1/',
  parameters: { access_type: 'offline', prompt: 'consent' },
};

/** Rejects with a AccountError. */
export async function signInByBrowser(
  client: OAuthClient,
  { web, loginHint, signal, show, paste }: LoopbackFlow,
): Promise<Tokens> {
  const configuration = configurationOf(client, web);
  const [state, verifier] = [oidc.randomState(), oidc.randomPKCECodeVerifier()];
  const { redirectUri: registered, parameters } = client.browser ?? GOOGLE;
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 });
  const received = new AbortController();
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const redirectUri = registered.replace(/^(http:\/\/[^/]+)/, `$1:${port}`);
    const redirected = receiveRedirect(server, { redirectUri, state, signal });
    const url = oidc.buildAuthorizationUrl(configuration, {
      response_type: 'code',
      redirect_uri: redirectUri,
      ...(client.signInScope === null ? {} : { scope: client.signInScope }),
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(loginHint === null ? {} : { login_hint: loginHint }),
      ...parameters,
    });
    show(url.href, port);
    const { searchParams } = await Promise.race([
      redirected,
      ...(paste ? [pasteRedirect(paste, { redirectUri, state, signal: received.signal })] : []),
    ]);
    const code = searchParams.get('code');
    if (code === null) throw refusalOf(searchParams);
    // The redirect URI must be the same text as above, without a slash that a URL would add.
    const response = await oidc.genericGrantRequest(configuration, 'authorization_code', {
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...(client.scope === null ? {} : { scope: client.scope }),
    });
    return tokensOf(response, client);
  } catch (error) {
    throw toAccountError(error, client);
  } finally {
    received.abort();
    server.close();
    server.closeAllConnections();
  }
}

/** What the provider said instead of a code (RFC 6749 §4.1.2.1). */
function refusalOf(parameters: URLSearchParams): AccountError {
  const error = (parameters.get('error') ?? '').replace(/[^\w.-]/g, '').slice(0, 60);
  const description = parameters.get('error_description') ?? '';
  return new AccountError(
    'sign_in_failed',
    error === 'access_denied'
      ? `The sign-in was declined in the browser.${quoted(description)}`
      : `The provider rejected the sign-in: ${error}.${quoted(description)} ${adviceOn(description) ?? 'Check the settings of the app.'}`,
  );
}

const RECEIVED = 'The sign-in was received. Return to the terminal; you can close this page.\n';
const NOT_THIS = 'This sign-in does not belong to the running command.\n';

interface Redirect {
  redirectUri: string;
  state: string;
  signal: AbortSignal;
}

/** Null if it does not belong to this sign-in. */
function redirectOf(text: string, { redirectUri, state }: Omit<Redirect, 'signal'>): URL | null {
  if (!URL.canParse(text, redirectUri)) return null;
  const url = new URL(text, redirectUri);
  const { searchParams } = url;
  const isExpected =
    url.pathname === '/' &&
    url.origin === new URL(redirectUri).origin &&
    searchParams.get('state') === state &&
    (searchParams.has('code') || searchParams.has('error'));
  return isExpected ? url : null;
}

/** Resolves with a pasted URL that has the right state; never, if nobody pastes one. */
async function pasteRedirect(
  paste: NonNullable<LoopbackFlow['paste']>,
  redirect: Redirect,
): Promise<URL> {
  for (let isAgain = false; ; isAgain = true) {
    const text = await paste(isAgain, redirect.signal);
    if (!text) return new Promise(() => {});
    const url = redirectOf(text.trim(), redirect);
    if (url) return url;
  }
}

/** Resolves with the URL of the request that has the right state. Other requests change nothing. */
function receiveRedirect(server: Server, { redirectUri, state, signal }: Redirect): Promise<URL> {
  const received = new Promise<URL>((resolve, reject) => {
    const stop = () =>
      reject(new AccountError('timeout', 'Nobody signed in. Run the command again.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url =
        request.method === 'GET' ? redirectOf(request.url ?? '', { redirectUri, state }) : null;
      response.writeHead(url ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        connection: 'close',
      });
      response.end(url ? RECEIVED : NOT_THIS);
      // The answer is on its way before the server closes.
      if (url) response.on('close', () => resolve(url));
    });
  });
  // Awaited only after the address was shown.
  received.catch(() => {});
  return received;
}
