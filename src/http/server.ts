/** The HTTP server: node:http with timeouts, optional TLS, and graceful shutdown. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../lib/errors.ts';
import type { NewId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { internalError, PROBLEM_TYPE, problemOf, problemResponse } from './problem.ts';
import { COMMON_HEADERS } from './response.ts';
import type { Fetch } from './router.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** In PEM format. Without it, the server uses plain HTTP. */
  tls?: { cert: string; key: string };
  fetch: Fetch;
  log: Log;
  newId: NewId;
  /** In milliseconds; shorter in tests. */
  timeouts?: Partial<typeof TIMEOUTS>;
}

/** In milliseconds. The `request` timeout lets slow clients upload a message of 25 MiB. */
const TIMEOUTS = { headers: 10_000, request: 120_000, idle: 65_000, checkEvery: 2_000 };

export interface HttpListener {
  port: number;
  /** Sets the certificate of new connections. Throws if the pair is invalid, and keeps the current one. */
  updateTls(pair: { cert: string; key: string }): void;
  /** Stops accepting requests, waits up to `graceMs` for running ones, then closes all connections. */
  close(graceMs: number): Promise<void>;
}

/** Rejects with the system error if the server can't listen on the address. */
export async function startHttp(options: HttpOptions): Promise<HttpListener> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const listener = getRequestListener(options.fetch, {
    errorHandler: (error) => respondToListenerError(error, options),
    // For HTTP/1.0 requests without `Host`, as some load balancers send.
    hostname: 'localhost',
  });
  const settings = {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: timeouts.checkEvery,
  };
  const server: Server = options.tls
    ? createTlsServer({ ...settings, ...tlsContext(options.tls) }, listener)
    : createServer(settings, listener);
  const connections = trackConnections(server);
  server.on('clientError', (error, socket) => respondToClientError(error, socket, options));
  server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) =>
    rejectExpectation(response, options),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  server.on('error', (error) => options.log.error('HTTP server error', { error: error.message }));
  return {
    port: (server.address() as AddressInfo).port,
    updateTls(pair) {
      // Node accepts empty values silently, and then every handshake fails.
      if (!pair.cert || !pair.key) throw new Error('the certificate or its key is empty');
      if ('setSecureContext' in server)
        (server as never as { setSecureContext(p: object): void }).setSecureContext(
          tlsContext(pair),
        );
    },
    close: (graceMs) => close(server, connections, graceMs),
  };
}

/** For errors before the router runs: an invalid request, such as one with an invalid `Host`, or a bug. */
function respondToListenerError(error: unknown, { newId, log }: HttpOptions): Response {
  const requestId = newId('req');
  const respond = (problem: AppError) => problemResponse(problem, requestId, COMMON_HEADERS);
  if (error instanceof Error && error.name === 'RequestError') {
    log.info('request', { request_id: requestId, status: 400 });
    return respond(new AppError('malformed_request', BAD_REQUEST));
  }
  log.error('request failed', { request_id: requestId, fault: String(error) });
  return respond(internalError());
}

const BAD_REQUEST = "The request isn't valid HTTP.";

const tlsContext = ({ cert, key }: { cert: string; key: string }) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
});

/** All open connections. Node's own list lacks those in a TLS handshake. */
function trackConnections(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  server.on('connection', track);
  server.on('secureConnection', track);
  return open;
}

async function close(server: Server, open: Set<Socket>, graceMs: number): Promise<void> {
  // Closes each connection after its current request.
  server.keepAliveTimeout = 1;
  server.keepAliveTimeoutBuffer = 0;
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Node doesn't count connections without a first request as idle. Browsers open some in advance.
  for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  server.on('secureConnection', (socket: Socket) => socket.destroy());
  const timer = setTimeout(() => {
    for (const socket of open) socket.destroy();
  }, graceMs);
  await ended;
  clearTimeout(timer);
}

/** For requests that never reach the router: not HTTP, too slow, or with oversized headers. */
function respondToClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { _httpMessage?: ServerResponse },
  options: HttpOptions,
): void {
  // As in Node's default handler: nothing may be written into a response that has started.
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, reason, detail]: [number, string, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'The request headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'The request took too long to arrive.']
        : [400, 'Bad Request', BAD_REQUEST];
  const { fields, body } = createRejection(status, detail, options);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** For `Expect` with any value but `100-continue` (RFC 9110 §10.1.1), which Node doesn't route. */
function rejectExpectation(response: ServerResponse, options: HttpOptions): void {
  const detail = 'Unsupported Expect header. Only 100-continue is supported.';
  const { fields, body } = createRejection(417, detail, options);
  response.writeHead(417, fields).end(body);
}

/** A response without the router. Writes the request to the log. */
function createRejection(status: number, detail: string, { newId, log }: HttpOptions) {
  const requestId = newId('req');
  const problem = problemOf(new AppError('malformed_request', detail), requestId);
  const body = JSON.stringify({ ...problem, status });
  log.info('request', { request_id: requestId, status });
  const fields = {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': `${Buffer.byteLength(body)}`,
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    ...COMMON_HEADERS,
  };
  return { fields, body };
}
