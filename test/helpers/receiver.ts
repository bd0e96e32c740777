/** A receiver of webhooks for tests: an HTTPS server on loopback that notes what it gets and answers as a test says. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeTestAuthority } from './authority.ts';

/** A request whose body has come whole. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
  body: string;
  /** By the real clock. */
  at: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** A status, or more; `null`: it has answered by itself (or does not at all), with the `response`. */
type Answer = number | Reply | null;

export interface Receiver {
  /** `https://127.0.0.1:<port>/hooks`. */
  url: string;
  port: number;
  /** PEM of the authority that has issued its certificate, and a file that holds it. */
  ca: string;
  caFile: string;
  /** For `startTestService({ env })`: that it may be called, and is trusted. */
  env: { DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS: string; DELIVERABILITY_WEBHOOK_CA_FILE: string };
  /** All there were, in the order in which they came. */
  requests: Received[];
  /** Set by the test at any time, 200 at first; a promise keeps the caller waiting. */
  answer(request: Received, response: ServerResponse): Answer | Promise<Answer>;
  /** Resolves with the requests as soon as there are so many in all; rejects after ten seconds. */
  until(count: number): Promise<Received[]>;
}

export interface ReceiverOptions {
  /** Names that its certificate is for too, beside 127.0.0.1. */
  names?: string[];
}

const PATIENCE_MS = 10_000;

/** Ended with its test, whatever is still open. */
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
      for (const look of waiting) look();
      reply(response, await receiver.answer(received, response));
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
    answer: () => 200,
    until: (count) =>
      new Promise((resolve, reject) => {
        const { requests } = receiver;
        const end = () => {
          waiting.delete(look);
          clearTimeout(timer);
        };
        const look = () => {
          if (requests.length < count) return;
          end();
          resolve(requests);
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`${requests.length} requests came in time, not ${count}`));
        }, PATIENCE_MS);
        waiting.add(look);
        look();
      }),
  };
  t.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  return receiver;
}

/** null for one that is cut short. */
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
