/** One HTTP/1.1 request and its answer over a connection that is there already (RFC 9112). */

import { type IncomingMessage, request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Failure, failed, timedOut } from './guarded-connection.ts';
import type { WebAnswer, WebRequest } from './web.ts';
import type { WebGoal } from './web-goal.ts';

const MAX_HEADER_BYTES = 32 * 1024;
const USER_AGENT = 'deliverability/1 (+link check)';

export interface Exchange {
  method: WebRequest['method'];
  goal: WebGoal;
  maxBytes: number;
}

/** Asks and reads until the signal at the latest; the socket is destroyed whatever happens. */
export function exchange(socket: Duplex, asked: Exchange, signal: AbortSignal): Promise<WebAnswer> {
  return new Promise((resolve) => {
    const settle = (answer: WebAnswer) => {
      signal.removeEventListener('abort', expire);
      resolve(answer);
      request.destroy();
      socket.destroy();
    };
    const expire = () => settle(timedOut());
    const request = openRequest({
      // No agent: no connection is kept, and no proxy of the environment is asked.
      createConnection: () => socket,
      method: asked.method,
      path: asked.goal.path,
      setHost: false,
      headers: {
        Host: asked.goal.authority,
        'User-Agent': USER_AGENT,
        Accept: '*/*',
        'Accept-Encoding': 'identity',
        Connection: 'close',
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    });
    request.on('error', (error) => settle(problemOf(error)));
    // Where the server changes the protocol, which is neither an answer nor an error.
    const unanswered = () => settle(failed('protocol', 'it gave no answer'));
    request.on('close', unanswered);
    request.on('response', (response) => {
      request.off('close', unanswered);
      if (asked.method === 'HEAD') settle(answered(response, []));
      else readBody(response, asked.maxBytes, settle);
    });
    signal.addEventListener('abort', expire);
    if (signal.aborted) expire();
    else request.end();
  });
}

function readBody(response: IncomingMessage, maxBytes: number, settle: (a: WebAnswer) => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  const tooLarge = failed('too_large', 'its answer is too long');
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) return settle(tooLarge);
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxBytes) settle(tooLarge);
  });
  response.on('error', (error) => settle(problemOf(error)));
  response.on('end', () => settle(answered(response, chunks)));
}

function answered(response: IncomingMessage, chunks: Buffer[]): WebAnswer {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const name = response.rawHeaders[i]!.toLowerCase();
    const value = response.rawHeaders[i + 1]!;
    const former = headers.get(name);
    headers.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return {
    status: 'answered',
    code: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  };
}

function problemOf(error: NodeJS.ErrnoException): Failure {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return failed('too_large', 'its header is too long');
  if (code.startsWith('HPE_')) return failed('protocol', 'what it answered is no HTTP');
  return failed('connection', 'it closed the connection before its answer was complete');
}
