/** One HTTP/1.1 request and its answer over a connection that is there already. */

import { request as openRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { failed } from './guarded-connection.ts';
import { hearAnswer, MAX_HEADER_BYTES } from './hear-answer.ts';
import type { WebAnswer, WebRequest } from './web.ts';
import type { WebGoal } from './web-goal.ts';

const USER_AGENT = 'deliverability/1 (+link check)';

export interface Exchange {
  method: WebRequest['method'];
  goal: WebGoal;
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
    const { answer, failure } = await hearAnswer(request, undefined, { maxBytes, tooLong }, signal);
    return failure ? failed(failure.reason, failure.detail) : { status: 'answered', ...answer! };
  } finally {
    socket.destroy();
  }
}
