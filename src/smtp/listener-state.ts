/** The state that all sessions of a listener share. */

import type { Socket } from 'node:net';
import type { Envelope } from '../analysis/check.ts';
import type { Network } from '../lib/addresses.ts';
import type { ConnectionCount } from '../lib/connection-limits.ts';
import type { Log } from '../lib/log.ts';
import type { MemoryBudget } from '../lib/message-memory.ts';
import type { DataParser } from './data-parser.ts';
import type { Destination, Reply } from './destination.ts';

export interface OpenSession {
  /** The TLS of this connection. */
  tls: NonNullable<Envelope['tls']>;
  readonly parser: DataParser;
  /** What was accepted and rejected so far. */
  readonly counts: { messages: number; refusals: number };
  /** The client as of now: the peer, or the client that a trusted mail server passed on. */
  describeClient(): Omit<Envelope, 'mail_from'>;
  /** The client of a message, which its Received fields can name. */
  clientOf(raw: Buffer): Omit<Envelope, 'mail_from'>;
  /** Whether the client is to send the next command, or far too slow with a message. */
  isEvictable(): boolean;
  /** Closes the session with 421 at once, to make room for another connection. */
  evict(): void;
  /** Closes an idle session with 421 now, otherwise after its next reply. */
  drain(): void;
  /** Closes the session with 421, whatever its state. */
  disconnect(): void;
}

export interface ListenerState {
  /** Whether clients speak LMTP (RFC 2033). */
  lmtp: boolean;
  /** Networks of mail servers whose Received fields name the client. */
  trustedHops: Network[];
  /** The domain of all recipients. */
  domain: string;
  /** Asked in order at RCPT. */
  destinations: Destination[];
  limits: SmtpLimits;
  hooks: SmtpHooks;
  log: Log;
  /** For the messages of all sessions. */
  memory: MemoryBudget;
  /** Whether the disk has space for another message. */
  hasSpace(): Promise<boolean>;
  /** Connections of proxies that have not sent their PROXY header yet. */
  awaitingProxyHeader: Set<Socket>;
  /** By session id; the least recently active first. */
  sessions: Map<string, OpenSession>;
  /** All accepted connections, including those that are being closed. */
  connections: ConnectionCount;
  /** Milliseconds since the start, in steps of a second: a change of the system time has no effect. */
  now: number;
  /** Whether the listener is shutting down and accepts nothing new. */
  draining: boolean;
}

// The hooks through which the listener reports what happens.

/** A client that named a recipient, and what became of it. */
export interface DeliveryAttempt {
  /** As sent. */
  recipient: string;
  client: Omit<Envelope, 'mail_from'>;
  /** The reply that rejected the recipient or the message; null if the recipient was accepted. */
  rejection: Reply | null;
}

/** What a client did between its greeting and the end of the connection. */
export interface EndedSession {
  client: Omit<Envelope, 'mail_from'>;
  /** Messages that were accepted. */
  messages: number;
  /** Recipients and messages that were rejected. */
  refusals: number;
  /** Whole seconds. */
  seconds: number;
}

export interface SmtpHooks {
  /** Free bytes on the disk that stores messages. If it rejects, the client gets 451 4.3.0 and the error is logged. */
  freeBytes(): Promise<number>;
  /** Whether it has space for messages that must not use the reserve. Absent: it has. */
  hasSpare?(): Promise<boolean>;
  /** Called when a client gets its greeting. */
  connected?(): void;
  /** Called when a session ends, however it ends. Must not throw. */
  ended?(session: EndedSession): void;
  /** Called for each recipient after RCPT, and again if its message is rejected. Must not throw. */
  attempted?(attempt: DeliveryAttempt): void;
  /** Called when a destination has stored a message. Must not throw. */
  accepted?(destination: Destination): void;
}

// Limits per client and in total.

export interface SmtpLimits {
  /** Maximum wait for the next command, or the next bytes of DATA, in milliseconds. */
  idleMs: number;
  /** Maximum duration of a whole DATA transfer, in milliseconds. */
  dataMs: number;
  /** Maximum duration of a session, in milliseconds. */
  sessionMs: number;
  /** Maximum time from the last reply until the connection is closed, in milliseconds. */
  lingerMs: number;
  /** Maximum wait for the PROXY header of a trusted proxy, in milliseconds. */
  proxyHeaderMs: number;
  /** After a false end of data and this many milliseconds of silence, the server rejects the message. */
  falseEndMs: number;
  /** Maximum concurrent sessions per client: an IPv4 address, or a /64 of IPv6. */
  connectionsPerAddress: number;
  /** Maximum concurrent connections in total. */
  connections: number;
  /** Maximum RCPT commands per transaction, accepted or not. */
  recipients: number;
  /** Maximum length of a command line in bytes, without the line ending. */
  lineBytes: number;
  /** Maximum size of all messages in memory, across all sessions, in bytes. */
  memoryBytes: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  idleMs: 60_000,
  dataMs: 600_000,
  sessionMs: 1_200_000,
  lingerMs: 2_000,
  proxyHeaderMs: 5_000,
  falseEndMs: 2_000,
  connectionsPerAddress: 30,
  connections: 300,
  recipients: 100,
  lineBytes: 4096,
  memoryBytes: 96 * 1024 * 1024,
};
