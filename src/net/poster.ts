/** The caller of webhooks' endpoints: HTTPS to public addresses alone, over connections that are kept. */

import { type Deadline, startDeadline } from './dns-attempts.ts';
import { type ConnectorOptions, createConnector } from './guarded-connection.ts';
import { KeptConnections } from './kept-connections.ts';
import type { Poster, PostOutcome } from './post.ts';
import { postOver } from './post-exchange.ts';
import { readWebGoal, type WebGoal } from './web-goal.ts';

const TIMEOUT_MS = 30_000;
/** Many servers give up idle connections after 5 seconds. */
const IDLE_MS = 4000;

export interface PosterOptions extends ConnectorOptions {
  /** For all of a post: name, connection, request and answer. Default 30,000. */
  timeoutMs?: number;
  /** Idle connections are kept no longer. Default 4,000. */
  idleMs?: number;
}

/** No redirect is followed, no proxy asked, no cookie kept, nothing decompressed. */
export function createPoster(options: PosterOptions): Poster {
  const { timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options;
  const connections = new KeptConnections(createConnector(options), timeoutMs, idleMs);
  const underWay = new Set<Deadline>();
  let closed = false;
  return {
    async post(request) {
      if (closed) return null;
      const goal = readPostGoal(request.url);
      if (typeof goal === 'string') return unasked('bad_url', goal);
      const deadline = startDeadline(timeoutMs);
      underWay.add(deadline);
      try {
        const outcome = await postOver(connections, goal, request, deadline.signal);
        return closed ? null : outcome;
      } catch {
        // Only what cannot be sent lands here, such as a header field with a line break.
        return unasked('connection', 'it could not be asked');
      } finally {
        underWay.delete(deadline);
        deadline.stop();
      }
    },
    close() {
      closed = true;
      for (const deadline of underWay) deadline.expire();
      connections.destroy();
    },
  };
}

const unasked = (
  reason: NonNullable<PostOutcome['failure']>['reason'],
  detail: string,
): PostOutcome => ({
  answer: null,
  failure: { reason, detail },
});

/** The goal, or as half a sentence why it is not called. */
function readPostGoal(url: string): WebGoal | string {
  const goal = readWebGoal(url);
  if (typeof goal === 'string') return goal;
  if (!goal.secure) return 'the address is not https';
  // Never sent, so whoever wrote it expects something that does not happen.
  return url.includes('#') ? 'the address has a fragment' : goal;
}
