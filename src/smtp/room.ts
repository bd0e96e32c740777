/** What all sessions of one listener share. */

import type { Socket } from 'node:net';
import type { Log } from '../lib/log.ts';
import type { Memory } from './collect.ts';
import type { SmtpHooks } from './hooks.ts';
import type { SmtpLimits } from './limits.ts';
import type { Session } from './session.ts';

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
  sessions: Map<string, Session>;
  /** We are shutting down: nothing new is begun. */
  draining: boolean;
}

export function countConnections(room: Room): number {
  return room.sessions.size + room.unnamed.size;
}
