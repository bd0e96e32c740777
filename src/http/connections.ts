/** The open connections of the HTTP server: their limits, and the end of those that clients leave open. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import {
  type ConnectionLimits,
  createConnectionCount,
  createLimitLogs,
  type LimitLogs,
} from '../lib/connection-limits.ts';
import type { Log } from '../lib/log.ts';
import { callerOf } from './actor.ts';
import { addressGroup } from './rate-limit.ts';

export const HTTP_LIMITS: ConnectionLimits = { total: 1000, perClient: 100 };

/** In milliseconds. */
export interface ConnectionTimeouts {
  /** How long a connection stays open after its last response, for clients that keep theirs open. */
  linger: number;
  /** In this time, a client must read `MIN_READ_BYTES` of a waiting response. */
  stall: number;
  /** Maximum from the start of a request, which is its turn on the connection, to the end of its response. */
  response: number;
  /** How often the two above are checked. */
  checkEvery: number;
}

/** Slower clients are disconnected. With the stall timeout, this is about 0.3 KiB per second. */
const MIN_READ_BYTES = 16 * 1024;
/**
 * What complete responses hold in memory until their clients read them, in bytes. Beyond it, connections are closed. Smaller
 * responses don't count.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const MIN_HELD_BYTES = 16 * 1024;
/** Refused connections that stay open until the client has read the reason; others close at once. */
const MAX_LINGERING_REFUSALS = 32;

export interface ConnectionOptions {
  limits: ConnectionLimits;
  timeouts: ConnectionTimeouts;
  /** Their connections don't count per client, but the running requests of their clients do. */
  trustedProxies: Network[];
  log: Log;
  /** The bytes of the response to a refused connection; null if none can be sent, as before TLS. */
  refusal: (() => string) | null;
}

/** A complete response whose client has not read it yet. */
interface HeldResponse {
  connection: Connection;
  /** The group of the client's address, which has its share of the memory. */
  client: string;
  bytes: number;
}

interface Connection {
  /** The TCP socket. */
  readonly socket: Socket;
  /** The TLS socket on top of it, after the handshake. */
  secure: Socket | null;
  readonly isProxy: boolean;
  /** The group of its address. */
  readonly client: string;
  /** Unfinished responses, oldest first, and when their requests were started. */
  readonly responses: Map<ServerResponse, { request: IncomingMessage; since: number }>;
  /** The bytes that the client had read at `readAt`, the start of the current stall period. */
  readBytes: number;
  readAt: number;
  /** Ends the counting of this connection. */
  release(): void;
}

export class Connections {
  readonly logs: LimitLogs;
  readonly #options: ConnectionOptions;
  readonly #timeouts: ConnectionTimeouts;
  readonly #trustedProxies: Network[];
  readonly #count: ReturnType<typeof createConnectionCount>;
  /** Least recently active first. */
  readonly #open = new Set<Connection>();
  readonly #byKey = new Map<string, Connection>();
  readonly #finishing = new WeakSet<Duplex>();
  /** Refused connections that are being closed. They are not counted. */
  readonly #refused = new Set<Socket>();
  /** Oldest first. */
  readonly #held = new Map<ServerResponse, HeldResponse>();
  #heldBytes = 0;
  /** Milliseconds since the start, by the regular check: a change of the system time has no effect. */
  #now = 0;
  readonly #interval: NodeJS.Timeout;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#timeouts = options.timeouts;
    this.#trustedProxies = options.trustedProxies;
    this.#count = createConnectionCount(options.limits);
    this.logs = createLimitLogs(options.log, 'http', options.limits);
    this.#interval = setInterval(() => this.#check(), options.timeouts.checkEvery).unref();
  }

  #markActive(connection: Connection): void {
    if (this.#open.delete(connection)) this.#open.add(connection);
  }

  /** Sends the last bytes of a connection, and closes it soon, whatever the client does. */
  finish(socket: Duplex, bytes: string): void {
    this.#finishing.add(socket);
    socket.end(bytes);
    // Unread bytes would turn the close into a reset, which discards the response.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), this.#timeouts.linger);
    socket.once('close', () => clearTimeout(timer));
  }

  #refuse(socket: Socket): false {
    socket.on('error', () => {});
    if (!this.#options.refusal || this.#refused.size >= MAX_LINGERING_REFUSALS) {
      socket.destroy();
      return false;
    }
    this.#refused.add(socket);
    socket.once('close', () => this.#refused.delete(socket));
    this.finish(socket, this.#options.refusal());
    return false;
  }

  /** Closes the connection that has waited longest for its client; false if none waits. */
  #evict(): boolean {
    const candidate = firstMatch(this.#open, isUnused) ?? firstMatch(this.#open, waitsForClient);
    if (!candidate) return false;
    this.#open.delete(candidate);
    candidate.release();
    destroy(candidate);
    return true;
  }

  /** Whether the server may handle a new connection. If not, it is closed. */
  admit(socket: Socket): boolean {
    const address = normalizeAddress(socket.remoteAddress ?? '');
    // The client has already closed the connection.
    if (address === null) return this.#refuse(socket);
    const isProxy = inNetworks(address, this.#trustedProxies);
    const client = addressGroup(address);
    if (!isProxy && this.#count.isClientFull(client)) {
      this.logs.client.record({ client_ip: address });
      return this.#refuse(socket);
    }
    if (this.#count.isFull()) {
      this.logs.total.record();
      if (!this.#evict()) return this.#refuse(socket);
    }
    const releases = [this.#count.add(), ...(isProxy ? [] : [this.#count.addClient(client)])];
    const connection: Connection = {
      socket,
      secure: null,
      isProxy,
      client,
      responses: new Map(),
      readBytes: 0,
      readAt: this.#now,
      release: () => {
        for (const release of releases) release();
      },
    };
    const key = keyOf(socket);
    this.#open.add(connection);
    this.#byKey.set(key, connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (this.#byKey.get(key) === connection) this.#byKey.delete(key);
      connection.release();
    });
    return true;
  }

  /**
   * To be called when a request is started. Returns false if a client behind a proxy has too many running
   * requests; the caller then responds.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#byKey.get(keyOf(request.socket));
    // The connection was closed in the meantime.
    if (!connection) return true;
    connection.responses.set(response, { request, since: this.#now });
    this.#markActive(connection);
    response.once('close', () => {
      connection.responses.delete(response);
      this.#markActive(connection);
    });
    const client = connection.isProxy ? forwardedClient(request, this.#trustedProxies) : null;
    if (client === null) return true;
    if (this.#count.isClientFull(client)) {
      this.logs.client.record({ client_ip: client });
      return false;
    }
    response.once('close', this.#count.addClient(client));
    return true;
  }

  /**
   * To be called when a response is complete. If too much waits for slow clients, this closes connections of the client
   * for which most waits, the oldest response first.
   */
  hold(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#byKey.get(keyOf(request.socket));
    const bytes = response.writableLength;
    if (!connection || response.closed || bytes < MIN_HELD_BYTES) return;
    const forwarded = connection.isProxy ? forwardedClient(request, this.#trustedProxies) : null;
    const release = () => {
      if (this.#held.delete(response)) this.#heldBytes -= bytes;
    };
    this.#held.set(response, { connection, client: forwarded ?? connection.client, bytes });
    this.#heldBytes += bytes;
    response.once('close', release);
    while (this.#heldBytes > MAX_HELD_BYTES) {
      const [oldest, { connection: slow, client }] = oldestOfLargest(this.#held);
      this.#options.log.info('closed a connection whose client reads too slowly', {
        client_ip: client,
      });
      this.#heldBytes -= this.#held.get(oldest)!.bytes;
      this.#held.delete(oldest);
      destroy(slow);
    }
  }

  #check(): void {
    this.#now += this.#timeouts.checkEvery;
    for (const connection of this.#open)
      if (isOverdue(connection, this.#timeouts, this.#now)) destroy(connection);
  }

  /** To be called when a TLS handshake is complete. */
  secured(socket: Socket): void {
    const connection = this.#byKey.get(keyOf(socket));
    if (connection) connection.secure = socket;
  }

  /** Whether the last bytes were sent. */
  isFinishing(socket: Duplex): boolean {
    return this.#finishing.has(socket);
  }

  /** Destroys the connections without a request so far. */
  destroyUnused(): void {
    for (const connection of this.#open)
      if ((connection.secure ?? connection.socket).bytesRead === 0) destroy(connection);
    for (const socket of this.#refused) socket.destroy();
  }

  destroyAll(): void {
    for (const connection of this.#open) destroy(connection);
    for (const socket of this.#refused) socket.destroy();
  }

  /** The number of open connections. */
  size(): number {
    return this.#count.total();
  }

  /** Whether connections were refused or closed within the last minute because of the total limit. */
  isLimitReached(): boolean {
    return this.logs.total.isActive();
  }

  /** Stops the regular check. */
  stop(): void {
    clearInterval(this.#interval);
  }
}

/** Identifies a connection by its client's socket. A TLS socket has the addresses of its TCP socket. */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

function destroy({ socket, secure }: Connection): void {
  secure?.destroy();
  socket.destroy();
}

/** The oldest response of the client for which most bytes wait. */
function oldestOfLargest(
  held: ReadonlyMap<ServerResponse, HeldResponse>,
): [ServerResponse, HeldResponse] {
  const byClient = Map.groupBy(held, ([, { client }]) => client);
  const sizeOf = (entries: [unknown, HeldResponse][]) =>
    entries.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  const [largest] = [...byClient.values()].toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return largest![0]!;
}

function firstMatch<T>(items: Iterable<T>, matches: (item: T) => boolean): T | undefined {
  for (const item of items) if (matches(item)) return item;
  return undefined;
}

/** The client of a request through a proxy; null if the proxy itself sent it. */
function forwardedClient(request: IncomingMessage, trustedProxies: Network[]): string | null {
  const headers = new Headers();
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded !== undefined) headers.set('x-forwarded-for', String(forwarded));
  const { ip } = callerOf(headers, request.socket, trustedProxies);
  return ip === null || inNetworks(ip, trustedProxies) ? null : addressGroup(ip);
}

const isUnused = ({ responses }: Connection): boolean => responses.size === 0;

/** Whether the next step is the client's: the rest of a request body, or reading a response. */
function waitsForClient({ socket, responses }: Connection): boolean {
  if (unsentBytes(socket) > 0) return true;
  for (const { request } of responses.values()) if (!request.complete) return true;
  return false;
}

/** Whether the client reads too slowly, or the oldest response has taken too long. Records progress. */
function isOverdue(connection: Connection, timeouts: ConnectionTimeouts, now: number): boolean {
  const [oldest] = connection.responses.values();
  if (oldest && now - oldest.since >= timeouts.response) return true;
  const unsent = unsentBytes(connection.socket);
  const read = handleOf(connection.socket).bytesWritten - unsent;
  if (unsent === 0 || read - connection.readBytes >= MIN_READ_BYTES) {
    connection.readBytes = read;
    connection.readAt = now;
    return false;
  }
  return now - connection.readAt >= timeouts.stall;
}

/** Bytes that the system has not accepted yet, because the client does not read. */
const unsentBytes = (socket: Socket): number => handleOf(socket).writeQueueSize;

const NO_HANDLE = { bytesWritten: 0, writeQueueSize: 0 };

/**
 * The counters below the socket. `Socket.bytesWritten` includes waiting bytes, and it does not see
 * what TLS writes. Node uses the same counters for its own socket timeouts.
 */
function handleOf(socket: Socket): typeof NO_HANDLE {
  return (socket as never as { _handle?: typeof NO_HANDLE | null })._handle ?? NO_HANDLE;
}
