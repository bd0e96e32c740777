/**
 * The guarded HTTP client: HTTP and HTTPS to public addresses only, checked at the moment of connection.
 *
 * Why not a library: node:http implements the protocol itself. undici would replace only the
 * connections and the reading of responses. In our tests, it made the code no shorter or faster, and
 * took 10 MB more memory. Its `connect` belongs to a client, not to a request, so it has no deadline
 * per request. It cannot limit idle connections across hosts. It treats an unrequested `100 Continue`
 * as a broken response, which RFC 9110 §15.2 does not allow.
 */

import { request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { parseNetwork } from '../../lib/addresses.ts';
import { isoTime } from '../../lib/clock.ts';
import { createSemaphore, startDeadline } from '../../lib/concurrency.ts';
import type { Resolver } from '../dns/resolver.ts';
import { type ConnectorOptions, createConnector, failed, timedOut } from '../guarded-connection.ts';
import { MAX_HEADER_BYTES, readResponse } from './response.ts';
import {
  type HttpTarget,
  parseHttpTarget,
  type WebClient,
  type WebRequest,
  type WebResult,
} from './web.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

export interface WebClientOptions extends ConnectorOptions {
  /** Maximum number of concurrent requests; others wait, within their own time limit. */
  maxInFlight?: number;
  /** Whether requests without TLS are for private networks only. */
  hasPrivateHttp?: boolean;
}

/**
 * Creates a stateless client: no cookies, persistent connections, proxy, credentials or redirects.
 * Each request has its own connection and one deadline.
 */
export function createWebClient(options: WebClientOptions): WebClient {
  const connect = createConnector(options);
  const semaphore = createSemaphore(options.maxInFlight ?? 100);
  return async ({ url, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, onSecured, ...request }) => {
    const target = parseHttpTarget(url);
    if (typeof target === 'string') return failed('bad_url', target);
    if (request.signal?.aborted) return timedOut();
    const { signal, stop } = startDeadline(timeoutMs, request.signal);
    try {
      if (!(await semaphore.acquire(signal))) return timedOut();
      try {
        const privateOnly = !target.secure && options.hasPrivateHttp === true;
        const connection = await connect({ ...target, privateOnly }, signal, timeoutMs);
        if (connection.status === 'failed') return connection;
        if (onSecured && connection.socket instanceof TLSSocket)
          onSecured({
            tls_version: connection.socket.getProtocol(),
            certificate_expires_at: isoTime(
              Date.parse(connection.socket.getPeerCertificate().valid_to),
            ),
          });
        return await sendRequest(connection.socket, { ...request, target, maxBytes }, signal);
      } finally {
        semaphore.release();
      }
    } catch {
      // System errors only, for example when no sockets are left.
      return failed('connection', 'could not send the request');
    } finally {
      stop();
    }
  };
}

/** Any address, except those that the guard forbids in any network. */
const ANY_NETWORK = ['0.0.0.0/0', '::/0'].map(parseNetwork);

/** A client for servers that the administrator has chosen, which may be in a private network. */
export const createTrustedWebClient = (resolver: Resolver): WebClient =>
  createWebClient({ resolver, allowNetworks: ANY_NETWORK });

const USER_AGENT = 'deliverability/1 (+link check)';

interface Exchange extends Pick<WebRequest, 'method' | 'headers' | 'body' | 'isBodyOptional'> {
  target: HttpTarget;
  maxBytes: number;
}

/** Sends one HTTP/1.1 request over an open connection, until the signal aborts; always destroys the socket. */
async function sendRequest(
  socket: Duplex,
  { method, headers, body, target, maxBytes, isBodyOptional }: Exchange,
  signal: AbortSignal,
): Promise<WebResult> {
  const tooLongFailure = isBodyOptional ? null : failed('too_large', 'the response is too long');
  try {
    const request = openRequest({
      // Without an agent, the connection is not reused and proxy environment variables are ignored.
      createConnection: () => socket,
      method,
      path: target.path,
      setHost: false,
      headers: {
        Host: target.authority,
        'User-Agent': USER_AGENT,
        Accept: '*/*',
        ...headers,
        ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
        'Accept-Encoding': 'identity',
        Connection: 'close',
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    });
    const { response, failure } = await readResponse(
      request,
      body,
      { maxBytes, tooLongFailure },
      signal,
    );
    return failure && !(isBodyOptional && response)
      ? failed(failure.reason, failure.detail)
      : { status: 'answered', ...response! };
  } finally {
    socket.destroy();
  }
}
