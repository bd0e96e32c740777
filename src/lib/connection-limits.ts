/** What the listeners share: limits on open connections, and a log of refusals that can't flood the log. */

import type { Log, LogFields } from './log.ts';

export type ListenerName = 'http' | 'smtp';

export interface ConnectionLimits {
  /** Maximum concurrent connections in total. */
  total: number;
  /** Maximum concurrent connections per client: an IPv4 address, or a /64 of IPv6. */
  perClient: number;
}

export interface ConnectionCount {
  /** The number of counted connections. */
  total(): number;
  isFull(): boolean;
  /** Whether the client has as many connections as it may have. */
  isClientFull(client: string): boolean;
  /** Counts a connection, and returns a function that ends this; further calls of it have no effect. */
  add(): () => void;
  /** The same for a connection of a client, whose total is counted separately. */
  addClient(client: string): () => void;
}

export function createConnectionCount(limits: ConnectionLimits): ConnectionCount {
  let total = 0;
  const byClient = new Map<string, number>();
  return {
    total: () => total,
    isFull: () => total >= limits.total,
    isClientFull: (client) => (byClient.get(client) ?? 0) >= limits.perClient,
    add() {
      total += 1;
      return once(() => {
        total -= 1;
      });
    },
    addClient(client) {
      byClient.set(client, (byClient.get(client) ?? 0) + 1);
      return once(() => {
        const left = byClient.get(client)! - 1;
        if (left > 0) byClient.set(client, left);
        else byClient.delete(client);
      });
    },
  };
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}

// Refused connections: one line at the first, then one per minute until a minute passes without any.

const REPORT_INTERVAL_MS = 60_000;

export interface RefusalLog {
  /** Counts a refused or closed connection. */
  record(fields?: LogFields): void;
  /** Whether the last minute had refusals. */
  isActive(): boolean;
}

/** `fields` appear in every line. */
export function createRefusalLog(
  log: Log,
  texts: { begin: string; end: string },
  fields: LogFields,
): RefusalLog {
  let active = false;
  let refused = 0;
  const report = () => {
    if (refused === 0) {
      active = false;
      log.info(texts.end, fields);
      return;
    }
    log.warn(texts.begin, { ...fields, refused });
    refused = 0;
    startTimer();
  };
  const startTimer = () => void setTimeout(report, REPORT_INTERVAL_MS).unref();
  return {
    record(details) {
      if (active) {
        refused += 1;
        return;
      }
      active = true;
      log.warn(texts.begin, { ...fields, ...details });
      startTimer();
    },
    isActive: () => active,
  };
}

// The texts are the same for all listeners, so that one search finds them.

export interface LimitLogs {
  total: RefusalLog;
  client: RefusalLog;
  /** The system refused a connection, usually because the process has too many open files. */
  accept: RefusalLog;
}

export function createLimitLogs(
  log: Log,
  listener: ListenerName,
  { total, perClient }: ConnectionLimits,
): LimitLogs {
  const totalTexts = {
    begin: 'connection limit reached: idle connections are closed, or new ones refused',
    end: 'connection limit no longer reached',
  };
  const clientTexts = {
    begin: 'connection limit per client reached: new connections of this client are refused',
    end: 'connection limit per client no longer reached',
  };
  const acceptTexts = {
    begin: 'could not accept a connection',
    end: 'connections are accepted again',
  };
  return {
    total: createRefusalLog(log, totalTexts, { listener, limit: total }),
    client: createRefusalLog(log, clientTexts, { listener, limit: perClient }),
    accept: createRefusalLog(log, acceptTexts, { listener }),
  };
}
