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
/** For a server that says that it is busy for a moment, but not for how long. */
const BUSY_MS = 1_000;
/** More than a set of records, or the zones of an account, ever has. */
const MAX_PAGES = 200;

/** `changed` needs no other words. */
export type Refusal = 'changed' | [problem: DnsServerProblem, message: string];

export interface HttpApi {
  /** For people. */
  name: string;
  /** Of an API of the team. The others are public. */
  url?: string;
  /** Never in an error, even if the server repeats them. */
  secrets: string[];
  headers?: Record<string, string>;
  /** What to do about these statuses: not the right credentials, not for this, and no such zone. */
  advice: { 401: string; 403: string; 404?: string };
  /** What the body of a refusal says. */
  said?(body: string): string | undefined;
  /** What it means, if its status does not tell. */
  refusal?(code: number, body: string): Refusal | undefined;
}

export interface ApiRequest extends Pick<WebRequest, 'url' | 'headers' | 'body'> {
  method?: WebRequest['method'];
  /** Whether it changes records. */
  changes?: boolean;
}

export interface ApiResponse {
  headers: Record<string, string>;
  body: string;
}

/** Failures of requests that never reached the server. */
const NOT_SENT = ['no_such_name', 'dns', 'forbidden_address', 'tls', 'bad_url'];
const PROBLEMS: Record<number, DnsServerProblem> = {
  401: 'bad_credentials',
  403: 'refused',
  404: 'no_such_zone',
};

/** Returns a successful response. Rejects with a DnsServerError. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

export function httpApi(api: HttpApi, context: ServerContext): Send {
  const { name, url = '' } = api;
  const { signal } = context;
  const onlyAllowed = url.startsWith('http:');
  const web = url ? createWebClient({ ...context, onlyAllowed }) : context.web;

  async function send(request: ApiRequest, attempt = 1): Promise<ApiResponse> {
    const { method = 'GET', changes = false, headers, ...rest } = request;
    const error = (problem: DnsServerProblem, message: string, mayHaveChanged = false) =>
      new DnsServerError(problem, message, { mayHaveChanged: changes && mayHaveChanged });
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
      const advice = `. ${onlyAllowed ? 'Without https, it' : 'It'} must be in a network that your administrator allows (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS)`;
      throw error(
        reason === 'timeout' ? 'timeout' : 'unreachable',
        `The request to ${name} failed: ${detail}${reason === 'forbidden_address' ? advice : ''}.`,
        !NOT_SENT.includes(reason),
      );
    }
    const { code } = result;
    const body = Buffer.from(result.body).toString('utf8');
    if (code >= 200 && code < 300) return { body, headers: result.headers };
    const refusal = api.refusal?.(code, body) ?? [];
    const [problem, message]: Partial<Exclude<Refusal, string>> =
      refusal === 'changed'
        ? [
            refusal,
            `The records have changed at ${name} since the plan was made. Nothing was written. Make a new plan.`,
          ]
        : refusal;
    // A server may repeat what it was sent.
    const hide = (text: string, secret: string) => text.replaceAll(secret, '…');
    const said = quoted(api.secrets.reduce(hide, api.said?.(body) ?? ''));
    if (code === 429 || problem === 'rate_limited') {
      const { retryAfterMs } = overloadError(name, result);
      const waitMs = retryAfterMs ?? (problem ? BUSY_MS * attempt : Infinity);
      if (waitMs <= MAX_WAIT_MS && attempt < MAX_ATTEMPTS) {
        await setTimeout(waitMs, undefined, { signal }).catch(() => {});
        return send(request, attempt + 1);
      }
      const minutes = Math.ceil((retryAfterMs ?? 300_000) / 60_000);
      throw new DnsServerError(
        'rate_limited',
        `${message ?? `${name} is rate-limiting this account.`} Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
        { retryAfterMs },
      );
    }
    if (problem) throw error(problem, message + said, problem === 'server_failed');
    const advice = api.advice[code as keyof HttpApi['advice']];
    if (advice) throw error(PROBLEMS[code]!, advice + said);
    if (code >= 500)
      throw error(
        'server_failed',
        `${name} is unavailable (HTTP ${code}). Try again later.${said}`,
        true,
      );
    if (code >= 400)
      throw error(
        'invalid_record',
        `${name} rejects the request (HTTP ${code}), and has changed nothing.${said}`,
      );
    throw invalidResponse(name, changes);
  }
  return (request) => send(request);
}

const invalidResponse = (name: string, mayHaveChanged = false): DnsServerError =>
  new DnsServerError('bad_response', `${name} sent an invalid response.`, { mayHaveChanged });

/** Undefined if it is not JSON, or of another form. */
export function parsedJson<T>(schema: v.GenericSchema<unknown, T>, body: string): T | undefined {
  try {
    return v.parse(schema, JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** Throws a DnsServerError if it has another form. */
export function readJson<T>(
  name: string,
  schema: v.GenericSchema<unknown, T>,
  { body }: Pick<ApiResponse, 'body'>,
  mayHaveChanged = false,
): T {
  const parsed = parsedJson(schema, body);
  if (parsed === undefined) throw invalidResponse(name, mayHaveChanged);
  return parsed;
}

/** The items of all pages. `read` returns where the next page is, or null after the last one. */
export async function allPages<T, P>(
  name: string,
  first: P,
  read: (page: P) => Promise<[items: T[], next: P | null]>,
): Promise<T[]> {
  const all: T[] = [];
  let page = first;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const [items, next] = await read(page);
    all.push(...items);
    if (next === null) return all;
    page = next;
  }
  throw new DnsServerError('bad_response', `${name} lists more records than expected.`);
}
