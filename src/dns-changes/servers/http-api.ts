/** Requests to APIs of name servers, and their failures in words for administrators. */

import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { quoted } from '../../net/account-error.ts';
import { createWebClient } from '../../net/http/client.ts';
import type { WebRequest } from '../../net/http/web.ts';
import { overloadError } from '../../net/oauth/token-endpoint.ts';
import { DnsServerError, type DnsServerProblem, type ServerContext } from '../server.ts';

const TIMEOUT_MS = 20_000;
/** Some servers have no request for less than a whole zone. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A server asks for so little if only many requests at once are too many. */
const MAX_WAIT_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** More than a set of records, or the zones of an account, ever has. */
export const MAX_PAGES = 200;

/** What the API means by a response that is not a success. Undefined: what its status says. */
export type Refusal = [problem: DnsServerProblem, message: string] | undefined;

export interface HttpApi {
  /** For people. */
  name: string;
  /** An API of the administrator’s own, in any allowed network. Requests to others are public only. */
  url?: string;
  /** Never in an error, even if the server repeats them. */
  secrets: string[];
  headers?: Record<string, string>;
  /** What to do if the server does not accept the credentials (401), or not for this (403). */
  advice: { credentials: string; permission: string };
  /** What the body of a refusal says, for people. */
  said?(body: string): string | undefined;
  refusal?(code: number, said: string, body: string): Refusal;
}

export interface ApiRequest extends Pick<WebRequest, 'url' | 'headers' | 'body'> {
  method?: WebRequest['method'];
  /** Whether it changes records. */
  changes?: boolean;
}

export interface ApiResponse {
  code: number;
  headers: Record<string, string>;
  body: string;
}

/** Failures of requests that never reached the server. */
const NOT_SENT = ['no_such_name', 'dns', 'forbidden_address', 'tls', 'bad_url'];

/** Returns a successful response. Rejects with a DnsServerError. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

export function httpApi(api: HttpApi, context: ServerContext): Send {
  const { name, url = '', secrets, advice } = api;
  const { allowNetworks, resolver, ca = [], dial, signal } = context;
  const onlyAllowed = url.startsWith('http:');
  const web = url
    ? createWebClient({ resolver, allowNetworks, ca, onlyAllowed, ...(dial && { dial }) })
    : context.web;

  async function send(request: ApiRequest, attempt = 1): Promise<ApiResponse> {
    const { method = 'GET', changes: mayHaveChanged = false, headers, ...rest } = request;
    const result = await web({
      ...rest,
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'deliverability',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...api.headers,
        ...headers,
      },
      ...(signal && { signal }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (result.status === 'failed') {
      const { reason, detail } = result;
      const network = onlyAllowed ? '. Without https, it must be' : ', so it must be';
      const more =
        reason === 'forbidden_address'
          ? `${network} in a network that your administrator allows (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS)`
          : '';
      throw new DnsServerError(
        reason === 'timeout' ? 'timeout' : 'unreachable',
        `The request to ${name} failed: ${detail}${more}.`,
        { mayHaveChanged: mayHaveChanged && !NOT_SENT.includes(reason) },
      );
    }
    const { code } = result;
    const body = Buffer.from(result.body).toString('utf8');
    const response = { code, body, headers: result.headers };
    if (code >= 200 && code < 300) return response;
    // A server may repeat what it was sent.
    const shown = secrets.reduce(
      (text, secret) => text.replaceAll(secret, '…'),
      api.said?.(body) ?? '',
    );
    const said = quoted(shown);
    const [problem, message] = api.refusal?.(code, said, body) ?? [];
    if (code === 429 || problem === 'rate_limited') {
      const { retryAfterMs } = overloadError(name, result);
      if (retryAfterMs !== null && retryAfterMs <= MAX_WAIT_MS && attempt < MAX_ATTEMPTS) {
        await setTimeout(retryAfterMs, undefined, { signal }).catch(() => {});
        return send(request, attempt + 1);
      }
      const minutes = Math.ceil((retryAfterMs ?? 300_000) / 60_000);
      throw new DnsServerError(
        'rate_limited',
        message ??
          `${name} is rate-limiting this account. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
        { retryAfterMs },
      );
    }
    if (problem)
      throw new DnsServerError(problem, message!, {
        mayHaveChanged: mayHaveChanged && (problem === 'server_failed' || problem === 'timeout'),
      });
    throw byStatus(code, said, mayHaveChanged);
  }

  function byStatus(code: number, said: string, mayHaveChanged: boolean): DnsServerError {
    if (code === 401) return new DnsServerError('bad_credentials', `${advice.credentials}${said}`);
    if (code === 403) return new DnsServerError('refused', `${advice.permission}${said}`);
    if (code >= 500)
      return new DnsServerError(
        'server_failed',
        `${name} is unavailable (HTTP ${code}). Try again later.${said}`,
        { mayHaveChanged },
      );
    if (code >= 400)
      return new DnsServerError(
        'invalid_record',
        `${name} rejects the request (HTTP ${code}).${said}`,
      );
    return invalidResponse(name, mayHaveChanged);
  }
  return (request) => send(request);
}

const invalidResponse = (name: string, mayHaveChanged = false): DnsServerError =>
  new DnsServerError('bad_response', `${name} sent an invalid response.`, { mayHaveChanged });

/** Undefined if it is not JSON. */
export function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A body of JSON. Throws a DnsServerError if it has another form. */
export function readJson<T>(
  name: string,
  schema: v.GenericSchema<unknown, T>,
  { body }: Pick<ApiResponse, 'body'>,
  mayHaveChanged = false,
): T {
  const parsed = v.safeParse(schema, parsedJson(body));
  if (parsed.success) return parsed.output;
  throw invalidResponse(name, mayHaveChanged);
}

/** The items of all pages. `read` returns null after the last one, or where the next one is. */
export async function allPages<T, P>(
  name: string,
  first: P,
  read: (page: P) => Promise<[items: T[], next: P | null]>,
): Promise<T[]> {
  const all: T[] = [];
  let next: P | null = first;
  for (let count = 0; next !== null; count += 1) {
    if (count >= MAX_PAGES)
      throw new DnsServerError('bad_response', `${name} lists more records than expected.`);
    const [items, following]: [T[], P | null] = await read(next);
    all.push(...items);
    next = following;
  }
  return all;
}
