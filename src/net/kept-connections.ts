/** Connections over TLS that are kept for a while, for the next request to the same host and port. */

import { Agent, type ClientRequestArgs, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Connect, timedOut } from './guarded-connection.ts';
import { Unconnected } from './hear-answer.ts';

const MAX_IDLE_PER_HOST = 10;
const MAX_IDLE = 200;

export interface KeptRequest extends RequestOptions {
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
