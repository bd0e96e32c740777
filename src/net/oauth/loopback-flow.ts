/** Signing in with a browser on this machine: a redirect to a loopback address (RFC 8252 §7.3) with PKCE (RFC 7636). */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oidc from 'openid-client';
import type { OAuthClient } from '../../config/oauth-client.ts';
import { AccountError } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { configurationOf, type Tokens, toAccountError, tokensOf } from './token-endpoint.ts';

export interface LoopbackFlow {
  web: WebClient;
  /** The account to offer in the browser; null: all. */
  loginHint: string | null;
  /** Ends the wait for the browser. */
  signal: AbortSignal;
  /** Shows the person the address to open, and the port on which this machine waits. */
  show(url: string, port: number): void;
}

/** Rejects with a AccountError. */
export async function signInByBrowser(
  client: OAuthClient,
  { web, loginHint, signal, show }: LoopbackFlow,
): Promise<Tokens> {
  const configuration = configurationOf(client, web);
  const [state, verifier] = [oidc.randomState(), oidc.randomPKCECodeVerifier()];
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const redirectUri = `http://127.0.0.1:${port}/`;
    const redirected = receiveRedirect(server, { redirectUri, state, signal });
    const url = oidc.buildAuthorizationUrl(configuration, {
      response_type: 'code',
      redirect_uri: redirectUri,
      ...(client.signInScope === null ? {} : { scope: client.signInScope }),
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(loginHint === null ? {} : { login_hint: loginHint }),
      // Google gives a refresh token only for these.
      access_type: 'offline',
      prompt: 'consent',
    });
    show(url.href, port);
    const callback = await redirected;
    // It guards clients of several servers against mix-ups (RFC 9207). This address belongs to one.
    callback.searchParams.delete('iss');
    const response = await oidc.authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      pkceCodeVerifier: verifier,
    });
    return tokensOf(response, client);
  } catch (error) {
    if (error instanceof oidc.AuthorizationResponseError)
      throw new AccountError(
        'sign_in_failed',
        error.error === 'access_denied'
          ? 'The sign-in was declined in the browser.'
          : `The provider rejected the sign-in (${error.error.slice(0, 60)}). Check the settings of the app.`,
      );
    throw toAccountError(error, client);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const RECEIVED = 'The sign-in was received. Return to the terminal; you can close this page.\n';
const NOT_THIS = 'This sign-in does not belong to the running command.\n';

interface Redirect {
  redirectUri: string;
  state: string;
  signal: AbortSignal;
}

/** Resolves with the URL of the request that has the right state. Other requests change nothing. */
function receiveRedirect(server: Server, { redirectUri, state, signal }: Redirect): Promise<URL> {
  const received = new Promise<URL>((resolve, reject) => {
    const stop = () =>
      reject(new AccountError('timeout', 'Nobody signed in. Run the command again.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const path = request.url ?? '';
      const url = URL.canParse(path, redirectUri) ? new URL(path, redirectUri) : null;
      const isExpected =
        request.method === 'GET' &&
        url?.pathname === '/' &&
        url.origin === new URL(redirectUri).origin &&
        url.searchParams.get('state') === state &&
        (url.searchParams.has('code') || url.searchParams.has('error'));
      response.writeHead(isExpected ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        connection: 'close',
      });
      response.end(isExpected ? RECEIVED : NOT_THIS);
      // The answer is on its way before the server closes.
      if (isExpected) response.on('close', () => resolve(url));
    });
  });
  // Awaited only after the address was shown.
  received.catch(() => {});
  return received;
}
