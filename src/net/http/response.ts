/** Sends a request that node:http has opened and reads the response (RFC 9112), within limits of time and size. */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Failure, failed, timedOut } from '../guarded-connection.ts';
import type { PostOutcome } from './web.ts';

/** For all header fields of a response together, and its trailers. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** An honest server sends a few interim responses (1xx) at most. */
const MAX_INTERIM = 1000;
/** Further pieces of a body are joined: each costs more memory than the single octet it may hold. */
const MAX_PIECES = 64;

/** The response as far as it was received, and why the rest is missing. */
export type HttpResult = PostOutcome;

export interface Limits {
  /** Octets of the body that are read at most. */
  maxBytes: number;
  /**
   * The failure for a longer body, either declared by Content-Length or found while reading. null
   * where the beginning of the body is enough.
   */
  tooLong(declared: boolean): Failure | null;
}

/** No connection was made; node:http passes it on as the error of the request. */
export class ConnectFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.detail);
  }
}

/**
 * Ends at the signal at the latest. The connection goes back to its agent if the response was read
 * to its end, and is destroyed otherwise. The body of a response to HEAD is not waited for.
 */
export function readResponse(
  request: ClientRequest,
  body: string | undefined,
  limits: Limits,
  signal: AbortSignal,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    const read = collectBody(limits.maxBytes);
    const settle = (failure: Failure | null) => {
      signal.removeEventListener('abort', expire);
      resolve({
        answer: response && {
          code: response.statusCode ?? 0,
          headers: headersOf(response.rawHeaders),
          body: read.octets(),
        },
        failure: failure && { reason: failure.reason, detail: failure.detail },
      });
      // Does nothing if the response has ended: the connection belongs to the agent again.
      request.destroy();
    };
    const expire = () => settle(response ? unfinished() : timedOut());
    const fail = (error: Error) => settle(problemOf(error));
    request.on('error', fail);
    // A server that switches protocols causes neither a response nor an error.
    request.on('close', () => response ?? settle(unanswered()));
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM) settle(unanswered());
    });
    request.on('response', (head) => {
      if (head.statusCode === 101) return settle(unanswered());
      response = head;
      if (request.method === 'HEAD') return settle(null);
      const declared = Number(head.headers['content-length'] ?? 0) > limits.maxBytes;
      const tooLong = limits.tooLong(declared);
      if (declared && tooLong) return settle(tooLong);
      head.on('data', (piece: Buffer) => read.add(piece) || settle(tooLong));
      head.on('error', fail);
      head.on('end', () => settle(null));
    });
    signal.addEventListener('abort', expire);
    if (signal.aborted) expire();
    else request.end(body);
  });
}

const unanswered = () => failed('protocol', 'it gave no answer');
const unfinished = () => failed('timeout', 'its answer was not complete in time');

function collectBody(maxBytes: number) {
  let pieces: Buffer[] = [];
  let size = 0;
  const octets = () => Buffer.concat(pieces, Math.min(size, maxBytes));
  return {
    octets,
    /** False once there is more than may be read. */
    add(piece: Buffer): boolean {
      size += piece.length;
      pieces.push(piece);
      if (pieces.length > MAX_PIECES) pieces = [octets()];
      return size <= maxBytes;
    },
  };
}

/** Names in lower case; several values of one name joined. */
function headersOf(rawHeaders: string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    const former = headers.get(name);
    headers.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function problemOf(error: NodeJS.ErrnoException): Failure {
  if (error instanceof ConnectFailed) return error.failure;
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return failed('too_large', 'its header is too long');
  if (code.startsWith('HPE_')) return failed('protocol', 'what it answered is no HTTP');
  return failed('connection', 'it closed the connection before its answer was complete');
}
