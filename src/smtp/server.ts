/** The listener for mail: RFC 5321 with STARTTLS, for one message to one test address at a time. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Network } from '../lib/addresses.ts';
import type { KeyPair } from '../lib/certificates.ts';
import { errorMessage } from '../lib/errors.ts';
import { createSpaceCheck } from '../lib/free-space.ts';
import type { Log } from '../lib/log.ts';
import { admit } from './admit.ts';
import type { SmtpHooks } from './hooks.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import { createProtocol, replaceKeyPair } from './protocol.ts';
import { countConnections, type Room } from './room.ts';

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
  const room: Room = {
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

async function shutDown(room: Room, listener: Server, graceMs: number): Promise<void> {
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
