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

export interface Connections {
  /** Whether the server may handle a new connection. If not, it is closed. */
  admit(socket: Socket): boolean;
  /** To be called when a TLS handshake is complete. */
  secured(socket: Socket): void;
  /**
   * To be called when a request is started. Returns false if a client behind a proxy has too many running
   * requests; the caller then responds.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean;
  /**
   * To be called when a response is complete. If too much waits for slow clients, this closes connections of the client
   * for which most waits, the oldest response first.
   */
  hold(request: IncomingMessage, response: ServerResponse): void;
  /** Sends the last bytes of a connection, and closes it soon, whatever the client does. */
  finish(socket: Duplex, bytes: string): void;
  /** Whether the last bytes were sent. */
  isFinishing(socket: Duplex): boolean;
  /** Destroys the connections without a request so far. */
  destroyUnused(): void;
  destroyAll(): void;
  /** The number of open connections. */
  size(): number;
  /** Whether connections were refused or closed within the last minute because of the total limit. */
  isLimitReached(): boolean;
  readonly logs: LimitLogs;
  /** Stops the regular check. */
  stop(): void;
}

export function createConnections(options: ConnectionOptions): Connections {
  const { timeouts, trustedProxies } = options;
  const count = createConnectionCount(options.limits);
  const logs = createLimitLogs(options.log, 'http', options.limits);
  /** Least recently active first. */
  const open = new Set<Connection>();
  const byKey = new Map<string, Connection>();
  const finishing = new WeakSet<Duplex>();
  /** Refused connections that are being closed. They are not counted. */
  const refused = new Set<Socket>();
  /** Milliseconds since the start, by the regular check: a change of the system time has no effect. */
  let now = 0;

  const markActive = (connection: Connection) => {
    if (open.delete(connection)) open.add(connection);
  };

  function finish(socket: Duplex, bytes: string): void {
    finishing.add(socket);
    socket.end(bytes);
    // Unread bytes would turn the close into a reset, which discards the response.
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), timeouts.linger);
    socket.once('close', () => clearTimeout(timer));
  }

  function refuse(socket: Socket): false {
    socket.on('error', () => {});
    if (!options.refusal || refused.size >= MAX_LINGERING_REFUSALS) {
      socket.destroy();
      return false;
    }
    refused.add(socket);
    socket.once('close', () => refused.delete(socket));
    finish(socket, options.refusal());
    return false;
  }

  /** Closes the connection that has waited longest for its client; false if none waits. */
  function evict(): boolean {
    const candidate = firstMatch(open, isUnused) ?? firstMatch(open, waitsForClient);
    if (!candidate) return false;
    open.delete(candidate);
    candidate.release();
    destroy(candidate);
    return true;
  }

  function admit(socket: Socket): boolean {
    const address = normalizeAddress(socket.remoteAddress ?? '');
    // The client has already closed the connection.
    if (address === null) return refuse(socket);
    const isProxy = inNetworks(address, trustedProxies);
    const client = addressGroup(address);
    if (!isProxy && count.isClientFull(client)) {
      logs.client.record({ client_ip: address });
      return refuse(socket);
    }
    if (count.isFull()) {
      logs.total.record();
      if (!evict()) return refuse(socket);
    }
    const releases = [count.add(), ...(isProxy ? [] : [count.addClient(client)])];
    const connection: Connection = {
      socket,
      secure: null,
      isProxy,
      client,
      responses: new Map(),
      readBytes: 0,
      readAt: now,
      release: () => {
        for (const release of releases) release();
      },
    };
    const key = keyOf(socket);
    open.add(connection);
    byKey.set(key, connection);
    socket.once('close', () => {
      open.delete(connection);
      if (byKey.get(key) === connection) byKey.delete(key);
      connection.release();
    });
    return true;
  }

  function begin(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = byKey.get(keyOf(request.socket));
    // The connection was closed in the meantime.
    if (!connection) return true;
    connection.responses.set(response, { request, since: now });
    markActive(connection);
    response.once('close', () => {
      connection.responses.delete(response);
      markActive(connection);
    });
    const client = connection.isProxy ? forwardedClient(request, trustedProxies) : null;
    if (client === null) return true;
    if (count.isClientFull(client)) {
      logs.client.record({ client_ip: client });
      return false;
    }
    response.once('close', count.addClient(client));
    return true;
  }

  /** Oldest first. */
  const held = new Map<ServerResponse, HeldResponse>();
  let heldBytes = 0;

  function hold(request: IncomingMessage, response: ServerResponse): void {
    const connection = byKey.get(keyOf(request.socket));
    const bytes = response.writableLength;
    if (!connection || response.closed || bytes < MIN_HELD_BYTES) return;
    const forwarded = connection.isProxy ? forwardedClient(request, trustedProxies) : null;
    const release = () => {
      if (held.delete(response)) heldBytes -= bytes;
    };
    held.set(response, { connection, client: forwarded ?? connection.client, bytes });
    heldBytes += bytes;
    response.once('close', release);
    while (heldBytes > MAX_HELD_BYTES) {
      const [oldest, { connection: slow, client }] = oldestOfLargest(held);
      options.log.info('closed a connection whose client reads too slowly', { client_ip: client });
      heldBytes -= held.get(oldest)!.bytes;
      held.delete(oldest);
      destroy(slow);
    }
  }

  const check = () => {
    now += timeouts.checkEvery;
    for (const connection of open) if (isOverdue(connection, timeouts, now)) destroy(connection);
  };
  const interval = setInterval(check, timeouts.checkEvery).unref();

  return {
    admit,
    begin,
    hold,
    finish,
    logs,
    secured(socket) {
      const connection = byKey.get(keyOf(socket));
      if (connection) connection.secure = socket;
    },
    isFinishing: (socket) => finishing.has(socket),
    destroyUnused() {
      for (const connection of open)
        if ((connection.secure ?? connection.socket).bytesRead === 0) destroy(connection);
      for (const socket of refused) socket.destroy();
    },
    destroyAll() {
      for (const connection of open) destroy(connection);
      for (const socket of refused) socket.destroy();
    },
    size: () => count.total(),
    isLimitReached: () => logs.total.isActive(),
    stop: () => clearInterval(interval),
  };
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
