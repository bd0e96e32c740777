/** The HTTPS server of `listen`: reads whole requests, and reports connections that send none. */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from '../../lib/certificates.ts';

const MAX_BYTES = 1024 * 1024;
/** For a whole request, headers and body. */
const REQUEST_TIMEOUT_MS = 30_000;
/** For requests in flight when the server closes. */
const CLOSE_TIMEOUT_MS = 2000;

export interface IncomingRequest {
  method: string;
  headers: IncomingHttpHeaders;
  /** null if it is larger than 1 MiB. */
  body: Buffer | null;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[]>;
  body: string | Uint8Array;
}

/** `untrusting`: the client rejected the certificate, or only probed the port. */
export type ConnectionFault = 'plain_http' | 'untrusting';

export interface ServerOptions {
  /** An IP address. */
  host: string;
  port: number;
  tls: KeyPair;
  handle(request: IncomingRequest): Promise<Reply>;
  /** A client connected and sent no readable request. */
  onFailedConnection(fault: ConnectionFault): void;
  /** `handle` rejected, or returned a reply that cannot be sent; the response is 500. */
  onFailure(error: unknown): void;
}

export interface ListenServer {
  port: number;
  close(): Promise<void>;
}

/** Rejects with the system error if it cannot listen on the address. */
export async function startListenServer(options: ServerOptions): Promise<ListenServer> {
  const { host, port, tls, onFailedConnection } = options;
  const settings = { ...tls, minVersion: 'TLSv1.2' as const, requestTimeout: REQUEST_TIMEOUT_MS };
  const socketsWithRequests = new WeakSet<object>();
  const server = createServer(settings, async (request, response) => {
    socketsWithRequests.add(request.socket);
    await respond(request, response, options);
  });
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) =>
    onFailedConnection(code === 'ERR_SSL_HTTP_REQUEST' ? 'plain_http' : 'untrusting'),
  );
  // A client that checks the certificate only after the handshake just closes the connection.
  server.on('secureConnection', (socket: TLSSocket) =>
    socket.once('close', () => {
      if (!socketsWithRequests.has(socket)) onFailedConnection('untrusting');
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { handle, onFailure }: ServerOptions,
): Promise<void> {
  let body: Buffer | null;
  try {
    body = await readBody(request);
  } catch {
    // The client closed the connection before the end of the body.
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

/** Lets the service know that a long response is complete without reading all of it. */
function lengthOf({ status, body }: Reply): Record<string, number> {
  return status === 204 || status === 304 ? {} : { 'content-length': Buffer.byteLength(body) };
}

/** Reads and discards the rest of an oversized body: a client that is still sending would miss the response. */
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
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}
