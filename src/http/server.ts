/** The HTTP server: node:http with time-outs, TLS where configured, and an end that waits for what runs. */

import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Log } from '../lib/log.ts';
import { PROBLEM_TYPE } from './problem.ts';
import type { Fetch } from './router.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** PEM; without it plain HTTP. */
  tls?: { cert: string; key: string };
  fetch: Fetch;
  log: Log;
  /** Milliseconds; shorter in tests. */
  timeouts?: Partial<typeof TIMEOUTS>;
}

/** Headers in 10 s, the whole request (a 25 MiB message on a slow line too) in 2 min, idle for 65 s. */
const TIMEOUTS = { headers: 10_000, request: 120_000, idle: 65_000, checkEvery: 2_000 };

export interface HttpListener {
  port: number;
  updateTls(pair: { cert: string; key: string }): void;
  /** Takes nothing new, lets running requests end within the time, then cuts them off. */
  close(graceMs: number): Promise<void>;
}

/** Rejects with the system's error where the address cannot be listened on. */
export async function startHttp(options: HttpOptions): Promise<HttpListener> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const listener = getRequestListener(options.fetch, {
    errorHandler: (error) => {
      options.log.error('request failed', { fault: String(error) });
      return new Response(null, { status: 500 });
    },
  });
  const settings = {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.idle,
    connectionsCheckingInterval: timeouts.checkEvery,
  };
  const server: Server = options.tls
    ? createTlsServer({ ...settings, ...options.tls, minVersion: 'TLSv1.2' }, listener)
    : createServer(settings, listener);
  server.on('clientError', answerClientError);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  server.on('error', (error) => options.log.error('http server', { error: error.message }));
  return {
    port: (server.address() as AddressInfo).port,
    updateTls(pair) {
      if ('setSecureContext' in server)
        (server as never as { setSecureContext(p: object): void }).setSecureContext(pair);
    },
    close: (graceMs) => close(server, graceMs),
  };
}

async function close(server: Server, graceMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await ended;
  clearTimeout(timer);
}

/** What is not HTTP, has too many headers or comes too slowly never reaches the router. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: import('node:stream').Duplex,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request'];
  const body = JSON.stringify({
    object: 'error',
    type: '/errors/malformed_request',
    title: 'The request cannot be read',
    status,
    detail: `${reason}.`,
    code: 'malformed_request',
  });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
