/** The HTTPS server of `listen`: reads requests whole, and tells of connections that ask nothing. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from '../../lib/certificates.ts';

const MAX_BYTES = 1024 * 1024;
/** For a request, headers and body. */
const REQUEST_MS = 30_000;
/** What runs at the end may take so long. */
const GRACE_MS = 2000;

export interface Incoming {
  method: string;
  headers: IncomingHttpHeaders;
  /** null where it is larger than 1 MiB. */
  body: Buffer | null;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Uint8Array;
}

/** `untrusting` may also be one that has only looked whether anybody listens. */
export type Stranger = 'plain_http' | 'untrusting';

export interface ServerOptions {
  /** An address. */
  host: string;
  port: number;
  tls: KeyPair;
  handle(request: Incoming): Promise<Reply>;
  /** Somebody connected and sent no request that could be read. */
  onStranger(kind: Stranger): void;
  /** `handle` rejected, or gave what cannot be sent: the caller is answered 500. */
  onFailure(error: unknown): void;
}

export interface ListenServer {
  port: number;
  close(): Promise<void>;
}

/** Rejects with the system's error where the address cannot be listened on. */
export async function startListenServer(options: ServerOptions): Promise<ListenServer> {
  const { host, port, tls, onStranger } = options;
  const settings = { ...tls, minVersion: 'TLSv1.2' as const, requestTimeout: REQUEST_MS };
  const asked = new WeakSet<object>();
  const server = createServer(settings, async (request, response) => {
    asked.add(request.socket);
    await answer(request, response, options);
  });
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) =>
    onStranger(code === 'ERR_SSL_HTTP_REQUEST' ? 'plain_http' : 'untrusting'),
  );
  // A client that looks at the certificate after the handshake just goes.
  server.on('secureConnection', (socket: TLSSocket) =>
    socket.once('close', () => {
      if (!asked.has(socket)) onStranger('untrusting');
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { handle, onFailure }: ServerOptions,
): Promise<void> {
  let body: Buffer | null;
  try {
    body = await readBody(request);
  } catch {
    // The caller has gone in the middle of it.
    response.destroy();
    return;
  }
  try {
    const { method = '', headers } = request;
    const reply = await handle({ method, headers, body });
    response.writeHead(reply.status, { ...reply.headers, ...lengthOf(reply) }).end(reply.body);
  } catch (error) {
    onFailure(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  }
}

/** Said, so that the service need not read all of a long answer to know that it is whole. */
function lengthOf({ status, body }: Reply): Record<string, number> {
  return status === 204 || status === 304 ? {} : { 'content-length': Buffer.byteLength(body) };
}

/** What is too much is read and dropped: a caller who still writes would not hear the answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BYTES ? Buffer.concat(chunks) : null;
}

async function close(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await ended;
  clearTimeout(timer);
}
