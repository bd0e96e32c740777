/**
 * The guarded HTTP client: HTTP and HTTPS to public addresses only, checked at the moment of connection.
 *
 * Why not a library: the protocol itself is node:http's. undici would replace only the connections
 * and the reading of the response, and was measured in their place: as many lines, no
 * faster, 10 MB more memory; its `connect` belongs to a client and not to a request, so it has
 * no deadline of its own; it has no limit on idle connections across hosts; and it treats an
 * unrequested `100 Continue` as a broken response, which RFC 9110 §15.2 does not allow.
 */

import { request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { limitInFlight, startDeadline } from '../../lib/concurrency.ts';
import { type ConnectorOptions, createConnector, failed, timedOut } from '../guarded-connection.ts';
import { MAX_HEADER_BYTES, readResponse } from './response.ts';
import {
  type HttpTarget,
  readHttpTarget,
  type Web,
  type WebAnswer,
  type WebRequest,
} from './web.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

export interface WebOptions extends ConnectorOptions {
  /** Requests at once; the others wait within their own time. */
  maxInFlight?: number;
}

/**
 * A stateless client: no cookies, no kept connections, no proxy, no credentials, no redirects
 * followed. Each request has one connection, and one deadline for all of it.
 */
export function createWeb(options: WebOptions): Web {
  const connect = createConnector(options);
  const gate = limitInFlight(options.maxInFlight ?? 100);
  return async ({ method, url, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES }) => {
    const target = readHttpTarget(url);
    if (typeof target === 'string') return failed('bad_url', target);
    const { signal, stop } = startDeadline(timeoutMs);
    try {
      if (!(await gate.enter(signal))) return timedOut();
      try {
        const connection = await connect(target, signal, timeoutMs);
        if (connection.status === 'failed') return connection;
        return await exchange(connection.socket, { method, target, maxBytes }, signal);
      } finally {
        gate.leave();
      }
    } catch {
      // Only what the system refuses gets here, such as a socket when none are left.
      return failed('connection', 'it could not be asked');
    } finally {
      stop();
    }
  };
}

const USER_AGENT = 'deliverability/1 (+link check)';

interface Exchange {
  method: WebRequest['method'];
  target: HttpTarget;
  maxBytes: number;
}

/** One HTTP/1.1 request over an open connection, ended by the signal at the latest; the socket is always destroyed. */
async function exchange(
  socket: Duplex,
  { method, target, maxBytes }: Exchange,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const tooLong = () => failed('too_large', 'its answer is too long');
  try {
    const request = openRequest({
      // No agent: no connection is kept, and no proxy of the environment is used.
      createConnection: () => socket,
      method,
      path: target.path,
      setHost: false,
      headers: {
        Host: target.authority,
        'User-Agent': USER_AGENT,
        Accept: '*/*',
        'Accept-Encoding': 'identity',
        Connection: 'close',
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    });
    const { answer, failure } = await readResponse(
      request,
      undefined,
      { maxBytes, tooLong },
      signal,
    );
    return failure ? failed(failure.reason, failure.detail) : { status: 'answered', ...answer! };
  } finally {
    socket.destroy();
  }
}
