/** Handles each delivery: verifies it, recognizes repeats and chooses the response. */

import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '../../lib/clock.ts';
import { type Verification, verifySignature } from '../../webhooks/signatures.ts';
import type { IncomingRequest, Reply } from './server.ts';

/** The parsed event; the shape of `data` is not checked. */
export interface ReceivedEvent {
  id: string;
  type: string;
  livemode: boolean;
  data: Record<string, unknown>;
}

/** What is printed about a delivery. */
export interface Receipt {
  /** Milliseconds since the Unix epoch. */
  at: number;
  /** null if the body is not an event. */
  event: ReceivedEvent | null;
  /** The body as JSON; null if it is not JSON. */
  json: unknown;
  /** null without a secret. */
  verification: Verification | null;
  /** 2 or more for a repeated event. */
  delivery: number;
  status: number;
  /** The reason for `status`; null if it is the configured one or the program's. */
  fault: string | null;
  forwarded: boolean;
}

export interface ReceiveOptions {
  clock: Clock;
  secret: string | null;
  /** The program that responds instead of `status`. */
  forwardTo: URL | null;
  /** The status for a valid delivery. */
  status: number;
}

/** Older events are forgotten, so a repeat of one looks new. */
const MAX_REMEMBERED_EVENTS = 10_000;

type Outcome = { receipt: Receipt; reply: Reply };

export function createReceiver(
  options: ReceiveOptions,
): (request: IncomingRequest) => Promise<Outcome> {
  const { clock, secret } = options;
  const deliveryCounts = new Map<string, number>();
  const countDelivery = (id: string): number => {
    const deliveries = (deliveryCounts.get(id) ?? 0) + 1;
    deliveryCounts.set(id, deliveries);
    if (deliveryCounts.size > MAX_REMEMBERED_EVENTS)
      deliveryCounts.delete(deliveryCounts.keys().next().value!);
    return deliveries;
  };
  return async ({ method, headers, body }) => {
    const at = clock.now();
    const json = parseJson(body);
    const event = readEvent(json);
    const singleHeaders = headers as Record<string, string | undefined>;
    const verification =
      secret === null || body === null || method !== 'POST'
        ? null
        : verifySignature({ headers: singleHeaders, body, secret, now: at });
    const rejection = findRejection(method, body, event, verification);
    const delivery = event && !rejection ? countDelivery(event.id) : 1;
    const common = { at, event, json, verification, delivery };
    if (rejection) {
      const [status, fault] = rejection;
      const receipt = { ...common, status, fault, forwarded: false };
      const extraHeaders: Record<string, string> = status === 405 ? { allow: 'POST' } : {};
      return { receipt, reply: textReply(status, fault, extraHeaders) };
    }
    return { ...(await respond(common, headers, body!, options)) };
  };
}

/** Status and reason for a delivery that is rejected; null for a valid one. */
function findRejection(
  method: string,
  body: Buffer | null,
  event: ReceivedEvent | null,
  verification: Verification | null,
): [number, string] | null {
  if (method !== 'POST') return [405, 'only POST is allowed'];
  if (body === null) return [413, 'the body is larger than 1 MB'];
  if (verification?.verified === false) return [400, verification.reason];
  return event === null ? [400, 'the body is not an event'] : null;
}

async function respond(
  common: Omit<Receipt, 'status' | 'fault' | 'forwarded'>,
  headers: IncomingRequest['headers'],
  body: Buffer,
  { forwardTo, status }: ReceiveOptions,
): Promise<Outcome> {
  if (forwardTo === null) {
    const receipt = { ...common, status, fault: null, forwarded: false };
    return {
      receipt,
      reply: textReply(status, status < 300 ? 'received' : 'status set with --status'),
    };
  }
  const outcome = await forward(forwardTo, headers, body);
  if ('reply' in outcome) {
    const receipt = { ...common, status: outcome.reply.status, fault: null, forwarded: true };
    return { receipt, reply: outcome.reply };
  }
  // The full URL may contain passwords, even in its query, so the client does not see it.
  const fault = `${forwardTo.origin}${forwardTo.pathname} did not respond: ${outcome.error}`;
  return {
    receipt: { ...common, status: 502, fault, forwarded: true },
    reply: textReply(502, 'your program did not respond'),
  };
}

function textReply(status: number, text: string, headers: Record<string, string> = {}): Reply {
  const type = { 'content-type': 'text/plain; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: `${text}\n` };
}

function parseJson(body: Buffer | null): unknown {
  try {
    return body === null ? null : JSON.parse(body.toString());
  } catch {
    return null;
  }
}

function readEvent(json: unknown): ReceivedEvent | null {
  const { id, type, livemode, data, object } = (json ?? {}) as Record<string, unknown>;
  if (object !== 'event' || typeof id !== 'string' || typeof type !== 'string') return null;
  const hasData = typeof data === 'object' && data !== null;
  return { id, type, livemode: livemode === true, data: hasData ? { ...data } : {} };
}

// Forwards a delivery to the developer's program and returns its response.

/** As long as the service waits for a response. */
const FORWARD_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Hop-by-hop header fields, which are not forwarded (RFC 9110 §7.6.1). */
const HOP_BY_HOP_FIELDS = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The response, or the reason why there is none. */
type ForwardResult = { reply: Reply } | { error: string };

/** Posts the delivery with the same header fields; never rejects. */
export async function forward(
  to: URL,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): Promise<ForwardResult> {
  try {
    const response = await post(to, endToEndHeaders(headers), body);
    if (response === null) return { error: 'it closed the connection' };
    const { statusCode = 0 } = response;
    if (!(statusCode >= 200 && statusCode <= 599)) {
      response.destroy();
      return { error: `it responded with status ${statusCode}, which is not a final response` };
    }
    const responseBody = await readAll(response);
    if (responseBody === null) return { error: 'its response is larger than 1 MB' };
    return {
      reply: { status: statusCode, headers: endToEndHeaders(response.headers), body: responseBody },
    };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    if (name === 'AbortError' || name === 'TimeoutError')
      return { error: `no response within ${FORWARD_TIMEOUT_MS / 1000} s` };
    return { error: code === 'ECONNREFUSED' ? 'connection refused' : (code ?? String(error)) };
  }
}

/** null if the connection closes without a response. A response with status 101 has no body. */
function post(
  to: URL,
  headers: Record<string, string | string[]>,
  body: Uint8Array,
): Promise<IncomingMessage | null> {
  const request = to.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(to, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.byteLength) },
      // The program may have closed a kept-alive connection in the meantime.
      agent: false,
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    })
      .on('response', resolve)
      .on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .on('close', () => resolve(null))
      .end(body);
  });
}

async function readAll(response: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function endToEndHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const dropped = new Set(HOP_BY_HOP_FIELDS);
  for (const name of headers.connection?.split(',') ?? []) dropped.add(name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || dropped.has(name) ? [] : [[name, value]],
    ),
  );
}
