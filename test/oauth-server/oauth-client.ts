/** Clients of the authorization server: one that sends what it is told, and the state that the SDK's clients keep. */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type ServiceOptions, startTestService, type TestService } from '../helpers/app.ts';
import { type Browser, ownerBrowser } from '../team/browser.ts';

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A service that knows its own URL, which its metadata contains. */
export async function startOAuthService(
  t: TestContext,
  options: ServiceOptions = {},
): Promise<TestService> {
  const port = String(await freePort());
  const env = {
    DELIVERABILITY_HTTP_PORT: port,
    DELIVERABILITY_BASE_URL: `http://127.0.0.1:${port}`,
    ...options.env,
  };
  return startTestService(t, { ...options, env });
}

export const REDIRECT = 'https://assistant.example/callback';
export const VERIFIER = randomBytes(32).toString('base64url');
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

export interface Registration {
  client_id: string;
  client_name: string;
  redirect_uris: string[];
  token_endpoint_auth_method: string;
  error?: string;
}

export const register = ({ call }: TestService, json: unknown = {}) =>
  call<Registration>('POST', '/oauth/register', {
    key: null,
    json: { client_name: 'Assistant', redirect_uris: [REDIRECT], ...(json as object) },
  });

export async function clientId(service: TestService, more: object = {}): Promise<string> {
  const { status, body, text } = await register(service, more);
  assert.equal(status, 201, text);
  return body.client_id;
}

export const authorizePath = (client_id: string, more: Record<string, string> = {}): string =>
  `/oauth/authorize?${new URLSearchParams({
    client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    state: 'the state',
    ...more,
  })}`;

/** The fields of the form of a consent page. */
export const fieldsOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!.replaceAll('&amp;', '&').replaceAll('&quot;', '"')],
    ),
  );

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Shows the consent page, and sends its form. Returns where the browser goes. */
export async function consent(
  { url }: TestService,
  browser: Browser,
  path: string,
  more: Record<string, string> = {},
): Promise<URL> {
  const page = await browser.call<string>('GET', path, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200, page.text);
  const choices = { role: 'member', mode: 'live', decision: 'allow' };
  const response = await fetch(`${url}/oauth/authorize`, {
    method: 'POST',
    headers: { ...FORM, cookie: browser.cookie, origin: url, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ ...fieldsOf(page.text), ...choices, ...more }),
    redirect: 'manual',
  });
  assert.equal(response.status, 303, await response.text());
  return new URL(response.headers.get('location')!);
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  error?: string;
}

const post = ({ call }: TestService, path: string, fields: Record<string, string>) =>
  call<Tokens>('POST', path, {
    key: null,
    headers: FORM,
    body: new URLSearchParams(fields).toString(),
  });

export const redeem = (service: TestService, client_id: string, code: string, more = {}) =>
  post(service, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id,
    code,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    ...more,
  });

export const refresh = (
  service: TestService,
  client_id: string,
  refresh_token: string,
  more = {},
) =>
  post(service, '/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token, ...more });

export const revoke = (service: TestService, client_id: string, token: string) =>
  post(service, '/oauth/revoke', { token, client_id });

/** The status of a call of `/mcp`. */
export async function mcpStatus({ call }: TestService, token: string): Promise<number> {
  const response = await call('POST', '/mcp', {
    key: token,
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  });
  return response.status;
}

export interface Connection {
  service: TestService;
  browser: Browser;
  id: string;
  tokens: Tokens;
  code: string;
}

/** A service with an assistant that the owner has connected. */
export async function connectAssistant(
  t: TestContext,
  { choices = {}, ...options }: ServiceOptions & { choices?: Record<string, string> } = {},
): Promise<Connection> {
  const service = await startOAuthService(t, options);
  const browser = await ownerBrowser(service);
  const id = await clientId(service);
  return { service, browser, id, ...(await connectAgain(service, browser, id, choices)) };
}

export async function connectAgain(
  service: TestService,
  browser: Browser,
  id: string,
  choices: Record<string, string> = {},
): Promise<{ tokens: Tokens; code: string }> {
  const code = (await consent(service, browser, authorizePath(id), choices)).searchParams.get(
    'code',
  )!;
  const { status, body, text } = await redeem(service, id, code);
  assert.equal(status, 200, text);
  return { tokens: body, code };
}

/** What the SDK's clients keep between requests. */
export function memoryProvider(redirectUrl: string, clientMetadataUrl?: string) {
  let client: object | undefined;
  let tokens: object | undefined;
  let verifier = '';
  return {
    redirectUrl,
    clientMetadataUrl,
    clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUrl] },
    /** Where the SDK sends the browser. */
    asked: null as URL | null,
    state: () => 'state of the SDK',
    clientInformation: () => client as never,
    saveClientInformation(information: object) {
      client = information;
    },
    tokens: () => tokens as never,
    saveTokens(saved: object) {
      tokens = saved;
    },
    redirectToAuthorization(url: URL) {
      this.asked = url;
    },
    saveCodeVerifier(saved: string) {
      verifier = saved;
    },
    codeVerifier: () => verifier,
  };
}
