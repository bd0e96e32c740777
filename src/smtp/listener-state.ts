/** What all sessions of one listener share. */

import type { Socket } from 'node:net';
import type { Envelope } from '../analysis/check.ts';
import type { Log } from '../lib/log.ts';
import type { DataParser } from './data-parser.ts';

export interface OpenSession {
  /** The client's address, normalised; by the PROXY protocol where that is spoken. */
  readonly client: string;
  /** What the client called itself in HELO or EHLO, as it was said. */
  readonly helo: string | null;
  tls: NonNullable<Envelope['tls']>;
  readonly parser: DataParser;
  /** Says goodbye now if the session is idle, otherwise after its next reply. */
  drain(): void;
  /** Says goodbye and closes, whatever is going on. */
  leave(): void;
}

/** What all sessions of a listener hold together, in octets. */
export interface Memory {
  held: number;
  readonly limit: number;
}

export interface ListenerState {
  /** Octets of a message. */
  maxSize: number;
  limits: SmtpLimits;
  hooks: SmtpHooks;
  log: Log;
  memory: Memory;
  /** Whether the disk has room for another message. */
  hasSpace(): Promise<boolean>;
  /** Connections of balancers that have not yet said who their client is. */
  unnamed: Set<Socket>;
  /** By the id of the session. */
  sessions: Map<string, OpenSession>;
  /** We are shutting down: nothing new is begun. */
  draining: boolean;
}

export function countConnections(room: ListenerState): number {
  return room.sessions.size + room.unnamed.size;
}

// What the listener asks of whoever keeps the mail; it knows no database itself.

/** A reply of the protocol: `550`, `5.1.1` (RFC 3463) and one line of text. */
export interface Reply {
  code: number;
  enhanced: string;
  text: string;
}

type RecipientVerdict = { accept: true } | ({ accept: false } & Reply);
export type ReceiveVerdict = { accept: true; text: string } | ({ accept: false } & Reply);

export interface IncomingMessage {
  envelope: Envelope;
  /** The one recipient, as it was said. */
  recipient: string;
  /** The message as it came, dots unstuffed, nothing else touched. */
  raw: Buffer;
}

/** A hook that throws is answered with 451 4.3.0, and logged. */
export interface SmtpHooks {
  /** Whether the address takes mail now; asked at RCPT. */
  recipient(address: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Keeps a message: resolves when it is durably stored, or with the reason why it is not. */
  receive(message: IncomingMessage): Promise<ReceiveVerdict>;
  /** Bytes free where messages are kept. */
  freeBytes(): Promise<number>;
}

// What one client may ask of the listener before it is shown the door.

export interface SmtpLimits {
  /** Milliseconds that a command, or the next bytes of DATA, may be waited for. */
  idle: number;
  /** Milliseconds for all of DATA. */
  data: number;
  /** Milliseconds for a whole session. */
  session: number;
  /** Milliseconds for the PROXY header of a trusted peer. */
  proxyHeader: number;
  /** Milliseconds of silence after a false end of data until it is answered as if it were one. */
  falseEnd: number;
  /** Sessions at once from one client address. */
  perAddress: number;
  /** Connections at once in all. */
  connections: number;
  /** RCPT commands in one transaction, accepted or not. */
  recipients: number;
  /** Octets in a command line without its end. */
  line: number;
  /** Octets of messages held in memory at once, over all sessions. */
  memory: number;
}

export const SMTP_LIMITS: SmtpLimits = {
  idle: 60_000,
  data: 600_000,
  session: 1_200_000,
  proxyHeader: 5_000,
  falseEnd: 2_000,
  perAddress: 30,
  connections: 300,
  recipients: 100,
  line: 4096,
  memory: 512 * 1024 * 1024,
};
