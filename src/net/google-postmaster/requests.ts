/** Requests to the Gmail Postmaster Tools API v2, and its errors in words for administrators. */

import * as v from 'valibot';
import { AccountError, quoted } from '../account-error.ts';
import type { WebClient, WebRequest } from '../http/web.ts';
import { overloadError, requestError } from '../oauth/token-endpoint.ts';

export interface PostmasterAccess {
  web: WebClient;
  /** Without a slash at the end. */
  baseUrl: string;
  accessToken: string;
  /** Ends requests early. */
  signal: AbortSignal;
}

export interface PostmasterRequests {
  host: string;
  /** The parsed JSON; null for the statuses in `absent`. `domain` is the one that it is about, for errors. */
  get(path: string, options?: { domain?: string; absent?: number[] }): Promise<unknown>;
  post(
    path: string,
    body: unknown,
    options: { domain: string; absent: number[] },
  ): Promise<unknown>;
  /** What Google says, without the access token. */
  quoted(message: string | null | undefined): string;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** A batch about a year has less than 5 MB. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

const NAME = 'Google Postmaster Tools';

const Text = v.nullish(v.string());
const Fault = v.object({
  error: v.object({
    message: Text,
    details: v.fallback(v.array(v.object({ reason: v.optional(v.unknown()) })), []),
  }),
});

/** Google refuses all requests of the account, whichever domain they are about. */
export class AccountRefusedError extends AccountError {}

const ACCOUNT_REASONS = ['ACCESS_TOKEN_SCOPE_INSUFFICIENT', 'SERVICE_DISABLED'];

/** Its functions reject with an AccountError; with `sign_in_failed` if the access token is not accepted. */
export function postmasterRequests(access: PostmasterAccess): PostmasterRequests {
  const { web, baseUrl, accessToken, signal } = access;
  const { host } = new URL(baseUrl);

  /** A server may repeat what it was sent. */
  const quotedWithoutToken = (message: string | null | undefined): string =>
    quoted((message ?? '').replaceAll(accessToken, '…'));

  async function send(
    request: Pick<WebRequest, 'method' | 'body'> & { path: string },
    { domain, absent = [] }: { domain?: string; absent?: number[] },
  ): Promise<unknown> {
    const { path, ...rest } = request;
    const result = await web({
      ...rest,
      url: `${baseUrl}${path}`,
      headers: {
        authorization: `Bearer ${accessToken}`,
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'deliverability',
      },
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
    });
    if (result.status === 'failed') throw requestError(result, host);
    const { code, headers, body } = result;
    if (absent.includes(code)) return null;
    if (code === 429 || code >= 500) throw overloadError(host, { code, headers });
    const json = parsed(body);
    if (code === 200 && json !== undefined) return json;
    const fault = v.safeParse(Fault, json);
    const { message, details } = fault.success ? fault.output.error : { message: '', details: [] };
    const reasons = details.map(({ reason }) => reason);
    const said = quotedWithoutToken(message);
    if (code === 401)
      throw new AccountError(
        'sign_in_failed',
        `${host} rejects the access token. Sign in again, and check the settings of the app.`,
      );
    if (reasons.includes('RATE_LIMIT_EXCEEDED')) throw overloadError(host, { code: 429, headers });
    if (code === 403) {
      const isOfAccount = reasons.some((reason) => ACCOUNT_REASONS.includes(String(reason)));
      const Refusal = isOfAccount ? AccountRefusedError : AccountError;
      throw new Refusal('refused', `${refusal(reasons, domain)}${said}`);
    }
    if (code < 400) throw invalidResponse(host);
    throw new AccountError('refused', `${host} rejected the request with HTTP ${code}.${said}`);
  }

  return {
    host,
    quoted: quotedWithoutToken,
    get: (path, options = {}) => send({ method: 'GET', path }, options),
    post: (path, body, options) =>
      send({ method: 'POST', path, body: JSON.stringify(body) }, options),
  };
}

export const invalidResponse = (host: string): AccountError =>
  new AccountError('bad_response', `${host} sent an invalid Postmaster Tools response.`);

/** Undefined if it is not JSON. */
function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Which permission is missing, and what to do. */
function refusal(reasons: unknown[], domain: string | undefined): string {
  if (reasons.includes('ACCESS_TOKEN_SCOPE_INSUFFICIENT'))
    return `The sign-in to ${NAME} lacks a permission. Sign in again, and allow both permissions that the app asks for: the list of domains, and their figures.`;
  if (reasons.includes('SERVICE_DISABLED'))
    return 'The Gmail Postmaster Tools API is not enabled in the project of the app. Enable it in the Google Cloud console.';
  return domain === undefined
    ? `${NAME} does not let this account list its domains.`
    : `${NAME} does not let this account read ${domain}. Verify the domain there, or ask its owner to share it with the account.`;
}

/** A query of a batch that failed, by its `google.rpc.Code`. */
export function queryError(
  { host, quoted: quote }: PostmasterRequests,
  { code, message }: { code?: number | null; message?: string | null },
  domain: string,
): AccountError {
  const said = quote(message);
  switch (code) {
    case 4:
      return new AccountError('timeout', `${host} did not answer a query in time.${said}`);
    case 7:
      return new AccountError('refused', `${refusal([], domain)}${said}`);
    case 8:
      return new AccountError('throttled', `${host} is rate-limiting queries.${said}`);
    case 13:
    case 14:
      return new AccountError('unreachable', `${host} could not answer a query.${said}`);
    case 16:
      return new AccountError('sign_in_failed', `${host} rejects the access token.`);
    default:
      return new AccountError('refused', `${host} rejected a query.${said}`);
  }
}
