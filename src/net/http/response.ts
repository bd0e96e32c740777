/** Sends a request that node:http has opened and reads the response (RFC 9112), within time and size limits. */

import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Failure, failed, timedOut } from '../guarded-connection.ts';
import type { PostOutcome } from './web.ts';

/** For all header fields of a response together, including trailers. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** Well-behaved servers send at most a few interim responses (1xx). */
const MAX_INTERIM_RESPONSES = 1000;
/** Beyond this, chunks of a body are merged: a Buffer costs far more memory than the one byte it may hold. */
const MAX_PIECES = 64;

/** The part of the response that was received, and why the rest is missing. */
export type HttpResult = PostOutcome;

export interface Limits {
  /** Maximum bytes of the body. */
  maxBytes: number;
  /** The failure if the body is longer. null if the start of the body is enough. */
  tooLongFailure: Failure | null;
}

/** The connection failed; node:http passes this on as the error of the request. */
export class ConnectError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.detail);
  }
}

/**
 * Resolves at the latest when the signal aborts. If the response is complete, the connection returns
 * to its agent; otherwise it is destroyed. Does not wait for the body of a response to HEAD.
 */
export function readResponse(
  request: ClientRequest,
  body: string | undefined,
  limits: Limits,
  signal: AbortSignal,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    const received = collectBody(limits.maxBytes);
    const settle = (failure: Failure | null) => {
      signal.removeEventListener('abort', onAbort);
      resolve({
        response: response && {
          code: response.statusCode ?? 0,
          headers: headersOf(response.rawHeaders),
          body: received.bytes(),
        },
        failure: failure && { reason: failure.reason, detail: failure.detail },
      });
      // No effect if the response is complete: the agent owns the connection again.
      request.destroy();
    };
    const onAbort = () => settle(response ? responseTimedOut() : timedOut());
    const fail = (error: Error) => settle(failureOf(error));
    request.on('error', fail);
    // If the server switches protocols, there is neither a response nor an error.
    request.on('close', () => response ?? settle(noValidResponse()));
    let interimResponses = 0;
    request.on('information', () => {
      interimResponses += 1;
      if (interimResponses > MAX_INTERIM_RESPONSES) settle(noValidResponse());
    });
    request.on('response', (head) => {
      if (head.statusCode === 101) return settle(noValidResponse());
      response = head;
      if (request.method === 'HEAD') return settle(null);
      const declared = Number(head.headers['content-length'] ?? 0) > limits.maxBytes;
      const { tooLongFailure } = limits;
      if (declared && tooLongFailure) return settle(tooLongFailure);
      head.on('data', (piece: Buffer) => received.add(piece) || settle(tooLongFailure));
      head.on('error', fail);
      head.on('end', () => settle(null));
    });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else request.end(body);
  });
}

const noValidResponse = () => failed('protocol', 'the server sent no valid response');
const responseTimedOut = () => failed('timeout', 'the response was not complete in time');

function collectBody(maxBytes: number) {
  let pieces: Buffer[] = [];
  let size = 0;
  const bytes = () => Buffer.concat(pieces, Math.min(size, maxBytes));
  return {
    bytes,
    /** Returns false once the body is longer than allowed. */
    add(piece: Buffer): boolean {
      size += piece.length;
      pieces.push(piece);
      if (pieces.length > MAX_PIECES) pieces = [bytes()];
      return size <= maxBytes;
    },
  };
}

/** Names in lower case; multiple values of a name are joined. */
function headersOf(rawHeaders: string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    const previous = headers.get(name);
    headers.set(name, previous === undefined ? value : `${previous}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function failureOf(error: NodeJS.ErrnoException): Failure {
  if (error instanceof ConnectError) return error.failure;
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return failed('too_large', 'the response header is too long');
  if (code.startsWith('HPE_')) return failed('protocol', 'the response is not valid HTTP');
  return failed('connection', 'the server closed the connection before the response was complete');
}
