/** The guarded client: HTTP and HTTPS to public addresses alone, checked at the moment of connection. */

import { startDeadline } from './dns-attempts.ts';
import { exchange } from './exchange.ts';
import { type ConnectorOptions, createConnector, failed, timedOut } from './guarded-connection.ts';
import { limitInFlight } from './in-flight.ts';
import type { Web } from './web.ts';
import { readWebGoal } from './web-goal.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

export interface WebOptions extends ConnectorOptions {
  /** Requests at once; the others wait within their own time. */
  maxInFlight?: number;
}

/**
 * A client without memory: no cookies, no connection kept, no proxy, no credentials, no redirect
 * followed. Each request has one connection and one deadline for all of it.
 */
export function createWeb(options: WebOptions): Web {
  const connect = createConnector(options);
  const gate = limitInFlight(options.maxInFlight ?? 100);
  return async ({ method, url, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES }) => {
    const goal = readWebGoal(url);
    if (typeof goal === 'string') return failed('bad_url', goal);
    const { signal, stop } = startDeadline(timeoutMs);
    try {
      if (!(await gate.enter(signal))) return timedOut();
      try {
        const connection = await connect(goal, signal, timeoutMs);
        if (connection.status === 'failed') return connection;
        return await exchange(connection.socket, { method, goal, maxBytes }, signal);
      } finally {
        gate.leave();
      }
    } catch {
      // Only what the system refuses lands here, such as a socket when there are none left.
      return failed('connection', 'it could not be asked');
    } finally {
      stop();
    }
  };
}
