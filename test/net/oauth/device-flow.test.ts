/** Signing in on another device: how often the client asks, and how it ends (RFC 8628). */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { OAuthClient } from '../../../src/config/oauth-client.ts';
import { AccountError } from '../../../src/net/account-error.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { createTrustedWebClient } from '../../../src/net/http/client.ts';
import { type DevicePrompt, signInByDevice } from '../../../src/net/oauth/device-flow.ts';
import {
  HOSTILE_RESPONSES,
  type HttpExchange,
  type HttpScript,
  startHttpScript,
} from '../../helpers/http-script.ts';

const web = createTrustedWebClient(zoneResolver({}));

const clientOf = ({ url }: HttpScript, fields: Partial<OAuthClient> = {}): OAuthClient => ({
  clientId: 'app',
  clientSecret: null,
  refreshToken: null,
  issuer: url,
  tokenUrl: `${url}/token`,
  deviceUrl: `${url}/device`,
  authorizationUrl: null,
  scope: 'Mail.Read offline_access',
  signInScope: 'Mail.Read offline_access',
  ...fields,
});

const DEVICE = {
  device_code: 'secret-device-code',
  user_code: 'ABCD-EFGH',
  verification_uri: 'https://provider.example/device',
  expires_in: 900,
  interval: 5,
};
const TOKENS = { token_type: 'Bearer', access_token: 'at', refresh_token: 'rt', expires_in: 3600 };

type Answer = (exchange: HttpExchange) => void;
const error =
  (code: string, status = 400): Answer =>
  ({ json }) =>
    json(status, { error: code });

/** Signs in at a server that answers the polls so, in turn; the last answer is repeated. */
async function signIn(t: TestContext, polls: Answer[], device: Answer | object = DEVICE) {
  let polled = 0;
  const http = await startHttpScript(t, (exchange) => {
    if (exchange.path === '/token') return polls[Math.min(polled++, polls.length - 1)]!(exchange);
    return typeof device === 'function' ? (device as Answer)(exchange) : exchange.json(200, device);
  });
  const waits: number[] = [];
  const prompts: DevicePrompt[] = [];
  const result = signInByDevice(clientOf(http), {
    web,
    async wait(ms) {
      waits.push(ms / 1000);
    },
    show: (prompt) => prompts.push(prompt),
  });
  const outcome = await result.catch((failure: unknown) => {
    assert.ok(failure instanceof AccountError, String(failure));
    assert.ok(!failure.message.includes('secret-device-code'));
    return failure;
  });
  return { outcome, waits, prompts, http };
}

test('The person sees address and code, and the tokens come once they have signed in', async (t) => {
  const { outcome, waits, prompts, http } = await signIn(t, [
    error('authorization_pending'),
    error('authorization_pending'),
    ({ json }) => json(200, TOKENS),
  ]);
  assert.deepEqual(outcome, {
    accessToken: 'at',
    refreshToken: 'rt',
    expiresInMs: 3_600_000,
    scopes: null,
  });
  assert.deepEqual(waits, [5, 5, 5]);
  assert.deepEqual(prompts, [
    { url: 'https://provider.example/device', code: 'ABCD-EFGH', expiresInMs: 900_000 },
  ]);
  const [start, poll] = http.exchanges.map(({ body }) =>
    Object.fromEntries(new URLSearchParams(body)),
  );
  assert.deepEqual(start, { client_id: 'app', scope: 'Mail.Read offline_access' });
  assert.deepEqual(poll, {
    client_id: 'app',
    device_code: 'secret-device-code',
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
  });
});

test('The client slows down when it is told to, and after a failed request', async (t) => {
  const { waits } = await signIn(t, [
    error('slow_down'),
    error('authorization_pending'),
    ({ json }) => json(503, {}),
    ({ response }) => response.destroy(),
    ({ json }) => json(200, TOKENS),
  ]);
  assert.deepEqual(waits, [5, 10, 10, 20, 40]);
});

test('A sign-in that is declined or expires ends', async (t) => {
  for (const [code, message] of [
    ['access_denied', 'The sign-in was declined in the browser.'],
    ['authorization_declined', 'The sign-in was declined in the browser.'],
    ['expired_token', 'The code has expired. Run the command again.'],
  ] as const) {
    const { outcome } = await signIn(t, [error('authorization_pending'), error(code)]);
    assert.equal((outcome as AccountError).message, message);
  }
});

test('The client stops when the code has expired, whatever the server says', async (t) => {
  const { outcome, waits } = await signIn(t, [error('authorization_pending')], {
    ...DEVICE,
    expires_in: 22,
  });
  assert.match((outcome as AccountError).message, /The code has expired/);
  assert.deepEqual(waits, [5, 5, 5, 5]);
  const endless = await signIn(t, [error('authorization_pending')], {
    ...DEVICE,
    expires_in: 1e9,
    interval: 1e9,
  });
  assert.deepEqual([endless.waits.length, endless.waits[0]], [60, 60]);
});

for (const [what, respond] of HOSTILE_RESPONSES)
  test(`A device endpoint that sends ${what} is a bad response`, async (t) => {
    const { outcome, prompts } = await signIn(t, [error('x')], respond);
    assert.equal((outcome as AccountError).problem, 'bad_response');
    assert.deepEqual(prompts, []);
  });

test('Codes and addresses that could deceive on a terminal are not shown', async (t) => {
  for (const fields of [
    { user_code: 'AB\u001b[2J' },
    { user_code: 'x'.repeat(100) },
    { verification_uri: 'javascript:alert(1)' },
  ]) {
    const { outcome, prompts } = await signIn(t, [error('x')], { ...DEVICE, ...fields });
    assert.equal((outcome as AccountError).problem, 'bad_response');
    assert.deepEqual(prompts, []);
  }
});
