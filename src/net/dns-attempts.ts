/** Asks one DNS question of several servers, again and again, until one answers or time is up. */

import type { DnsServer } from '../lib/dns-servers.ts';
import { encodeQuery } from './dns-question.ts';
import type { Reading } from './dns-reply.ts';
import { askOverTcp, askOverUdp, type Transport } from './dns-transport.ts';
import type { RecordType } from './resolver.ts';

export type Outcome = Extract<Reading, { kind: 'answer' | 'failure' }>;

/**
 * Asks the servers in turn until one answers or the signal comes. A server that said something
 * useless is not asked again; one that stayed silent is, for datagrams get lost. The server that
 * answered last goes first next time, so that a dead one costs its delay once.
 */
export function serverAsker(servers: DnsServer[], attemptMs: number) {
  let order = servers;
  return async (name: string, type: RecordType, signal: AbortSignal): Promise<Outcome> => {
    const candidates: Candidate[] = order.map((server) => ({ server, edns: true }));
    let outcome: Outcome = { kind: 'failure', reason: 'timeout' };
    while (!signal.aborted) {
      const candidate = candidates.shift();
      if (!candidate) break;
      const { reading, silent } = await attempt(candidate, name, type, signal, attemptMs);
      if (reading.kind === 'answer') {
        order = [candidate.server, ...servers.filter((server) => server !== candidate.server)];
        return reading;
      }
      if (reading.kind === 'no_edns' && candidate.edns)
        candidates.unshift({ ...candidate, edns: false });
      else if (silent) candidates.push(candidate);
      outcome = reading.kind === 'failure' ? reading : { kind: 'failure', reason: 'malformed' };
    }
    return outcome;
  };
}

interface Candidate {
  server: DnsServer;
  edns: boolean;
}

/** One server, once; `silent` where its time ran out. */
async function attempt(
  { server, edns }: Candidate,
  name: string,
  type: RecordType,
  parent: AbortSignal,
  attemptMs: number,
): Promise<{ reading: Reading; silent: boolean }> {
  const { signal, stop } = startDeadline(attemptMs, parent);
  const over = (transport: Transport) => transport(server, encodeQuery(name, type, edns), signal);
  try {
    const reading = await over(askOverUdp);
    if (reading.kind !== 'truncated') return { reading, silent: signal.aborted };
    return { reading: await over(askOverTcp), silent: signal.aborted };
  } finally {
    stop();
  }
}

export interface Deadline {
  signal: AbortSignal;
  expire(): void;
  stop(): void;
}

/** A signal that comes after so many milliseconds, or with its parent; `stop` frees the timer. */
export function startDeadline(ms: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const expire = () => controller.abort();
  const timer = setTimeout(expire, ms);
  parent?.addEventListener('abort', expire);
  return {
    signal: controller.signal,
    expire,
    stop() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', expire);
    },
  };
}
