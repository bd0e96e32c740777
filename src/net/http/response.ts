/** Sends a request that node:http has opened and reads its answer (RFC 9112), in time and in bounds. */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Failure, failed, timedOut } from '../guarded-connection.ts';
import type { PostOutcome } from './web.ts';

/** For all header fields of an answer together, and its trailers. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** An honest server announces an answer (1xx) a few times at most. */
const MAX_INTERIM = 1000;
/** So many pieces of a body are kept apart: each costs more than the octet that it may be. */
const MAX_PIECES = 64;

/** An answer as far as it came, and why it came no further. */
export type HttpResult = PostOutcome;

export interface Limits {
  /** Most octets of the body that are read. */
  maxBytes: number;
  /**
   * What it means that the body is longer, which Content-Length has declared or which has turned
   * out. null: nothing, then the answer is whole with its beginning.
   */
  tooLong(declared: boolean): Failure | null;
}

/** No connection could be had; node:http hands it on as the error of the request. */
export class Unconnected extends Error {
  constructor(readonly failure: Failure) {
    super(failure.detail);
  }
}

/**
 * Ends at the signal at the latest. The connection is let go of where the answer was read to its
 * end, and destroyed where it was not. The body of an answer to HEAD is not waited for.
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
      // Does nothing where the answer has ended: then the connection is the agent's again.
      request.destroy();
    };
    const expire = () => settle(response ? unfinished() : timedOut());
    const fail = (error: Error) => settle(problemOf(error));
    request.on('error', fail);
    // Where the server changes the protocol, which is neither an answer nor an error.
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
  if (error instanceof Unconnected) return error.failure;
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return failed('too_large', 'its header is too long');
  if (code.startsWith('HPE_')) return failed('protocol', 'what it answered is no HTTP');
  return failed('connection', 'it closed the connection before its answer was complete');
}
