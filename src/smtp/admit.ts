/** Takes a new connection: whose is it, may it have another, and if so begins its session. */

import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import type { Reply } from './hooks.ts';
import { readProxyHeader } from './read-proxy-header.ts';
import {
  replyLine,
  SHUTTING_DOWN,
  TOO_MANY_CONNECTIONS,
  TOO_MANY_FROM_ADDRESS,
} from './replies.ts';
import { countConnections, type Room } from './room.ts';
import { Session } from './session.ts';

/** Peers in `proxyNetworks` have to begin with a PROXY header; from others it is a bad command. */
export async function admit(
  room: Room,
  smtp: SMTPServer,
  proxyNetworks: Network[],
  socket: Socket,
): Promise<void> {
  // What becomes of a socket is seen by its 'close'.
  socket.on('error', () => {});
  if (countConnections(room) >= room.limits.connections) {
    turnAway(socket, TOO_MANY_CONNECTIONS);
    return;
  }
  const client = await findClient(room, proxyNetworks, socket);
  if (!client || socket.destroyed) return;
  const refusal = refuseClient(room, client.address);
  if (refusal) {
    turnAway(socket, refusal);
    return;
  }
  const session = new Session(smtp, socket, client.address, client.port, room);
  room.sessions.set(session.id, session);
  session.init();
}

interface Client {
  /** Normalised. */
  address: string;
  port: number;
}

/** Null where the peer is gone, or owes us a PROXY header and sends none. */
async function findClient(
  room: Room,
  proxyNetworks: Network[],
  socket: Socket,
): Promise<Client | null> {
  const address = normalizeAddress(socket.remoteAddress ?? '');
  if (!address) return null;
  const peer = { address, port: socket.remotePort ?? 0 };
  if (!inNetworks(address, proxyNetworks)) return peer;
  room.unnamed.add(socket);
  const header = await readProxyHeader(socket, room.limits.proxyHeader);
  room.unnamed.delete(socket);
  if (!header) return null;
  const named = header.address && normalizeAddress(header.address);
  return named ? { address: named, port: header.port ?? 0 } : peer;
}

function refuseClient(room: Room, address: string): Reply | null {
  if (room.draining) return SHUTTING_DOWN;
  const others = [...room.sessions.values()].filter((session) => session.client === address);
  return others.length >= room.limits.perAddress ? TOO_MANY_FROM_ADDRESS : null;
}

function turnAway(socket: Socket, reply: Reply): void {
  socket.end(`${replyLine(reply)}\r\n`);
  socket.destroySoon();
}
