/** Posts to webhook endpoints: HTTPS to public addresses only, over kept connections. */

import {
  Agent,
  type ClientRequestArgs,
  request as openRequest,
  type RequestOptions,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { type Deadline, startDeadline } from '../../lib/concurrency.ts';
import {
  type Connect,
  type ConnectorOptions,
  createConnector,
  failed,
  timedOut,
} from '../guarded-connection.ts';
import {
  ConnectFailed,
  type HttpResult,
  type Limits,
  MAX_HEADER_BYTES,
  readResponse,
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
  /** Milliseconds for all of a post: name, connection, request and response. Default 30,000. */
  timeoutMs?: number;
  /** Idle connections are kept no longer. Default 4,000. */
  idleMs?: number;
}

/** No redirects followed, no proxy, no cookies, no decompression. */
export function createPoster(options: PosterOptions): Poster {
  const { timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options;
  const agent = new KeepAliveAgent(createConnector(options), timeoutMs, idleMs);
  const inFlight = new Set<Deadline>();
  let closed = false;
  return {
    async post(request) {
      if (closed) return null;
      const target = readPostTarget(request.url);
      if (typeof target === 'string') return notSent('bad_url', target);
      const deadline = startDeadline(timeoutMs);
      inFlight.add(deadline);
      try {
        const outcome = await postOver(agent, target, request, deadline.signal);
        return closed ? null : outcome;
      } catch {
        // Only what cannot be sent gets here, such as a header field with a line break.
        return notSent('connection', 'it could not be asked');
      } finally {
        inFlight.delete(deadline);
        deadline.stop();
      }
    },
    close() {
      closed = true;
      for (const deadline of inFlight) deadline.expire();
      agent.destroy();
    },
  };
}

const notSent = (
  reason: NonNullable<PostOutcome['failure']>['reason'],
  detail: string,
): PostOutcome => ({
  answer: null,
  failure: { reason, detail },
});

/** The target, or why it is not called, as half a sentence. */
function readPostTarget(url: string): HttpTarget | string {
  const target = readHttpTarget(url);
  if (typeof target === 'string') return target;
  if (!target.secure) return 'the address is not https';
  // A fragment is never sent, so whoever wrote it expects something that does not happen.
  return url.includes('#') ? 'the address has a fragment' : target;
}

const LIMITS: Limits = {
  maxBytes: 64 * 1024,
  tooLong: (declared) =>
    declared
      ? null
      : failed('too_large', 'its answer is longer than 64 KiB and does not say where it ends'),
};

/** One POST over a kept connection or a new one; ends at the signal at the latest. */
async function postOver(
  agent: KeepAliveAgent,
  target: HttpTarget,
  request: PostRequest,
  signal: AbortSignal,
): Promise<HttpResult> {
  const options: KeepAliveRequest = {
    agent,
    host: target.host,
    port: target.port,
    deadline: signal,
    method: 'POST',
    path: target.path,
    setHost: false,
    headers: headersFor(target, request),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  };
  // Never repeated, on a kept connection either: a server that has just closed it may still have
  // read the request, and a recorded attempt is one request.
  return readResponse(openRequest(options), request.body, LIMITS, signal);
}

const RESERVED_HEADERS = new Set(['host', 'content-length', 'connection', 'accept-encoding']);

/** Names and values in turn. node:http adds `Connection: keep-alive`. */
function headersFor(target: HttpTarget, { headers, body }: PostRequest): string[] {
  const given = Object.entries(headers).filter(
    ([name]) => !RESERVED_HEADERS.has(name.toLowerCase()),
  );
  return [
    'Host',
    target.authority,
    ...given.flat(),
    'Accept-Encoding',
    'identity',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ];
}

const MAX_IDLE_PER_HOST = 10;
const MAX_IDLE = 200;

interface KeepAliveRequest extends RequestOptions {
  host: string;
  port: number;
  /** Aborts after about `timeoutMs`; no connection is made after that. */
  deadline: AbortSignal;
}

/**
 * Keeps TLS connections for the next request to the same host and port; the one used last is used
 * first. A request that finds none idle opens its own and waits for no other.
 */
export class KeepAliveAgent extends Agent {
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
      // Of idle connections; requests in flight have their deadline.
      timeout: idleMs,
      // Closed this long before the server would, where it says when (`Keep-Alive: timeout=5`).
      agentKeepAliveTimeoutBuffer: 1000,
    });
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port, deadline } = options as KeepAliveRequest;
    const refuse = (error: Error) => callback(error, undefined as never);
    this.connect({ host, port, secure: true }, deadline, this.timeoutMs).then((opened) => {
      if (opened.status === 'failed') return refuse(new ConnectFailed(opened));
      if (!deadline.aborted) return callback(null, opened.socket);
      opened.socket.destroy();
      refuse(new ConnectFailed(timedOut()));
    }, refuse);
  }

  /** Whether it may be used once more. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.ended || this.countIdle() >= MAX_IDLE) return false;
    // It returns a boolean that its type does not declare.
    return (super.keepSocketAlive(socket) as unknown) !== false;
  }

  private countIdle(): number {
    let count = 0;
    for (const name in this.freeSockets) count += this.freeSockets[name]?.length ?? 0;
    return count;
  }

  /** Closes all, and keeps none from now on. */
  override destroy(): void {
    this.ended = true;
    super.destroy();
  }
}
