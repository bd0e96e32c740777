/** Signing in with a browser on any device: the device authorization grant (RFC 8628). */

import * as oidc from 'openid-client';
import type { OAuthClient } from '../../config/oauth-client.ts';
import { AccountError } from '../account-error.ts';
import type { WebClient } from '../http/web.ts';
import { configurationOf, type Tokens, toAccountError, tokensOf } from './token-endpoint.ts';

export interface DevicePrompt {
  /** To open in a browser. */
  url: string;
  /** To enter there. */
  code: string;
  expiresInMs: number;
}

export interface DeviceFlow {
  web: WebClient;
  /** Resolves after the time; rejects to stop waiting. */
  wait(ms: number): Promise<void>;
  /** Shows the person what to do. */
  show(prompt: DevicePrompt): void;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const DEFAULT_INTERVAL_S = 5;
const MAX_INTERVAL_S = 60;
const MAX_LIFETIME_S = 3600;

/** Rejects with a AccountError. */
export async function signInByDevice(
  client: OAuthClient,
  { web, wait, show }: DeviceFlow,
): Promise<Tokens> {
  const configuration = configurationOf(client, web);
  const device = await start(configuration, client);
  const expiresIn = Math.min(device.expires_in, MAX_LIFETIME_S);
  show({ url: device.verification_uri, code: device.user_code, expiresInMs: expiresIn * 1000 });
  let interval = Math.min(Math.max(device.interval ?? DEFAULT_INTERVAL_S, 1), MAX_INTERVAL_S);
  for (let waited = interval; waited <= expiresIn; waited += interval) {
    await wait(interval * 1000);
    const result = await poll(configuration, client, device.device_code);
    if (result === 'slow_down') interval = Math.min(interval + 5, MAX_INTERVAL_S);
    // RFC 8628 §3.5 recommends to double it after a timeout.
    else if (result === 'unreachable') interval = Math.min(interval * 2, MAX_INTERVAL_S);
    else if (result !== 'pending') return result;
  }
  throw expired();
}

const expired = (): AccountError =>
  new AccountError('sign_in_failed', 'The code has expired. Run the command again.');

const Code = /^[\x21-\x7e][\x20-\x7e]{0,49}$/;

async function start(
  configuration: oidc.Configuration,
  client: OAuthClient,
): Promise<oidc.DeviceAuthorizationResponse> {
  try {
    const scope: Record<string, string> =
      client.signInScope === null ? {} : { scope: client.signInScope };
    const device = await oidc.initiateDeviceAuthorization(configuration, scope);
    const { verification_uri: url, user_code } = device;
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && Code.test(user_code))
      return device;
  } catch (error) {
    throw toAccountError(error, client);
  }
  throw new AccountError(
    'bad_response',
    `${new URL(client.tokenUrl).host} sent no valid code for signing in.`,
  );
}

async function poll(
  configuration: oidc.Configuration,
  client: OAuthClient,
  device_code: string,
): Promise<Tokens | 'pending' | 'slow_down' | 'unreachable'> {
  try {
    const response = await oidc.genericGrantRequest(configuration, GRANT, { device_code });
    return tokensOf(response, client);
  } catch (error) {
    const code = error instanceof oidc.ResponseBodyError ? error.error : '';
    if (code === 'authorization_pending') return 'pending';
    if (code === 'slow_down') return 'slow_down';
    if (code === 'expired_token') throw expired();
    // The second is Microsoft’s name.
    if (code === 'access_denied' || code === 'authorization_declined')
      throw new AccountError('sign_in_failed', 'The sign-in was declined in the browser.');
    const failure = toAccountError(error, client);
    if (['timeout', 'unreachable', 'throttled'].includes(failure.problem)) return 'unreachable';
    throw failure;
  }
}
