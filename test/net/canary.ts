/** Servers on loopback that record what reached them, and a dialer that connects any address to them. */

import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';
import type { Dial } from '../../src/net/guarded-connection.ts';

export interface Canary {
  port: number;
  /** `HEAD /path`, in order of arrival. */
  requests: string[];
  /** The header fields of the requests. */
  headers: Record<string, unknown>[];
  /** The number of connections, including those without a request. */
  connections: number;
  /** Resolves when no connection is open; never if the client leaks one. */
  clientClosed(): Promise<void>;
}

const sing: RequestListener = (_, response) => response.end('sings');

/** Starts a web server on 127.0.0.1, and on ::1 at the same port if this host has IPv6. */
export async function startCanary(
  t: TestContext,
  answer: RequestListener = sing,
  tls?: TlsOptions,
): Promise<Canary> {
  const canary: Canary = {
    port: 0,
    requests: [],
    headers: [],
    connections: 0,
    clientClosed: async () => {},
  };
  const heard: RequestListener = (request, response) => {
    canary.requests.push(`${request.method} ${request.url}`);
    canary.headers.push(request.headers);
    answer(request, response);
  };
  const make = () => (tls ? createHttpsServer(tls, heard) : createHttpServer(heard));
  const servers = await listenTwice(make);
  const sockets = new Set<Socket>();
  for (const server of servers) {
    server.on('connection', (socket) => {
      canary.connections += 1;
      sockets.add(socket.on('close', () => sockets.delete(socket)));
    });
    server.on('tlsClientError', () => {});
  }
  canary.port = portOf(servers[0]!);
  canary.clientClosed = () => allClosed(sockets);
  t.after(() => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
  });
  return canary;
}

async function listenTwice(make: () => Server): Promise<Server[]> {
  const first = make().listen(0, '127.0.0.1');
  await once(first, 'listening');
  const second = make().listen(portOf(first), '::1');
  try {
    await once(second, 'listening');
    return [first, second];
  } catch {
    return [first];
  }
}

/** Starts a server that passes each connection to `serve`. */
export async function startRaw(t: TestContext, talk: (socket: Socket) => void): Promise<Canary> {
  const canary: Canary = {
    port: 0,
    requests: [],
    headers: [],
    connections: 0,
    clientClosed: async () => {},
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    canary.connections += 1;
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    // Reads, because otherwise the end of the stream goes unnoticed.
    socket.on('error', () => {}).resume();
    talk(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  canary.port = portOf(server);
  canary.clientClosed = () => allClosed(sockets);
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return canary;
}

async function allClosed(sockets: Set<Socket>): Promise<void> {
  await Promise.all(
    [...sockets].map((socket) => new Promise((resolve) => socket.on('close', resolve))),
  );
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A dialer that connects every address to a loopback port, and records the address. */
export function dialTo(port: number): { dial: Dial; dialed: string[] } {
  const dialed: string[] = [];
  const dial: Dial = (address, wanted) => {
    dialed.push(`${address} ${wanted}`);
    // Reports the requested address as the peer, as a real connection would.
    return Object.defineProperty(connect(port, '127.0.0.1'), 'remoteAddress', { value: address });
  };
  return { dial, dialed };
}
