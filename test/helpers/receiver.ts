/** A webhook receiver for tests: an HTTPS server on loopback that records requests and responds as configured. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeTestAuthority } from './authority.ts';

/** A request with its complete body. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Alternating names and values, in their original order. */
  rawHeaders: string[];
  body: string;
  /** In milliseconds, by the system clock. */
  at: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** A status or a reply; null if the handler uses `response` itself, or does not respond. */
type Answer = number | Reply | null;

export interface Receiver {
  /** `https://127.0.0.1:<port>/hooks`. */
  url: string;
  port: number;
  /** The CA certificate of the receiver in PEM, and a file with it. */
  ca: string;
  caFile: string;
  /** For `startTestService({ env })`: allows and trusts this receiver. */
  env: { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: string; DELIVERABILITY_WEBHOOK_CA_FILE: string };
  /** All requests in order of receipt. */
  requests: Received[];
  /** Tests may replace it at any time. By default, it responds with 200; a promise delays the response. */
  respond(request: Received, response: ServerResponse): Answer | Promise<Answer>;
  /** Resolves with all requests when there are at least `count`; rejects after ten seconds. */
  waitForRequests(count: number): Promise<Received[]>;
}

export interface ReceiverOptions {
  /** Names in its certificate besides 127.0.0.1. */
  names?: string[];
}

const WAIT_TIMEOUT_MS = 10_000;

/** Stops when the test ends, and closes open connections. */
export async function startReceiver(
  t: TestContext,
  { names = [] }: ReceiverOptions = {},
): Promise<Receiver> {
  const authority = await makeTestAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'));
  const caFile = join(folder, 'authority.pem');
  writeFileSync(caFile, authority.ca);
  const waiting = new Set<() => void>();
  const server = createServer(
    await authority.issue(['127.0.0.1', ...names]),
    async (request, response) => {
      const received = await readAll(request);
      if (received === null) return;
      receiver.requests.push(received);
      for (const check of waiting) check();
      reply(response, await receiver.respond(received, response));
    },
  ).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `https://127.0.0.1:${port}/hooks`,
    port,
    ca: authority.ca,
    caFile,
    env: {
      DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
      DELIVERABILITY_WEBHOOK_CA_FILE: caFile,
    },
    requests: [],
    respond: () => 200,
    waitForRequests: (count) =>
      new Promise((resolve, reject) => {
        const { requests } = receiver;
        const end = () => {
          waiting.delete(check);
          clearTimeout(timer);
        };
        const check = () => {
          if (requests.length < count) return;
          end();
          resolve(requests);
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`received ${requests.length} of ${count} requests in time`));
        }, WAIT_TIMEOUT_MS);
        waiting.add(check);
        check();
      }),
  };
  t.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  return receiver;
}

/** Null for an incomplete request. */
async function readAll(request: IncomingMessage): Promise<Received | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return null;
  }
  const { method = '', url = '', headers, rawHeaders } = request;
  const body = Buffer.concat(chunks).toString();
  return { method, path: url, headers, rawHeaders, body, at: Date.now() };
}

function reply(response: ServerResponse, answer: Answer): void {
  if (answer === null) return;
  const {
    status = 200,
    headers = {},
    body = '',
  } = typeof answer === 'number' ? { status: answer } : answer;
  response.writeHead(status, headers).end(body);
}
