/** The SMTP listener (RFC 5321) with STARTTLS. Each message has one test address as its recipient. */

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
  /** 0 for any free port. */
  port: number;
  /** The host name in the greeting. */
  name: string;
  tls: KeyPair;
  /** Maximum size of a message in bytes. */
  maxSize: number;
  /** The listener accepts no mail if less disk space is free. */
  minFreeBytes: number;
  /** Networks of proxies, which must send a PROXY header with the client's address. */
  proxyNetworks: Network[];
  limits?: Partial<SmtpLimits>;
  log: Log;
}

export interface SmtpListener {
  readonly address: string;
  readonly port: number;
  /** The number of open connections, including those that have not sent a PROXY header yet. */
  connections(): number;
  /** Whether new connections are accepted. */
  listening(): boolean;
  /** Replaces the key pair for new handshakes. Throws if it is invalid, and keeps the current one. */
  updateTls(pair: KeyPair): void;
  /**
   * Stops accepting connections and closes idle ones; messages in transfer may finish within
   * `graceMs`. Resolves when the last connection is closed.
   */
  close(graceMs: number): Promise<void>;
}

/** Rejects if it cannot listen on the address, or if the key pair is invalid. */
export async function startSmtp(options: SmtpOptions, hooks: SmtpHooks): Promise<SmtpListener> {
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const state: ListenerState = {
    maxSize: options.maxSize,
    limits,
    hooks,
    log: options.log,
    memory: { usedBytes: 0, limit: limits.memoryBytes },
    hasSpace: createSpaceCheck(() => hooks.freeBytes(), options.minFreeBytes),
    awaitingProxyHeader: new Set(),
    sessions: new Map(),
    draining: false,
  };
  const server = createSmtpServer(state, options.name, options.tls);
  const listener = createServer((socket) => {
    acceptConnection(state, server, options.proxyNetworks, socket).catch((error) => {
      options.log.error('could not accept an SMTP connection', { error: errorMessage(error) });
      socket.destroy();
    });
  });
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  listener.on('error', (error) =>
    options.log.error('SMTP listener failed', { error: errorMessage(error) }),
  );

  const { address, port } = listener.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    address,
    port,
    connections: () => countConnections(state),
    listening: () => listener.listening && !state.draining,
    updateTls: (pair) => replaceKeyPair(server, pair),
    close(graceMs) {
      closing ??= shutDown(state, listener, graceMs);
      return closing;
    },
  };
}

async function shutDown(state: ListenerState, listener: Server, graceMs: number): Promise<void> {
  state.draining = true;
  const closing = once(listener, 'close');
  listener.close();
  for (const socket of state.awaitingProxyHeader) socket.destroy();
  for (const session of state.sessions.values()) session.drain();
  const timer = setTimeout(() => {
    for (const session of state.sessions.values()) session.disconnect();
  }, graceMs);
  await closing;
  clearTimeout(timer);
}

// New connections: identify the client, check the limits, and start the session.

/** Peers in `proxyNetworks` must start with a PROXY header; from others it is an invalid command. */
async function acceptConnection(
  state: ListenerState,
  server: SMTPServer,
  proxyNetworks: Network[],
  socket: Socket,
): Promise<void> {
  // The 'close' event is enough to detect a closed socket.
  socket.on('error', () => {});
  if (countConnections(state) >= state.limits.connections) {
    rejectConnection(socket, TOO_MANY_CONNECTIONS);
    return;
  }
  const client = await identifyClient(state, proxyNetworks, socket);
  if (!client || socket.destroyed) return;
  const refusal = checkClientLimits(state, client.address);
  if (refusal) {
    rejectConnection(socket, refusal);
    return;
  }
  const session = new Session(server, socket, client.address, client.port, state);
  state.sessions.set(session.id, session);
  session.init();
}

interface Client {
  /** Normalized. */
  address: string;
  port: number;
}

/** Null if the peer has disconnected, or sent no valid PROXY header. */
async function identifyClient(
  state: ListenerState,
  proxyNetworks: Network[],
  socket: Socket,
): Promise<Client | null> {
  const address = normalizeAddress(socket.remoteAddress ?? '');
  if (!address) return null;
  const peer = { address, port: socket.remotePort ?? 0 };
  if (!inNetworks(address, proxyNetworks)) return peer;
  state.awaitingProxyHeader.add(socket);
  const header = await readProxyHeader(socket, state.limits.proxyHeaderMs);
  state.awaitingProxyHeader.delete(socket);
  if (!header) return null;
  const client = header.address && normalizeAddress(header.address);
  return client ? { address: client, port: header.port ?? 0 } : peer;
}

function checkClientLimits(state: ListenerState, address: string): Reply | null {
  if (state.draining) return SHUTTING_DOWN;
  const others = [...state.sessions.values()].filter((session) => session.client === address);
  return others.length >= state.limits.connectionsPerAddress ? TOO_MANY_FROM_ADDRESS : null;
}

function rejectConnection(socket: Socket, reply: Reply): void {
  socket.end(`${replyLine(reply)}\r\n`);
  socket.destroySoon();
}

// The library's server. It does not listen itself: sessions use its settings and handlers.

/** `name` is the host name in replies. Throws if the key pair is invalid. */
function createSmtpServer(state: ListenerState, name: string, tls: KeyPair): SMTPServer {
  const server = new SMTPServer({
    ...tls,
    // The report covers outdated TLS, so the listener accepts it (OpenSSL allows TLS 1.0 and 1.1
    // only at this security level).
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    name,
    banner: 'ready',
    heloResponse: '%s greets %s',
    size: state.maxSize,
    maxCommandLength: state.limits.lineBytes,
    // An invalid sender address is a finding of the analysis, not a reason to reject the message.
    lenientAddressParsing: true,
    disabledCommands: ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    // The deadlines of the session expire first.
    socketTimeout: state.limits.sessionMs + 60_000,
    logger: false,
    onConnect: (_session, callback) => callback(),
    ...transactionHandlers(state),
  });
  server.on('error', (error) => state.log.debug('SMTP server error', { error: error.message }));
  return server;
}

/** Throws if the pair is invalid, and keeps the current one. */
function replaceKeyPair(server: SMTPServer, { key, cert }: KeyPair): void {
  createSecureContext({ key, cert });
  server.updateSecureContext({ key, cert });
}
