/** The HTTP server: node:http with timeouts, optional TLS, and graceful shutdown. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import type { Network } from '../lib/addresses.ts';
import type { ConnectionLimits } from '../lib/connection-limits.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';
import type { NewId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { Connections, HTTP_LIMITS } from './connections.ts';
import { internalError, PROBLEM_TYPE, problemOf, problemResponse } from './problem.ts';
import { COMMON_HEADERS } from './response.ts';
import type { Fetch } from './router.ts';
import { createTurns } from './turns.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** In PEM format. Without it, the server uses plain HTTP. */
  tls?: { cert: string; key: string };
  /** The certificate for a name that a client asks for (SNI, RFC 6066 §3); by default, that of `tls`. */
  contextFor?(name: string): SecureContext | undefined;
  fetch: Fetch;
  log: Log;
  newId: NewId;
  limits?: ConnectionLimits;
  /** The connections of these proxies are not limited per client, but the requests of their clients are. */
  trustedProxies?: Network[];
  /** In milliseconds; shorter in tests. */
  timeouts?: Partial<typeof HTTP_TIMEOUTS>;
}

/**
 * In milliseconds. The `request` timeout lets slow clients upload a message of 25 MiB. Nothing keeps a
 * connection open for longer than these, even if the client never closes its side.
 */
export const HTTP_TIMEOUTS = {
  handshake: 10_000,
  headers: 10_000,
  request: 120_000,
  idle: 65_000,
  linger: 2_000,
  stall: 60_000,
  response: 1_800_000,
  checkEvery: 2_000,
};

export interface HttpListener {
  port: number;
  /** Sets the certificate of new connections. Throws if the pair is invalid, and keeps the current one. */
  updateTls(pair: { cert: string; key: string }): void;
  /** The number of open connections. */
  connections(): number;
  /** Whether connections were refused or closed within the last minute because there were too many. */
  isLimitReached(): boolean;
  /** Stops accepting requests, waits up to `graceMs` for running ones, then closes all connections. */
  close(graceMs: number): Promise<void>;
}

/** Rejects with the system error if the server can't listen on the address. */
export async function startHttp(options: HttpOptions): Promise<HttpListener> {
  const timeouts = { ...HTTP_TIMEOUTS, ...options.timeouts };
  const handleRequest = getRequestListener(options.fetch, {
    errorHandler: (error) => respondToListenerError(error, options),
    // For HTTP/1.0 requests without `Host`, as some load balancers send.
    hostname: 'localhost',
  });
  const settings = {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: timeouts.checkEvery,
    // `hasOneHost` checks that, and more.
    requireHostHeader: false,
  };
  const connections = new Connections({
    limits: options.limits ?? HTTP_LIMITS,
    timeouts,
    trustedProxies: options.trustedProxies ?? [],
    log: options.log,
    refusal: options.tls ? null : () => refusalText(options),
  });
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (!connections.begin(request, response)) return rejectRequest(response, options);
    if (!hasOneHost(request)) return rejectHosts(response, options);
    void handleRequest(request, response)?.then(() => connections.hold(request, response));
  };
  const rejectExpect = (request: IncomingMessage, response: ServerResponse) => {
    connections.begin(request, response);
    rejectExpectation(response, options);
  };
  const takeTurn = createTurns();
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    takeTurn(request, response, serve);
  const server: Server = options.tls
    ? createTlsServer(
        {
          ...settings,
          handshakeTimeout: timeouts.handshake,
          SNICallback: (name, done) => done(null, options.contextFor?.(name)),
          ...tlsContext(options.tls),
        },
        listener,
      )
    : createServer(settings, listener);
  admitConnections(server, connections);
  server.on('clientError', (error, socket) =>
    respondToClientError(error, socket, connections, options),
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    takeTurn(request, response, rejectExpect),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  // The server goes on: the system may have no more file handles for a while.
  server.on('error', (error) => connections.logs.accept.record({ error: error.message }));
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
    connections: () => connections.size(),
    isLimitReached: () => connections.isLimitReached(),
    close: (graceMs) => close(server, connections, graceMs),
  };
}

/** For errors before the router runs: an invalid request, such as one with an invalid `Host`, or a bug. */
function respondToListenerError(error: unknown, { newId, log }: HttpOptions): Response {
  const requestId = newId('req');
  const respond = (problem: AppError) => problemResponse(problem, requestId, COMMON_HEADERS);
  if (isInvalidRequest(error)) {
    log.info('request', { request_id: requestId, status: 400 });
    return respond(new AppError('malformed_request', BAD_REQUEST));
  }
  log.error('request failed', { request_id: requestId, fault: String(error) });
  return respond(internalError());
}

/** The library rejects an invalid `Host`; some invalid targets only fail when they are parsed as a URL. */
const isInvalidRequest = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'RequestError' || ('code' in error && error.code === 'ERR_INVALID_URL'));

const BAD_REQUEST = "The request isn't valid HTTP.";

const tlsContext = ({ cert, key }: { cert: string; key: string }) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
});

/** Refused connections never reach Node's HTTP or TLS code, and so cost little. */
function admitConnections(server: Server, connections: Connections): void {
  const handlers = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket)) return;
    for (const handle of handlers) handle.call(server, socket);
  });
  server.on('secureConnection', (socket: Socket) => connections.secured(socket));
}

async function close(server: Server, connections: Connections, graceMs: number): Promise<void> {
  // Closes each connection after its current request.
  server.keepAliveTimeout = 1;
  server.keepAliveTimeoutBuffer = 0;
  const allClosed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Node doesn't count connections without a first request as idle. Browsers open some in advance.
  connections.destroyUnused();
  server.on('secureConnection', (socket: Socket) => socket.destroy());
  const timer = setTimeout(() => connections.destroyAll(), graceMs);
  await allClosed;
  clearTimeout(timer);
  connections.stop();
}

/** For requests that never reach the router: not HTTP, too slow, or with oversized headers. */
function respondToClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { _httpMessage?: ServerResponse },
  connections: Connections,
  options: HttpOptions,
): void {
  // What follows an invalid request is invalid too; the client may still be reading the response.
  if (connections.isFinishing(socket)) return;
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
  const rejection = createRejection(status, detail, options);
  connections.finish(socket, responseText(status, reason, rejection));
}

/** A response as the last bytes of a connection. */
function responseText(status: number, reason: string, { fields, body }: Rejection): string {
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const TOO_MANY_CONNECTIONS = 'Too many open connections. Close some, then try again in 5 seconds.';
const RETRY_AFTER = { 'Retry-After': '5' };

/** The response to a connection over the limit. Not logged: there can be thousands. */
function refusalText({ newId }: HttpOptions): string {
  const rejection = rejectionOf(503, 'unavailable', TOO_MANY_CONNECTIONS, newId('req'));
  const fields = { ...rejection.fields, ...RETRY_AFTER };
  return responseText(503, 'Service Unavailable', { ...rejection, fields });
}

/** The response to a request of a client behind a proxy that has too many running. */
function rejectRequest(response: ServerResponse, { newId }: HttpOptions): void {
  const { fields, body } = rejectionOf(503, 'unavailable', TOO_MANY_CONNECTIONS, newId('req'));
  response.writeHead(503, { ...fields, ...RETRY_AFTER }).end(body);
}

/** For `Expect` with any value but `100-continue` (RFC 9110 §10.1.1). The router doesn't get such requests. */
function rejectExpectation(response: ServerResponse, options: HttpOptions): void {
  const detail = 'Unsupported Expect header. Only 100-continue is supported.';
  const { fields, body } = createRejection(417, detail, options);
  response.writeHead(417, fields).end(body);
}

/**
 * RFC 9112 §3.2. Of several, Node keeps the first, and a proxy may have used another one. HTTP/1.0 needs none, and some load
 * balancers send none.
 */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') count += 1;
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

function rejectHosts(response: ServerResponse, options: HttpOptions): void {
  const { fields, body } = createRejection(400, 'Send exactly one Host header field.', options);
  response.writeHead(400, { ...fields, Connection: 'close' }).end(body);
}

interface Rejection {
  fields: Record<string, string>;
  body: string;
}

/** A response that bypasses the router. Logs the request. */
function createRejection(status: number, detail: string, { newId, log }: HttpOptions): Rejection {
  const requestId = newId('req');
  log.info('request', { request_id: requestId, status });
  return rejectionOf(status, 'malformed_request', detail, requestId);
}

function rejectionOf(
  status: number,
  code: ErrorCode,
  detail: string,
  requestId: string,
): Rejection {
  const body = JSON.stringify({ ...problemOf(new AppError(code, detail), requestId), status });
  const fields = {
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': `${Buffer.byteLength(body)}`,
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    ...COMMON_HEADERS,
  };
  return { fields, body };
}
