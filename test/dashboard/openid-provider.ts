/** An OpenID Connect provider on loopback, and a browser that signs in there. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Configuration, Provider } from 'oidc-provider';

/** The public URL of the service in these tests. Nothing listens there. */
export const APP_URL = 'https://app.example';
const CLIENT = {
  client_id: 'deliverability',
  client_secret: 'a secret of forty characters: 0123456789',
};

export interface OpenidProvider {
  issuer: string;
  /** The configuration of the service under test. */
  env: Record<string, string>;
  /** The claims of the user; null if the user denies access. */
  person: { email?: string; email_verified?: boolean; name?: string } | null;
  /** The number of discovery requests. */
  discoveries: number;
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Follows the redirects from the authorization URL to the callback URL. */
  pass(location: string): Promise<URL>;
}

export interface ProviderOptions {
  /** A path in the issuer's name. */
  path?: string;
  method?: 'client_secret_basic' | 'client_secret_post';
  /** The email address is in the ID token, not only at the userinfo endpoint. */
  emailInToken?: boolean;
}

export async function startProvider(
  t: TestContext,
  { path = '', method = 'client_secret_basic', emailInToken = true }: ProviderOptions = {},
): Promise<OpenidProvider> {
  const server = createServer();
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  t.after(stop);
  const port = await listen(0);
  const issuer = `http://127.0.0.1:${port}${path}`;
  const made: OpenidProvider = {
    issuer,
    env: {
      DELIVERABILITY_BASE_URL: APP_URL,
      DELIVERABILITY_OIDC_ISSUER: issuer,
      DELIVERABILITY_OIDC_CLIENT_ID: CLIENT.client_id,
      DELIVERABILITY_OIDC_CLIENT_SECRET: CLIENT.client_secret,
    },
    person: { email: 'owner@example.com', email_verified: true, name: 'Olivia Owner' },
    discoveries: 0,
    stop,
    restart: async () => void (await listen(port)),
    pass,
  };
  const provider = new Provider(issuer, settings(made, method, emailInToken));
  const handle = provider.callback();
  const prefix = path.replace(/\/$/, '');
  server.on('request', (request: IncomingMessage & { originalUrl?: string }, response) => {
    request.originalUrl = request.url!;
    request.url = request.url!.slice(prefix.length);
    if (request.url.startsWith('/.well-known/openid-configuration')) made.discoveries++;
    if (request.url.startsWith('/interaction/')) agree(provider, made, request, response);
    else handle(request, response);
  });
  return made;
}

function settings(
  made: OpenidProvider,
  method: 'client_secret_basic' | 'client_secret_post',
  emailInToken: boolean,
): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [`${APP_URL}/sign-in/oidc/callback`],
        token_endpoint_auth_method: method,
      },
    ],
    clientAuthMethods: [method],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['of this test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: !emailInToken,
    features: { devInteractions: { enabled: false } },
    interactions: {
      url: (_, { uid }) => `${made.issuer.replace(/\/$/, '')}/interaction/${uid}`,
    },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, ...made.person }),
    }),
  };
}

/** The user signs in and consents immediately, or denies access. */
async function agree(
  provider: Provider,
  { person }: OpenidProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!person) return provider.interactionFinished(request, response, { error: 'access_denied' });
  const { params } = await provider.interactionDetails(request, response);
  const accountId = 'account-1';
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { login: { accountId }, consent });
}

async function pass(location: string): Promise<URL> {
  const jar = new Map<string, string>();
  let url = new URL(location);
  for (let i = 0; url.origin !== APP_URL; i++) {
    assert.ok(i < 10, `too many redirects at the provider: ${url}`);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      jar.set(name!, value!);
    }
    const next = response.headers.get('location');
    assert.ok(next, `${response.status} at ${url}: ${await response.text()}`);
    url = new URL(next, url);
  }
  return url;
}
