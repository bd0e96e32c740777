/** What all sessions of one listener share. */

import type { Socket } from 'node:net';
import type { Envelope } from '../analysis/check.ts';
import type { Log } from '../lib/log.ts';
import type { Memory } from './collect.ts';
import type { DataParser } from './data-parser.ts';
import type { SmtpHooks } from './hooks.ts';
import type { SmtpLimits } from './limits.ts';

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

export interface Room {
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

export function countConnections(room: Room): number {
  return room.sessions.size + room.unnamed.size;
}
