/** One POST and its answer, over a connection that was kept or a new one. */

import { request as openRequest } from 'node:http';
import { failed } from './guarded-connection.ts';
import { type Heard, hearAnswer, type Limits, MAX_HEADER_BYTES } from './hear-answer.ts';
import type { KeptConnections, KeptRequest } from './kept-connections.ts';
import type { PostRequest } from './post.ts';
import type { WebGoal } from './web-goal.ts';

const LIMITS: Limits = {
  maxBytes: 64 * 1024,
  tooLong: (declared) =>
    declared
      ? null
      : failed('too_large', 'its answer is longer than 64 KiB and does not say where it ends'),
};

/** Ends at the signal at the latest. */
export async function postOver(
  connections: KeptConnections,
  goal: WebGoal,
  request: PostRequest,
  signal: AbortSignal,
): Promise<Heard> {
  const options: KeptRequest = {
    agent: connections,
    host: goal.host,
    port: goal.port,
    deadline: signal,
    method: 'POST',
    path: goal.path,
    setHost: false,
    headers: headersFor(goal, request),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  };
  // Once, on a kept connection too: where the server has just given that up it may still have read
  // the request, and an attempt that is written down is one request.
  return hearAnswer(openRequest(options), request.body, LIMITS, signal);
}

const SET_HERE = new Set(['host', 'content-length', 'connection', 'accept-encoding']);

/** Names and values in turn. node:http adds that the connection may be kept. */
function headersFor(goal: WebGoal, { headers, body }: PostRequest): string[] {
  const given = Object.entries(headers).filter(([name]) => !SET_HERE.has(name.toLowerCase()));
  return [
    'Host',
    goal.authority,
    ...given.flat(),
    'Accept-Encoding',
    'identity',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ];
}
