/** The HTTP client for webhook endpoints: HTTPS to public addresses, and HTTP within allowed networks, over persistent connections. */

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
  timedOut,
} from '../guarded-connection.ts';
import {
  ConnectError,
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
  parseHttpTarget,
} from './web.ts';

const TIMEOUT_MS = 30_000;
/** Below the 5 seconds after which many servers close idle connections. */
const IDLE_TIMEOUT_MS = 4000;

export interface PosterOptions extends ConnectorOptions {
  /** Time limit of a whole request in milliseconds: lookup, connection, request and response. Default 30,000. */
  timeoutMs?: number;
  /** Idle connections are closed after this many milliseconds. Default 4,000. */
  idleMs?: number;
}

/** Creates a client without redirects, proxy, cookies or decompression. */
export function createPoster(options: PosterOptions): Poster {
  const { timeoutMs = TIMEOUT_MS, idleMs = IDLE_TIMEOUT_MS } = options;
  const agent = new KeepAliveAgent(createConnector(options), timeoutMs, idleMs);
  const inFlight = new Set<Deadline>();
  let closed = false;
  return {
    async post(request) {
      if (closed) return null;
      const target = readPostTarget(request.url);
      if (typeof target === 'string') return requestFailed('bad_url', target);
      const deadline = startDeadline(timeoutMs);
      inFlight.add(deadline);
      try {
        const outcome = await sendPost(agent, target, request, deadline.signal);
        return closed ? null : outcome;
      } catch {
        // Reached only if the request cannot be sent, for example because a header field contains a line break.
        return requestFailed('connection', 'could not send the request');
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

const requestFailed = (
  reason: NonNullable<PostOutcome['failure']>['reason'],
  detail: string,
): PostOutcome => ({
  response: null,
  failure: { reason, detail },
});

/** The target, or a clause that says why the URL is not allowed. */
function readPostTarget(url: string): HttpTarget | string {
  const target = parseHttpTarget(url);
  if (typeof target === 'string') return target;
  // A fragment is never sent to the server, so a URL with one is probably a mistake.
  return url.includes('#') ? 'the URL must not have a fragment' : target;
}

/** The start of a longer body is enough: the status decides. */
const LIMITS: Limits = { maxBytes: 64 * 1024, tooLongFailure: null };

/** Sends one request over an idle or a new connection, until the signal aborts. */
async function sendPost(
  agent: KeepAliveAgent,
  target: HttpTarget,
  request: PostRequest,
  signal: AbortSignal,
): Promise<HttpResult> {
  const options: KeepAliveRequest = {
    agent,
    host: target.host,
    port: target.port,
    secure: target.secure,
    deadline: signal,
    method: request.method ?? 'POST',
    path: target.path,
    setHost: false,
    headers: headersFor(target, request),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  };
  // Never retried, not even on a reused connection: a server that has just closed it may still have
  // read the request, and each recorded attempt is one request.
  return readResponse(openRequest(options), request.body, LIMITS, signal);
}

const RESERVED_HEADERS = new Set(['host', 'content-length', 'connection', 'accept-encoding']);

/** Alternating names and values. node:http adds `Connection: keep-alive`. */
function headersFor(target: HttpTarget, { headers, body }: PostRequest): string[] {
  const allowed = Object.entries(headers).filter(
    ([name]) => !RESERVED_HEADERS.has(name.toLowerCase()),
  );
  return [
    'Host',
    target.authority,
    ...allowed.flat(),
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
  secure: boolean;
  /** Aborts after about `timeoutMs`; no connection is opened after that. */
  deadline: AbortSignal;
}

/**
 * Keeps connections for later requests to the same host and port, and reuses the most recently
 * used one first. A request that finds no idle connection opens its own without waiting.
 */
export class KeepAliveAgent extends Agent {
  private closed = false;

  constructor(
    private readonly connect: Connect,
    private readonly timeoutMs: number,
    idleMs: number,
  ) {
    super({
      keepAlive: true,
      scheduling: 'lifo',
      maxFreeSockets: MAX_IDLE_PER_HOST,
      // Applies to idle connections; requests in flight have their deadline.
      timeout: idleMs,
      // How long before the server's announced timeout to close (`Keep-Alive: timeout=5`).
      agentKeepAliveTimeoutBuffer: 1000,
    });
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port, secure, deadline } = options as KeepAliveRequest;
    const refuse = (error: Error) => callback(error, undefined as never);
    const target = { host, port, secure, privateOnly: !secure };
    this.connect(target, deadline, this.timeoutMs).then((connection) => {
      if (connection.status === 'failed') return refuse(new ConnectError(connection));
      if (!deadline.aborted) return callback(null, connection.socket);
      connection.socket.destroy();
      refuse(new ConnectError(timedOut()));
    }, refuse);
  }

  /** Which requests may share a connection. */
  override getName(options: ClientRequestArgs): string {
    return `${super.getName(options)}:${(options as KeepAliveRequest).secure}`;
  }

  /** Whether the connection may be reused. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.closed || this.countIdle() >= MAX_IDLE) return false;
    // The base method returns a boolean that its type does not declare.
    return (super.keepSocketAlive(socket) as unknown) !== false;
  }

  private countIdle(): number {
    let count = 0;
    for (const name in this.freeSockets) count += this.freeSockets[name]?.length ?? 0;
    return count;
  }

  /** Closes all connections and stops keeping new ones. */
  override destroy(): void {
    this.closed = true;
    super.destroy();
  }
}
