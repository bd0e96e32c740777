/** The caller of webhooks' endpoints: HTTPS to public addresses alone, over connections that are kept. */

import {
  Agent,
  type ClientRequestArgs,
  request as openRequest,
  type RequestOptions,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { type Deadline, startDeadline } from '../dns/transport.ts';
import {
  type Connect,
  type ConnectorOptions,
  createConnector,
  failed,
  timedOut,
} from '../guarded-connection.ts';
import {
  type HttpResult,
  type Limits,
  MAX_HEADER_BYTES,
  readResponse,
  Unconnected,
} from './response.ts';
import {
  type HttpTarget,
  type Poster,
  type PostOutcome,
  type PostRequest,
  readHttpTarget,
} from './web.ts';

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
      const goal = readPostTarget(request.url);
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
function readPostTarget(url: string): HttpTarget | string {
  const goal = readHttpTarget(url);
  if (typeof goal === 'string') return goal;
  if (!goal.secure) return 'the address is not https';
  // Never sent, so whoever wrote it expects something that does not happen.
  return url.includes('#') ? 'the address has a fragment' : goal;
}

// One POST and its answer, over a connection that was kept or a new one.

const LIMITS: Limits = {
  maxBytes: 64 * 1024,
  tooLong: (declared) =>
    declared
      ? null
      : failed('too_large', 'its answer is longer than 64 KiB and does not say where it ends'),
};

/** Ends at the signal at the latest. */
async function postOver(
  connections: KeptConnections,
  goal: HttpTarget,
  request: PostRequest,
  signal: AbortSignal,
): Promise<HttpResult> {
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
  return readResponse(openRequest(options), request.body, LIMITS, signal);
}

const SET_HERE = new Set(['host', 'content-length', 'connection', 'accept-encoding']);

/** Names and values in turn. node:http adds that the connection may be kept. */
function headersFor(goal: HttpTarget, { headers, body }: PostRequest): string[] {
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

// Connections over TLS that are kept for a while, for the next request to the same host and port.

const MAX_IDLE_PER_HOST = 10;
const MAX_IDLE = 200;

interface KeptRequest extends RequestOptions {
  host: string;
  port: number;
  /** Where it comes before there is a connection, none is made; comes after about `timeoutMs`. */
  deadline: AbortSignal;
}

/**
 * For requests of node:http. One that finds no idle connection makes its own, in the order of the
 * last use; none waits for another's.
 */
export class KeptConnections extends Agent {
  private ended = false;

  constructor(
    private readonly connect: Connect,
    private readonly timeoutMs: number,
    idleMs: number,
  ) {
    super({
      keepAlive: true,
      scheduling: 'lifo',
      maxFreeSockets: MAX_IDLE_PER_HOST,
      // Of idle connections; what is under way has its deadline.
      timeout: idleMs,
      // Given up so long before the server does, where it says (`Keep-Alive: timeout=5`).
      agentKeepAliveTimeoutBuffer: 1000,
    });
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port, deadline } = options as KeptRequest;
    const refuse = (error: Error) => callback(error, undefined as never);
    this.connect({ host, port, secure: true }, deadline, this.timeoutMs).then((opened) => {
      if (opened.status === 'failed') return refuse(new Unconnected(opened));
      if (!deadline.aborted) return callback(null, opened.socket);
      opened.socket.destroy();
      refuse(new Unconnected(timedOut()));
    }, refuse);
  }

  /** Whether it may be used once more. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.ended || this.countIdle() >= MAX_IDLE) return false;
    // It says so by a boolean that its type does not know.
    return (super.keepSocketAlive(socket) as unknown) !== false;
  }

  private countIdle(): number {
    let count = 0;
    for (const name in this.freeSockets) count += this.freeSockets[name]?.length ?? 0;
    return count;
  }

  /** Ends all, and keeps none from now on. */
  override destroy(): void {
    this.ended = true;
    super.destroy();
  }
}
