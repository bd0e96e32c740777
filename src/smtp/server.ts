/** The listener for SMTP (RFC 5321) or LMTP (RFC 2033) with STARTTLS. It passes messages on to destinations. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { addressGroup } from '../http/rate-limit.ts';
import { inNetworks, type Network, normalizeAddress } from '../lib/addresses.ts';
import type { KeyPair } from '../lib/certificates.ts';
import {
  createConnectionCount,
  createLimitLogs,
  type LimitLogs,
} from '../lib/connection-limits.ts';
import { errorMessage } from '../lib/errors.ts';
import { createSpaceCheck } from '../lib/free-space.ts';
import type { Log } from '../lib/log.ts';
import type { Destination, Reply } from './destination.ts';
import {
  type ListenerState,
  SMTP_LIMITS,
  type SmtpHooks,
  type SmtpLimits,
} from './listener-state.ts';
import { readProxyHeader } from './proxy-header.ts';
import {
  NOT_ALLOWED,
  replyLine,
  SHUTTING_DOWN,
  TOO_MANY_CONNECTIONS,
  TOO_MANY_FROM_ADDRESS,
} from './replies.ts';
import { type Client, Session } from './session.ts';
import { transactionHandlers } from './transaction.ts';

export interface SmtpOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The host name in the greeting. */
  name: string;
  tls: KeyPair;
  /** The domain of all recipients. */
  domain: string;
  /** Asked in order at RCPT. The largest size that one accepts is the limit of the listener. */
  destinations: Destination[];
  /** The listener accepts no mail if less disk space is free. */
  minFreeBytes: number;
  /** Networks of proxies, which must send a PROXY header with the client's address. */
  proxyNetworks: Network[];
  /** Networks of mail servers, which may pass on their clients with XCLIENT or XFORWARD. */
  forwardingNetworks: Network[];
  /** Networks of mail servers whose Received fields name the client. */
  trustedHops: Network[];
  /** LMTP instead of SMTP, and only for clients in `forwardingNetworks` and `trustedHops`. */
  lmtp?: boolean;
  limits?: Partial<SmtpLimits>;
  log: Log;
}

export interface SmtpListener {
  readonly address: string;
  readonly port: number;
  /** The number of open connections, including those that have not sent a PROXY header yet. */
  connections(): number;
  /** Whether connections were refused or closed within the last minute because there were too many. */
  isLimitReached(): boolean;
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

type Networks = Pick<SmtpOptions, 'proxyNetworks' | 'forwardingNetworks' | 'trustedHops'>;

const TICK_MS = 1000;

/** Rejects if it cannot listen on the address, or if the key pair is invalid. */
export async function startSmtp(options: SmtpOptions, hooks: SmtpHooks): Promise<SmtpListener> {
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const connectionLimits = { total: limits.connections, perClient: limits.connectionsPerAddress };
  const logs = createLimitLogs(options.log, 'smtp', connectionLimits);
  const state: ListenerState = {
    lmtp: options.lmtp ?? false,
    trustedHops: options.trustedHops,
    domain: options.domain,
    destinations: options.destinations,
    limits,
    hooks,
    log: options.log,
    memory: { usedBytes: 0, limit: limits.memoryBytes },
    hasSpace: createSpaceCheck(() => hooks.freeBytes(), options.minFreeBytes),
    awaitingProxyHeader: new Set(),
    sessions: new Map(),
    connections: createConnectionCount(connectionLimits),
    now: 0,
    draining: false,
  };
  const server = createSmtpServer(state, options.name, options.tls);
  const listener = createServer((socket) => {
    acceptConnection(state, logs, server, options, socket).catch((error) => {
      options.log.error('could not accept an SMTP connection', { error: errorMessage(error) });
      socket.destroy();
    });
  });
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  // The listener goes on: the system may have no more file handles for a while.
  listener.on('error', (error) => logs.accept.record({ error: errorMessage(error) }));
  const ticks = setInterval(() => {
    state.now += TICK_MS;
  }, TICK_MS).unref();
  listener.once('close', () => clearInterval(ticks));

  const { address, port } = listener.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    address,
    port,
    connections: () => state.connections.total(),
    isLimitReached: () => logs.total.isActive(),
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
  const closed = once(listener, 'close');
  listener.close();
  for (const socket of state.awaitingProxyHeader) socket.destroy();
  for (const session of state.sessions.values()) session.drain();
  const timer = setTimeout(() => {
    for (const session of state.sessions.values()) session.disconnect();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}

// New connections: identify the client, check the limits, and start the session.

/**
 * Peers in `proxyNetworks` must start with a PROXY header; from others it is an invalid command. Mail servers in
 * `forwardingNetworks` and `trustedHops` have no limit per client: they bring the mail of many. LMTP is for them alone.
 */
async function acceptConnection(
  state: ListenerState,
  logs: LimitLogs,
  server: SMTPServer,
  networks: Networks,
  socket: Socket,
): Promise<void> {
  const { connections } = state;
  // The 'close' event is enough to detect a closed socket.
  socket.on('error', () => {});
  if (connections.isFull()) {
    logs.total.record();
    if (!evictSession(state)) return rejectConnection(socket, TOO_MANY_CONNECTIONS);
  }
  const release = connections.add();
  socket.once('close', release);
  const client = await identifyClient(state, networks, socket);
  if (!client || socket.destroyed) return;
  if (state.draining) return rejectConnection(socket, SHUTTING_DOWN);
  const isServer = client.isTrusted || client.isHop;
  if (state.lmtp && !isServer) {
    state.log.info('refused an LMTP connection', { client_ip: client.address });
    return rejectConnection(socket, NOT_ALLOWED);
  }
  const group = addressGroup(client.address);
  if (!isServer && connections.isClientFull(group)) {
    logs.client.record({ client_ip: client.address });
    return rejectConnection(socket, TOO_MANY_FROM_ADDRESS);
  }
  const releaseClient = connections.addClient(group);
  // Not with the 'close' event: STARTTLS removes all listeners from the socket.
  const onClose = () => {
    release();
    releaseClient();
  };
  const session = new Session(server, socket, client, state, onClose);
  state.sessions.set(session.id, session);
  state.hooks.connected?.();
  session.init();
}

/** Null if the peer has disconnected, or sent no valid PROXY header. */
async function identifyClient(
  state: ListenerState,
  { proxyNetworks, forwardingNetworks, trustedHops }: Networks,
  socket: Socket,
): Promise<Client | null> {
  const describe = (address: string, port: number): Client => ({
    address,
    port,
    isTrusted: inNetworks(address, forwardingNetworks),
    isHop: inNetworks(address, trustedHops),
  });
  const address = normalizeAddress(socket.remoteAddress ?? '');
  if (!address) return null;
  const peer = describe(address, socket.remotePort ?? 0);
  if (!inNetworks(address, proxyNetworks)) return peer;
  state.awaitingProxyHeader.add(socket);
  const header = await readProxyHeader(socket, state.limits.proxyHeaderMs);
  state.awaitingProxyHeader.delete(socket);
  if (!header) return null;
  const client = header.address && normalizeAddress(header.address);
  return client ? describe(client, header.port ?? 0) : peer;
}

/** Makes room for another connection; false if every session is at work. */
function evictSession({ sessions }: ListenerState): boolean {
  for (const [id, session] of sessions) {
    if (!session.isEvictable()) continue;
    sessions.delete(id);
    session.evict();
    return true;
  }
  return false;
}

function rejectConnection(socket: Socket, reply: Reply): void {
  socket.end(`${replyLine(reply)}\r\n`);
  socket.destroySoon();
}

// The library's server does not listen. Sessions use its settings and handlers.

/** `name` is the host name in replies. Throws if the key pair is invalid. */
function createSmtpServer(state: ListenerState, name: string, tls: KeyPair): SMTPServer {
  const server = new SMTPServer({
    ...tls,
    // The report covers outdated TLS, so the listener accepts it (OpenSSL allows TLS 1.0 and 1.1
    // only at this security level).
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    name,
    lmtp: state.lmtp,
    banner: 'ready',
    heloResponse: '%s greets %s',
    size: Math.max(...state.destinations.map(({ maxSize }) => maxSize)),
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
