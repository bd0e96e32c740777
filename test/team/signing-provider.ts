/**
 * A small OpenID Connect provider on loopback that sends exactly the claims of a test. It rejects what real providers reject:
 * another client, redirect URL or scope, a wrong or used code, a wrong PKCE verifier and a missing access token.
 */

import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

const APP_URL = 'https://app.example';
const CLIENT = { id: 'deliverability', secret: 'a secret: with/odd+characters' };
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

type Claims = Record<string, unknown>;

export interface ProviderOptions {
  /** The path in the issuer's name. A trailing slash is part of the name. */
  path?: string;
  /** The issuer in the metadata, from the real one. */
  named?: (issuer: string) => string;
  /** Claims that are sent only for a scope. */
  claimScopes?: Record<string, string>;
}

export interface SigningProvider {
  issuer: string;
  env: Record<string, string>;
  /** What it sends about the person. Without `userinfo`, there is no such endpoint. */
  person: { sub: string; idToken: Claims; userinfo?: Claims };
  userinfoRequests: number;
  /** Signs the person in, and returns the callback URL. */
  pass(location: string): Promise<URL>;
}

interface Issued {
  challenge: string;
  nonce: string;
  scopes: string[];
}

export async function startSigningProvider(
  t: TestContext,
  { path = '', named = (issuer) => issuer, claimScopes = {} }: ProviderOptions = {},
): Promise<SigningProvider> {
  const codes = new Map<string, Issued>();
  const accessTokens = new Map<string, Issued>();
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    answer(request).then(
      (body) => send(200, body),
      (error: Error) => send(400, { error: error.message }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = named(origin + path);
  const base = `${origin}${path.replace(/\/$/, '')}`;

  const visible = (claims: Claims, { scopes }: Issued): Claims =>
    Object.fromEntries(
      Object.entries(claims).filter(([name]) => scopes.includes(claimScopes[name] ?? 'openid')),
    );

  async function answer(request: IncomingMessage): Promise<unknown> {
    const url = new URL(request.url!, origin);
    switch (url.href) {
      case `${base}/.well-known/openid-configuration`:
        return {
          issuer,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          jwks_uri: `${base}/keys`,
          ...(provider.person.userinfo && { userinfo_endpoint: `${base}/userinfo` }),
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        };
      case `${base}/keys`:
        return { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] };
      case `${base}/token`:
        return tokensFor(request);
      case `${base}/userinfo`: {
        provider.userinfoRequests++;
        const issued = accessTokens.get(
          request.headers.authorization?.slice('Bearer '.length) ?? '',
        );
        if (!issued) throw new Error('invalid_token');
        return { sub: provider.person.sub, ...visible(provider.person.userinfo!, issued) };
      }
      default:
        throw new Error('not_found');
    }
  }

  async function tokensFor(request: IncomingMessage): Promise<unknown> {
    // RFC 6749 §2.3.1: both are encoded as in a form.
    const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ');
    const [id, secret = ''] = Buffer.from(credentials, 'base64').toString().split(':');
    const given = new URLSearchParams(`id=${id}&secret=${secret}`);
    if (
      scheme !== 'Basic' ||
      given.get('id') !== CLIENT.id ||
      given.get('secret') !== CLIENT.secret
    )
      throw new Error('invalid_client');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const issued = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '');
    if (
      form.get('grant_type') !== 'authorization_code' ||
      form.get('redirect_uri') !== `${APP_URL}/sign-in/oidc/callback` ||
      issued?.challenge !== challenge.digest('base64url')
    )
      throw new Error('invalid_grant');
    const access_token = randomUUID();
    accessTokens.set(access_token, issued);
    const now = Math.floor(Date.now() / 1000);
    const { sub, idToken } = provider.person;
    const claims = {
      iss: issuer,
      sub,
      aud: CLIENT.id,
      iat: now,
      exp: now + 300,
      nonce: issued.nonce,
      ...visible(idToken, issued),
    };
    return { access_token, token_type: 'Bearer', expires_in: 300, id_token: jwt(claims) };
  }

  const provider: SigningProvider = {
    issuer,
    env: {
      DELIVERABILITY_BASE_URL: APP_URL,
      DELIVERABILITY_OIDC_ISSUER: origin + path,
      DELIVERABILITY_OIDC_CLIENT_ID: CLIENT.id,
      DELIVERABILITY_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
    person: { sub: 'account-1', idToken: {} },
    userinfoRequests: 0,
    async pass(location) {
      const { origin: host, pathname, searchParams: query } = new URL(location);
      const scopes = (query.get('scope') ?? '').split(' ');
      if (
        host + pathname !== `${base}/authorize` ||
        query.get('client_id') !== CLIENT.id ||
        query.get('redirect_uri') !== `${APP_URL}/sign-in/oidc/callback` ||
        query.get('response_type') !== 'code' ||
        query.get('code_challenge_method') !== 'S256' ||
        !['openid', 'email', 'profile'].every((scope) => scopes.includes(scope))
      )
        throw new Error(`invalid_request: ${location}`);
      const code = randomUUID();
      const challenge = query.get('code_challenge')!;
      codes.set(code, { challenge, nonce: query.get('nonce')!, scopes });
      const callback = new URL(query.get('redirect_uri')!);
      callback.search = String(new URLSearchParams({ code, state: query.get('state')! }));
      return callback;
    },
  };
  return provider;
}

function jwt(claims: Claims): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}
