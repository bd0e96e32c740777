/** Signing in with a browser on this machine: the redirect, its state, and PKCE (RFC 8252, RFC 7636). */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { OAuthClient } from '../../../src/config/oauth-client.ts';
import { AccountError } from '../../../src/net/account-error.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { createTrustedWebClient } from '../../../src/net/http/client.ts';
import { signInByBrowser } from '../../../src/net/oauth/loopback-flow.ts';
import { startHttpScript } from '../../helpers/http-script.ts';

const web = createTrustedWebClient(zoneResolver({}));

interface Browser {
  /** The address that the person was shown. */
  authorization: URL;
  redirectUri: string;
  state: string;
  open(query: Record<string, string>, path?: string): Promise<Response>;
}

/** Starts a sign-in; `browse` is what the person’s browser does. */
async function signIn(
  t: TestContext,
  browse: (browser: Browser) => Promise<unknown>,
  signal = new AbortController().signal,
) {
  let challenge = '';
  const http = await startHttpScript(t, ({ body, json }) => {
    const parameters = new URLSearchParams(body);
    const verifier = parameters.get('code_verifier') ?? '';
    const isRight = createHash('sha256').update(verifier).digest('base64url') === challenge;
    if (parameters.get('code') !== 'the-code' || !isRight)
      return json(400, { error: 'invalid_grant' });
    json(200, { token_type: 'Bearer', access_token: 'at', refresh_token: 'rt', expires_in: 3599 });
  });
  const client: OAuthClient = {
    clientId: 'app',
    clientSecret: 'desktop-secret',
    refreshToken: null,
    issuer: http.url,
    tokenUrl: `${http.url}/token`,
    deviceUrl: null,
    scope: 'https://mail.example/',
    signInScope: 'https://mail.example/',
    authorizationUrl: `${http.url}/auth`,
  };
  let browsing: Promise<unknown> = Promise.resolve();
  let address = '';
  const outcome = await signInByBrowser(client, {
    web,
    loginHint: 'seed@mail.example',
    signal,
    show(url, port) {
      const authorization = new URL(url);
      const { searchParams } = authorization;
      challenge = searchParams.get('code_challenge') ?? '';
      const redirectUri = searchParams.get('redirect_uri') ?? '';
      address = redirectUri;
      assert.equal(redirectUri, `http://127.0.0.1:${port}/`);
      browsing = browse({
        authorization,
        redirectUri,
        state: searchParams.get('state') ?? '',
        open: (query, path = '') =>
          fetch(`${redirectUri}${path}?${new URLSearchParams(query)}`, { redirect: 'manual' }),
      });
    },
  }).catch((error: unknown) => {
    assert.ok(error instanceof AccountError, String(error));
    return error;
  });
  await browsing;
  // Nothing listens any more.
  await assert.rejects(fetch(address));
  return { outcome, requests: http.exchanges.map(({ body }) => new URLSearchParams(body)) };
}

test('The browser is redirected to this machine, and the code is exchanged with its verifier', async (t) => {
  const { outcome, requests } = await signIn(t, async ({ authorization, open, state }) => {
    const { searchParams, pathname } = authorization;
    assert.equal(pathname, '/auth');
    assert.deepEqual(
      [
        'response_type',
        'client_id',
        'scope',
        'code_challenge_method',
        'access_type',
        'prompt',
        'login_hint',
      ].map((name) => searchParams.get(name)),
      ['code', 'app', 'https://mail.example/', 'S256', 'offline', 'consent', 'seed@mail.example'],
    );
    const page = await open({ state, code: 'the-code', iss: 'https://accounts.example' });
    assert.equal(page.status, 200);
    assert.match(await page.text(), /^The sign-in was received\. Return to the terminal/);
  });
  assert.deepEqual(outcome, {
    accessToken: 'at',
    refreshToken: 'rt',
    expiresInMs: 3_599_000,
    scopes: null,
  });
  assert.equal(requests.length, 1);
  assert.equal(requests[0]!.get('client_secret'), 'desktop-secret');
});

test('Requests without the state of this sign-in change nothing', async (t) => {
  const { outcome } = await signIn(t, async ({ open, state, redirectUri }) => {
    for (const request of [
      open({ code: 'the-code' }),
      open({ code: 'the-code', state: 'guessed' }),
      open({ state }),
      open({ state, code: 'the-code' }, 'favicon.ico'),
      fetch(`${redirectUri}?state=${state}&code=the-code`, { method: 'POST' }),
    ])
      assert.equal((await request).status, 404);
    await open({ state, code: 'the-code' });
  });
  assert.ok('accessToken' in outcome);
});

test('A sign-in that the person declines ends', async (t) => {
  const { outcome, requests } = await signIn(t, ({ open, state }) =>
    open({ state, error: 'access_denied' }),
  );
  assert.equal((outcome as AccountError).message, 'The sign-in was declined in the browser.');
  assert.deepEqual(requests, []);
});

test('A sign-in that nobody completes ends', async (t) => {
  const { outcome } = await signIn(t, async () => {}, AbortSignal.timeout(50));
  assert.equal((outcome as AccountError).problem, 'timeout');
});

test('An error of Microsoft is quoted with what to do, and without control characters', async (t) => {
  const { outcome } = await signIn(t, ({ open, state }) =>
    open({
      state,
      error: 'consent_required"\r\n',
      error_description: 'AADSTS65001: Nobody\r\nhas consented. Trace ID: 1',
    }),
  );
  assert.equal(
    (outcome as AccountError).message,
    'The provider rejected the sign-in: consent_required. The server says: “AADSTS65001: Nobody has consented. Trace ID: 1” Nobody has consented to the permissions. Sign in again, and accept them.',
  );
});
