/** Servers on loopback that tell what reached them, and a dial that leads to them from any address. */

import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';
import type { Dial } from '../../src/net/guarded-connection.ts';

export interface Canary {
  port: number;
  /** `HEAD /path`, as the requests came. */
  requests: string[];
  /** The header fields of the requests. */
  headers: Record<string, unknown>[];
  /** Connections, those too on which nothing was asked. */
  connections: number;
  /** Resolves when no connection is left open; never where one has been forgotten. */
  gone(): Promise<void>;
}

const sing: RequestListener = (_, response) => response.end('sings');

/** A web server on 127.0.0.1, and on ::1 at the same port where this machine has it. */
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
    gone: async () => {},
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
  canary.gone = () => allClosed(sockets);
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

/** A server that does what it likes with each connection. */
export async function startRaw(t: TestContext, talk: (socket: Socket) => void): Promise<Canary> {
  const canary: Canary = {
    port: 0,
    requests: [],
    headers: [],
    connections: 0,
    gone: async () => {},
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    canary.connections += 1;
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    // Read, for the end of what nobody reads is never noticed.
    socket.on('error', () => {}).resume();
    talk(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  canary.port = portOf(server);
  canary.gone = () => allClosed(sockets);
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

/** Leads to a port of loopback wherever it is told to go, and notes where that was. */
export function dialTo(port: number): { dial: Dial; dialled: string[] } {
  const dialled: string[] = [];
  const dial: Dial = (address, wanted) => {
    dialled.push(`${address} ${wanted}`);
    // Its other end is called by the address that was meant, as it would be out there.
    return Object.defineProperty(connect(port, '127.0.0.1'), 'remoteAddress', { value: address });
  };
  return { dial, dialled };
}
