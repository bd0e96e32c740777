/** The HTTP server: node:http with time-outs, TLS where configured, and an end that waits for what runs. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../lib/errors.ts';
import type { NewId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { PROBLEM_TYPE, problemOf, problemResponse } from './problem.ts';
import { COMMON_HEADERS } from './response.ts';
import type { Fetch } from './router.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** PEM; without it plain HTTP. */
  tls?: { cert: string; key: string };
  fetch: Fetch;
  log: Log;
  newId: NewId;
  /** Milliseconds; shorter in tests. */
  timeouts?: Partial<typeof TIMEOUTS>;
}

/** Headers in 10 s, the whole request (a 25 MiB message on a slow line too) in 2 min, idle for 65 s. */
const TIMEOUTS = { headers: 10_000, request: 120_000, idle: 65_000, checkEvery: 2_000 };

export interface HttpListener {
  port: number;
  /** The pair for new connections. Throws for one that cannot be used; the old one then stays. */
  updateTls(pair: { cert: string; key: string }): void;
  /** Takes nothing new, lets running requests end within the time, then cuts them off. */
  close(graceMs: number): Promise<void>;
}

/** Rejects with the system's error where the address cannot be listened on. */
export async function startHttp(options: HttpOptions): Promise<HttpListener> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const listener = getRequestListener(options.fetch, {
    errorHandler: (error) => answerBelowRouter(error, options),
    // For HTTP/1.0, which needs no Host: the checks of some balancers.
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
  const connections = connectionsOf(server);
  server.on('clientError', (error, socket) => answerClientError(error, socket, options));
  server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) =>
    refuseExpectation(response, options),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  server.on('error', (error) => options.log.error('http server', { error: error.message }));
  return {
    port: (server.address() as AddressInfo).port,
    updateTls(pair) {
      // Node takes empty ones without a word, and then serves nothing.
      if (!pair.cert || !pair.key) throw new Error('the certificate or its key is empty');
      if ('setSecureContext' in server)
        (server as never as { setSecureContext(p: object): void }).setSecureContext(
          tlsContext(pair),
        );
    },
    close: (graceMs) => close(server, connections, graceMs),
  };
}

/** What cannot even be made a request of, such as one with an impossible Host; else it is a bug. */
function answerBelowRouter(error: unknown, { newId, log }: HttpOptions): Response {
  const requestId = newId('req');
  const answer = (problem: AppError) => problemResponse(problem, requestId, COMMON_HEADERS);
  if (error instanceof Error && error.name === 'RequestError') {
    log.info('request', { request_id: requestId, status: 400 });
    return answer(new AppError('malformed_request', 'Bad Request.'));
  }
  log.error('request failed', { request_id: requestId, fault: String(error) });
  return answer(new AppError('internal_error', 'It has been logged.'));
}

const tlsContext = ({ cert, key }: { cert: string; key: string }) => ({
  cert,
  key,
  minVersion: 'TLSv1.2' as const,
});

/** All that are open; Node's own list lacks those in a TLS handshake. */
function connectionsOf(server: Server): Set<Socket> {
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
  // A connection whose request ends from now on is not kept for another.
  server.keepAliveTimeout = 1;
  server.keepAliveTimeoutBuffer = 0;
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Those that have never asked anything are not idle to Node: browsers open some to be ready.
  for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  server.on('secureConnection', (socket: Socket) => socket.destroy());
  const timer = setTimeout(() => {
    for (const socket of open) socket.destroy();
  }, graceMs);
  await ended;
  clearTimeout(timer);
}

/** What is not HTTP, has too many headers or comes too slowly never reaches the router. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { _httpMessage?: ServerResponse },
  options: HttpOptions,
): void {
  // Once an answer has begun, as in Node's own handler, nothing may be written into it.
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, reason]: [number, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request'];
  const { fields, body } = refusalOf(status, `${reason}.`, options);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** `Expect` with anything but `100-continue` (RFC 9110 §10.1.1), which Node keeps from the router. */
function refuseExpectation(response: ServerResponse, options: HttpOptions): void {
  const detail = 'Of what a request may expect, 100-continue alone is known here.';
  const { fields, body } = refusalOf(417, detail, options);
  response.writeHead(417, fields).end(body);
}

/** What is answered below the router, written down in the log. */
function refusalOf(status: number, detail: string, { newId, log }: HttpOptions) {
  const requestId = newId('req');
  const known = problemOf(new AppError('malformed_request', detail), requestId);
  const body = JSON.stringify({ ...known, status });
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
