/**
 * The authority of personal Microsoft accounts with one public client, as Microsoft documents its v2.0 endpoints
 * (learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow) and public clients of SNDS use them. It refuses what
 * Microsoft refuses, with its codes. Refresh tokens rotate: each works once.
 */

import { createHash, randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type HttpExchange, type HttpScript, startHttpScript } from './http-script.ts';

const CLIENT = 'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c';
const BASE = '/consumers/oauth2/v2.0';
const SCOPES = [`${CLIENT}/.default`, 'offline_access', 'openid', 'profile'];

export interface MicrosoftAuthority {
  tokenUrl: string;
  authorizationUrl: string;
  exchanges: HttpScript['exchanges'];
  refreshTokens: Set<string>;
  /** Those that SNDS accepts. */
  accessTokens: Set<string>;
  /** Instead of tokens: the error and its description, or null. */
  refusal: [error: string, description: string] | null;
  /** Every token that it has issued. */
  issued: string[];
  /**
   * What a person and their browser do with the address that the command shows: signs in, and resolves with the address to
   * which Microsoft redirects. Rejects with Microsoft’s error page.
   */
  signIn(url: string): Promise<URL>;
}

export async function startMicrosoftAuthority(t: TestContext): Promise<MicrosoftAuthority> {
  const codes = new Map<string, { redirectUri: string; challenge: string }>();
  const authority: MicrosoftAuthority = {
    tokenUrl: '',
    authorizationUrl: '',
    exchanges: [],
    refreshTokens: new Set(),
    accessTokens: new Set(),
    refusal: null,
    issued: [],
    async signIn(url) {
      const response = await fetch(url, { redirect: 'manual' });
      if (response.status !== 302) throw new Error(await response.text());
      return new URL(response.headers.get('location')!);
    },
  };
  const issue = () => {
    const number = authority.issued.length / 2 + 1;
    const [access_token, refresh_token] = [`EwB-access-${number}`, `M.C5-refresh-${number}`];
    authority.accessTokens.add(access_token);
    authority.refreshTokens.add(refresh_token);
    authority.issued.push(access_token, refresh_token);
    return {
      token_type: 'Bearer',
      scope: SCOPES.join(' '),
      expires_in: 3600,
      ext_expires_in: 3600,
      access_token,
      refresh_token,
      id_token: idToken(),
    };
  };
  const script = await startHttpScript(t, (exchange) => {
    const { method, path } = exchange;
    if (method === 'GET' && path === `${BASE}/authorize`) authorize(exchange, codes);
    else if (method === 'POST' && path === `${BASE}/token`) answerToken(exchange);
    else exchange.json(404, { error: 'not_found' });
  });
  function answerToken(exchange: HttpExchange) {
    const { headers, json, body } = exchange;
    const refuse = (error: string, description: string) =>
      json(400, { error, error_description: `${description} Trace ID: 0 Correlation ID: 0` });
    if (headers.origin !== undefined)
      return refuse(
        'invalid_request',
        "AADSTS90023: Cross-origin token redemption is permitted only for the 'Single-Page Application' client-type.",
      );
    if (headers['content-type']?.split(';')[0] !== 'application/x-www-form-urlencoded')
      return refuse('invalid_request', 'AADSTS900144: The request body is not a form.');
    const parameters = new URLSearchParams(body);
    const { client_id, client_secret, grant_type, scope, code, refresh_token } =
      Object.fromEntries(parameters);
    if (client_id !== CLIENT)
      return refuse('unauthorized_client', `AADSTS700016: Application '${client_id}' not found.`);
    if (client_secret !== undefined || headers.authorization !== undefined)
      return refuse(
        'invalid_client',
        'AADSTS700025: Client is public so neither client_assertion nor client_secret should be presented.',
      );
    if (scope !== SCOPES.join(' '))
      return refuse('invalid_scope', `AADSTS70011: The scope '${scope}' is not valid.`);
    if (authority.refusal) return refuse(...authority.refusal);
    if (grant_type === 'authorization_code') {
      const known = codes.get(code ?? '');
      codes.delete(code ?? '');
      if (!known)
        return refuse('invalid_grant', 'AADSTS70000: The code is invalid or was redeemed.');
      if (parameters.get('redirect_uri') !== known.redirectUri)
        return refuse('invalid_grant', 'AADSTS50011: The redirect URI does not match.');
      const verifier = parameters.get('code_verifier') ?? '';
      if (createHash('sha256').update(verifier).digest('base64url') !== known.challenge)
        return refuse('invalid_grant', 'AADSTS501481: The Code_Verifier does not match.');
    } else if (grant_type !== 'refresh_token' || !authority.refreshTokens.delete(refresh_token!))
      return refuse(
        'invalid_grant',
        'AADSTS70008: The provided refresh token has expired due to inactivity.',
      );
    json(200, issue());
  }
  authority.tokenUrl = `${script.url}${BASE}/token`;
  authority.authorizationUrl = `${script.url}${BASE}/authorize`;
  authority.exchanges = script.exchanges;
  return authority;
}

/** Of a personal account: the issuer is their tenant, not the address of the authority. */
function idToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    aud: CLIENT,
    sub: 'somebody',
    iat: 1,
    exp: 2,
  };
  return `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}.${Buffer.from('s').toString('base64url')}`;
}

/** Errors before the redirect URI is known to be right are pages, as RFC 6749 §4.1.2.1 demands. */
function authorize(
  { query, response }: HttpExchange,
  codes: Map<string, { redirectUri: string; challenge: string }>,
): void {
  const page = (text: string) => response.writeHead(400, { 'content-type': 'text/html' }).end(text);
  const redirectUri = query.get('redirect_uri') ?? '';
  if (query.get('client_id') !== CLIENT) return void page('AADSTS700016: Application not found.');
  // Any port, but no path, no other host.
  if (!/^http:\/\/localhost(:\d+)?$/.test(redirectUri))
    return void page(`AADSTS50011: The redirect URI '${redirectUri}' is not registered.`);
  const challenge = query.get('code_challenge') ?? '';
  const [error, description] =
    query.get('response_type') !== 'code'
      ? ['unsupported_response_type', 'AADSTS700054: response_type is not enabled.']
      : query.get('scope') !== SCOPES.join(' ')
        ? ['invalid_scope', 'AADSTS70011: The scope is not valid.']
        : query.get('code_challenge_method') !== 'S256' || challenge.length !== 43
          ? ['invalid_request', 'AADSTS501491: Invalid code challenge.']
          : [];
  const code = `M.C5-code-${randomUUID()}`;
  if (!error) codes.set(code, { redirectUri, challenge });
  const answer = new URLSearchParams(error ? { error, error_description: description! } : { code });
  answer.set('state', query.get('state') ?? '');
  response.writeHead(302, { location: `${redirectUri}/?${answer}` }).end();
}
