/** The listener for mail: RFC 5321 with STARTTLS, for one message to one test address at a time. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import type { KeyPair } from '../lib/certificates.ts';
import { errorMessage } from '../lib/errors.ts';
import { createSpaceCheck } from '../lib/free-space.ts';
import type { Log } from '../lib/log.ts';
import {
  countConnections,
  type ListenerState,
  type Reply,
  SMTP_LIMITS,
  type SmtpHooks,
  type SmtpLimits,
} from './listener-state.ts';
import { readProxyHeader } from './proxy-header.ts';
import {
  replyLine,
  SHUTTING_DOWN,
  TOO_MANY_CONNECTIONS,
  TOO_MANY_FROM_ADDRESS,
} from './replies.ts';
import { Session } from './session.ts';
import { transactionHandlers } from './transaction.ts';

export interface SmtpOptions {
  host: string;
  /** 0 for any free one. */
  port: number;
  /** The name in the greeting. */
  name: string;
  tls: KeyPair;
  /** Octets of a message. */
  maxSize: number;
  /** Below so many free bytes no mail is taken. */
  minFreeBytes: number;
  /** Peers that have to say by the PROXY protocol who their client is. */
  proxyNetworks: Network[];
  limits?: Partial<SmtpLimits>;
  log: Log;
}

export interface SmtpListener {
  readonly address: string;
  readonly port: number;
  /** Open connections, those that still have to say whose they are included. */
  connections(): number;
  /** Whether new connections are taken. */
  listening(): boolean;
  /** For the handshakes from now on. Throws where the pair is none; the old one then stays. */
  updateTls(pair: KeyPair): void;
  /**
   * Takes nothing new and sends idle clients away at once; a message that is under way may come to
   * its end within `graceMs`. Resolves when the last connection is closed.
   */
  close(graceMs: number): Promise<void>;
}

/** Rejects where the address cannot be listened on or the key pair is none. */
export async function startSmtp(options: SmtpOptions, hooks: SmtpHooks): Promise<SmtpListener> {
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const room: ListenerState = {
    maxSize: options.maxSize,
    limits,
    hooks,
    log: options.log,
    memory: { held: 0, limit: limits.memory },
    hasSpace: createSpaceCheck(() => hooks.freeBytes(), options.minFreeBytes),
    unnamed: new Set(),
    sessions: new Map(),
    draining: false,
  };
  const smtp = createProtocol(room, options.name, options.tls);
  const listener = createServer((socket) => {
    admit(room, smtp, options.proxyNetworks, socket).catch((error) => {
      options.log.error('A connection could not be taken.', { error: errorMessage(error) });
      socket.destroy();
    });
  });
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  listener.on('error', (error) =>
    options.log.error('The mail listener failed.', { error: errorMessage(error) }),
  );

  const { address, port } = listener.address() as AddressInfo;
  let closed: Promise<void> | null = null;
  return {
    address,
    port,
    connections: () => countConnections(room),
    listening: () => listener.listening && !room.draining,
    updateTls: (pair) => replaceKeyPair(smtp, pair),
    close(graceMs) {
      closed ??= shutDown(room, listener, graceMs);
      return closed;
    },
  };
}

async function shutDown(room: ListenerState, listener: Server, graceMs: number): Promise<void> {
  room.draining = true;
  const closed = once(listener, 'close');
  listener.close();
  for (const socket of room.unnamed) socket.destroy();
  for (const session of room.sessions.values()) session.drain();
  const cutOff = setTimeout(() => {
    for (const session of room.sessions.values()) session.leave();
  }, graceMs);
  await closed;
  clearTimeout(cutOff);
}

// Takes a new connection: whose is it, may it have another, and if so begins its session.

/** Peers in `proxyNetworks` have to begin with a PROXY header; from others it is a bad command. */
async function admit(
  room: ListenerState,
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
  room: ListenerState,
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

function refuseClient(room: ListenerState, address: string): Reply | null {
  if (room.draining) return SHUTTING_DOWN;
  const others = [...room.sessions.values()].filter((session) => session.client === address);
  return others.length >= room.limits.perAddress ? TOO_MANY_FROM_ADDRESS : null;
}

function turnAway(socket: Socket, reply: Reply): void {
  socket.end(`${replyLine(reply)}\r\n`);
  socket.destroySoon();
}

// The library's server, set up as we want it; it listens nowhere, connections are handed to it.

/** `name` is what we call ourselves. Throws where the key pair is none. */
function createProtocol(room: ListenerState, name: string, tls: KeyPair): SMTPServer {
  const server = new SMTPServer({
    ...tls,
    // A sender with outdated TLS is to be told so, not to be turned away (OpenSSL allows TLS 1.0
    // and 1.1 at this level only).
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    name,
    banner: 'ready',
    heloResponse: '%s greets %s',
    size: room.maxSize,
    maxCommandLength: room.limits.line,
    // An odd sender address is a finding of the analysis, not a reason to refuse.
    lenientAddressParsing: true,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    // Our own deadlines come first.
    socketTimeout: room.limits.session + 60_000,
    logger: false,
    onConnect: (_session, callback) => callback(),
    ...transactionHandlers(room),
  });
  server.on('error', (error) => room.log.debug('SMTP failed.', { error: error.message }));
  return server;
}

/** For the handshakes from now on. Throws where the pair is none; the old one then stays. */
function replaceKeyPair(server: SMTPServer, { key, cert }: KeyPair): void {
  createSecureContext({ key, cert });
  server.updateSecureContext({ key, cert });
}
