/** The state that all sessions of a listener share. */

import type { Socket } from 'node:net';
import type { Envelope } from '../analysis/check.ts';
import type { Log } from '../lib/log.ts';
import type { DataParser } from './data-parser.ts';

export interface OpenSession {
  /** The client's normalized address, from the PROXY header if there is one. */
  readonly client: string;
  /** The name in HELO or EHLO, as sent. */
  readonly helo: string | null;
  tls: NonNullable<Envelope['tls']>;
  readonly parser: DataParser;
  /** Closes an idle session with 421 now, otherwise after its next reply. */
  drain(): void;
  /** Closes the session with 421, whatever its state. */
  disconnect(): void;
}

/** The message memory of all sessions of a listener, in bytes. */
export interface MemoryBudget {
  usedBytes: number;
  readonly limit: number;
}

export interface ListenerState {
  /** Maximum size of a message in bytes. */
  maxSize: number;
  limits: SmtpLimits;
  hooks: SmtpHooks;
  log: Log;
  memory: MemoryBudget;
  /** Whether the disk has space for another message. */
  hasSpace(): Promise<boolean>;
  /** Connections of proxies that have not sent their PROXY header yet. */
  awaitingProxyHeader: Set<Socket>;
  /** By session id. */
  sessions: Map<string, OpenSession>;
  /** Whether the listener is shutting down and accepts nothing new. */
  draining: boolean;
}

export function countConnections(state: ListenerState): number {
  return state.sessions.size + state.awaitingProxyHeader.size;
}

// The hooks through which the listener checks recipients and stores messages; it does not access the database itself.

/** An SMTP reply: `550`, `5.1.1` (RFC 3463) and one line of text. */
export interface Reply {
  code: number;
  enhanced: string;
  text: string;
}

type RecipientVerdict = { accept: true } | ({ accept: false } & Reply);
export type ReceiveVerdict = { accept: true; text: string } | ({ accept: false } & Reply);

export interface IncomingMessage {
  envelope: Envelope;
  /** The only recipient, as sent. */
  recipient: string;
  /** The message as received, without dot-stuffing, otherwise unchanged. */
  raw: Buffer;
}

/** If a hook throws, the client gets 451 4.3.0 and the error is logged. */
export interface SmtpHooks {
  /** Whether the address accepts mail now; called at RCPT. */
  recipient(address: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Stores a message: resolves when it is durably stored, or with the reply that rejects it. */
  receive(message: IncomingMessage): Promise<ReceiveVerdict>;
  /** Free bytes on the disk that stores messages. */
  freeBytes(): Promise<number>;
}

// Limits per client and in total.

export interface SmtpLimits {
  /** Maximum milliseconds until the next command, or the next bytes of DATA. */
  idleMs: number;
  /** Maximum milliseconds of a whole DATA transfer. */
  dataMs: number;
  /** Maximum milliseconds of a session. */
  sessionMs: number;
  /** Maximum milliseconds until the PROXY header of a trusted proxy. */
  proxyHeaderMs: number;
  /** Milliseconds of silence after a false end of data until the server rejects the message. */
  falseEndMs: number;
  /** Maximum concurrent sessions per client address. */
  connectionsPerAddress: number;
  /** Maximum concurrent connections in total. */
  connections: number;
  /** Maximum RCPT commands per transaction, accepted or not. */
  recipients: number;
  /** Maximum bytes of a command line without its end. */
  lineBytes: number;
  /** Maximum bytes of messages in memory, across all sessions. */
  memoryBytes: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  idleMs: 60_000,
  dataMs: 600_000,
  sessionMs: 1_200_000,
  proxyHeaderMs: 5_000,
  falseEndMs: 2_000,
  connectionsPerAddress: 30,
  connections: 300,
  recipients: 100,
  lineBytes: 4096,
  memoryBytes: 512 * 1024 * 1024,
};
