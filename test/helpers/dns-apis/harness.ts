/** Serves the API of a name server on loopback, and lets a test make it fail. */

import type { TestContext } from 'node:test';
import type { NameServer, ServerContext } from '../../../src/dns-changes/server.ts';
import { parseNetwork } from '../../../src/lib/addresses.ts';
import { zoneResolver } from '../../../src/net/dns/zone.ts';
import { createWebClient } from '../../../src/net/http/client.ts';
import { loopbackContext } from '../bind.ts';
import { type HttpExchange, startHttpScript } from '../http-script.ts';
import { plainValue, type Records, zoneData } from './records.ts';

export interface Answer {
  status: number;
  /** JSON, unless it is text. */
  body?: unknown;
  headers?: Record<string, string>;
}

export type Request = Omit<HttpExchange, 'response' | 'json'>;

/** In which way requests fail: `cut` makes the change, and ends the connection without an answer. */
export type Fault = 'throttled' | 'unavailable' | 'broken' | 'slow' | 'cut' | 'busy' | 'hostile';

/** A name server of one kind, for the tests of what all kinds do. */
export interface Harness {
  /** With valid credentials. It gives up early if `timeoutMs` is given. */
  open(options?: { timeoutMs?: number }): NameServer;
  /** With credentials that the server does not know; null if the kind has none. */
  openWrong: (() => NameServer) | null;
  /** Changes records past the service. */
  put(name: string, type: string, values: string[], ttl?: number): void | Promise<void>;
  values(name: string, type: string): string[] | Promise<string[]>;
  /** Until it is null. `write`: only requests that change records. */
  fault: { kind: Fault; on: 'all' | 'write' } | null;
}

export interface ServedHarness extends Harness {
  requests: Request[];
  /** What somebody else does between the last reading and the change. */
  beforeWrite?: () => void;
}

interface Served {
  records: Records;
  answer(request: Request): Answer;
  isWrite(request: Request): boolean;
  /** The address of the real service, which requests go to. */
  origin?: string;
  radix?: 8 | 10;
  open(context: ServerContext, url: string, isWrong: boolean): NameServer;
  hasCredentials?: boolean;
}

export async function startHarness(
  t: TestContext,
  { records, answer, isWrite, origin, radix, open, hasCredentials = true }: Served,
): Promise<ServedHarness> {
  const script = await startHttpScript(t, (exchange) => {
    const { fault } = harness;
    harness.requests.push(exchange);
    const isHit = fault !== null && (fault.on === 'all' || isWrite(exchange));
    const send = ({ status, body, headers = {} }: Answer) => {
      const type = typeof body === 'string' ? {} : { 'content-type': 'application/json' };
      exchange.response.writeHead(status, { ...type, ...headers });
      exchange.response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    if (isWrite(exchange)) harness.beforeWrite?.();
    if (!isHit) return send(answer(exchange));
    switch (fault.kind) {
      case 'throttled':
        return send({ status: 429, body: 'slow down', headers: { 'retry-after': '120' } });
      case 'busy':
        harness.fault = null;
        return send({ status: 429, body: 'slow down', headers: { 'retry-after': '0' } });
      case 'unavailable':
        return send({ status: 503, body: 'maintenance' });
      case 'hostile':
        return send({ status: 200, body: '['.repeat(20_000) });
      case 'cut':
        answer(exchange);
        return void exchange.response.destroy();
      case 'broken':
        return void exchange.response.destroy();
      case 'slow':
    }
  });
  const client = createWebClient({
    resolver: zoneResolver({}),
    allowNetworks: ['127.0.0.0/8'].map(parseNetwork),
  });
  const context = (timeoutMs?: number): ServerContext => ({
    ...loopbackContext(),
    web: async (request) =>
      client({ ...request, url: origin ? request.url.replace(origin, script.url) : request.url }),
    ...(timeoutMs && { signal: AbortSignal.timeout(timeoutMs) }),
  });
  const harness: ServedHarness = {
    open: ({ timeoutMs } = {}) => open(context(timeoutMs), script.url, false),
    openWrong: hasCredentials ? () => open(context(), script.url, true) : null,
    put: (name, type, values, ttl = 3600) =>
      records.put({ name, type, ttl, data: values.map((value) => zoneData(type, value, radix)) }),
    values: (name, type) =>
      (records.find(name, type)?.data ?? []).map((data) => plainValue(type, data, radix)),
    fault: null,
    requests: [],
  };
  return harness;
}
