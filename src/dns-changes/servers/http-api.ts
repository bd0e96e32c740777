/** Requests to APIs, and their failures in words for administrators. */

import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { formatCount } from '../../lib/format/numbers.ts';
import { quoted } from '../../net/account-error.ts';
import { createWebClient } from '../../net/http/client.ts';
import type { WebRequest } from '../../net/http/web.ts';
import { overloadError } from '../../net/oauth/token-endpoint.ts';
import { DnsServerError, type DnsServerProblem, type ServerContext } from '../server.ts';

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_WAIT_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** For servers that are busy for a moment, and do not say for how long. */
const BUSY_MS = 1_000;
const MAX_PAGES = 200;

/** `changed` needs no other words. */
export type Refusal = 'changed' | [problem: DnsServerProblem, message: string];

interface HttpApi {
  name: string;
  /** Of an API of the team. The others are public. */
  url?: string;
  /** Never in an error, even if the server repeats it. */
  secret?: string;
  headers: Record<string, string>;
  /** What to do about these statuses. */
  advice: { 401: string; 403: string; 404?: string };
  /** What the body of a refusal says. */
  said?(body: string): string | undefined;
  /** What it means, if its status does not tell. */
  refusal?(code: number, body: string): Refusal | undefined;
}

interface ApiRequest {
  /** All but GET may change records. */
  method?: WebRequest['method'];
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text. */
  body?: object | string | undefined;
}

const NOT_SENT = ['no_such_name', 'dns', 'forbidden_address', 'tls', 'bad_url'];
const PROBLEMS: Record<number, DnsServerProblem> = {
  401: 'bad_credentials',
  403: 'refused',
  404: 'no_such_zone',
};

/** Returns the function that sends a request and returns a successful response. It rejects with a DnsServerError. */
export function httpApi(api: HttpApi, context: ServerContext) {
  const { name, url: own, secret = '' } = api;
  const { signal } = context;
  const web = own ? createWebClient({ ...context, hasPrivateHttp: true }) : context.web;

  return async function send(url: string, request: ApiRequest = {}, attempt = 1) {
    const { method = 'GET', headers, body } = request;
    const changes = method !== 'GET';
    const error = (problem: DnsServerProblem, message: string, mayHaveChanged = false) =>
      new DnsServerError(problem, message, { mayHaveChanged: changes && mayHaveChanged });
    const result = await web({
      url,
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'deliverability',
        ...(body && { 'content-type': 'application/json' }),
        ...api.headers,
        ...headers,
      },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (result.status === 'failed') {
      const { reason, detail } = result;
      const isPrivate = reason === 'forbidden_address' && url.startsWith('https');
      throw error(
        reason === 'timeout' ? 'timeout' : 'unreachable',
        `The request to ${name} failed: ${detail}.${isPrivate ? ' Your administrator can allow its network (DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS).' : ''}`,
        !NOT_SENT.includes(reason),
      );
    }
    const { code } = result;
    const text = Buffer.from(result.body).toString('utf8');
    if (code >= 200 && code < 300)
      return {
        headers: result.headers,
        text,
        json: <T>(schema: v.GenericSchema<unknown, T>) => readJson(name, schema, text, changes),
      };
    const refusal = api.refusal?.(code, text);
    const [problem, message] =
      refusal === 'changed'
        ? ([
            refusal,
            `The records have changed at ${name}. Nothing was written. Make a new plan.`,
          ] as const)
        : (refusal ?? []);
    // A server may repeat what it was sent.
    const said = quoted((api.said?.(text) ?? '').replaceAll(secret || '\0', '…'));
    if (code === 429 || problem === 'rate_limited') {
      const { retryAfterMs } = overloadError(name, result);
      const waitMs = retryAfterMs ?? (problem ? BUSY_MS * attempt : Infinity);
      if (waitMs <= MAX_WAIT_MS && attempt < MAX_ATTEMPTS) {
        await setTimeout(waitMs, undefined, { signal }).catch(() => {});
        return send(url, request, attempt + 1);
      }
      const minutes = Math.ceil((retryAfterMs ?? 300_000) / 60_000);
      throw new DnsServerError(
        'rate_limited',
        `${message ?? `${name} is rate-limiting this account.`} Try again in ${formatCount(minutes, 'minute')}.`,
        { retryAfterMs },
      );
    }
    if (problem) throw error(problem, message + said, problem === 'server_failed');
    const advice = api.advice[code as keyof HttpApi['advice']];
    if (advice) throw error(PROBLEMS[code]!, advice + said);
    if (code >= 500)
      throw error('server_failed', `${name} is unavailable (HTTP ${code}).${said}`, true);
    if (code >= 400)
      throw error('invalid_record', `${name} rejects the request (HTTP ${code}).${said}`);
    throw invalidResponse(name, changes);
  };
}

const invalidResponse = (name: string, mayHaveChanged: boolean): DnsServerError =>
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
  body: string,
  mayHaveChanged: boolean,
): T {
  const parsed = parsedJson(schema, body);
  if (parsed === undefined) throw invalidResponse(name, mayHaveChanged);
  return parsed;
}

/** `read` returns where the next page is, or null after the last one. */
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
