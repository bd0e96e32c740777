/** The guarded client: HTTP and HTTPS to public addresses alone, checked at the moment of connection. */

import { request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { limitInFlight } from '../../lib/concurrency.ts';
import { startDeadline } from '../dns/transport.ts';
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
 * A client without memory: no cookies, no connection kept, no proxy, no credentials, no redirect
 * followed. Each request has one connection and one deadline for all of it.
 */
export function createWeb(options: WebOptions): Web {
  const connect = createConnector(options);
  const gate = limitInFlight(options.maxInFlight ?? 100);
  return async ({ method, url, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES }) => {
    const goal = readHttpTarget(url);
    if (typeof goal === 'string') return failed('bad_url', goal);
    const { signal, stop } = startDeadline(timeoutMs);
    try {
      if (!(await gate.enter(signal))) return timedOut();
      try {
        const connection = await connect(goal, signal, timeoutMs);
        if (connection.status === 'failed') return connection;
        return await exchange(connection.socket, { method, goal, maxBytes }, signal);
      } finally {
        gate.leave();
      }
    } catch {
      // Only what the system refuses lands here, such as a socket when there are none left.
      return failed('connection', 'it could not be asked');
    } finally {
      stop();
    }
  };
}

// One HTTP/1.1 request and its answer over a connection that is there already.

const USER_AGENT = 'deliverability/1 (+link check)';

export interface Exchange {
  method: WebRequest['method'];
  goal: HttpTarget;
  maxBytes: number;
}

/** Asks and reads until the signal at the latest; the socket is destroyed whatever happens. */
export async function exchange(
  socket: Duplex,
  { method, goal, maxBytes }: Exchange,
  signal: AbortSignal,
): Promise<WebAnswer> {
  const tooLong = () => failed('too_large', 'its answer is too long');
  try {
    const request = openRequest({
      // No agent: no connection is kept, and no proxy of the environment is asked.
      createConnection: () => socket,
      method,
      path: goal.path,
      setHost: false,
      headers: {
        Host: goal.authority,
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
