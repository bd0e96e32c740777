/** The resolver that asks the network: retries, one cache, and a limit on questions in flight. */

import type { Clock } from '../lib/clock.ts';
import type { DnsServer } from '../lib/dns-servers.ts';
import { type Deadline, serverAsker, startDeadline } from './dns-attempts.ts';
import { createDnsCache, type DnsCache } from './dns-cache.ts';
import { askableName } from './dns-question.ts';
import { limitInFlight } from './in-flight.ts';
import type { DnsAnswer, DnsErrorReason, RecordType, Resolver } from './resolver.ts';

export interface DnsResolverOptions {
  /** At least one; asked in this order. */
  servers: DnsServer[];
  clock: Clock;
  /** Milliseconds that a question waits in all, its turn and its retries included. */
  timeoutMs?: number;
  /** Milliseconds that one server has for one attempt. */
  attemptMs?: number;
  maxInFlight?: number;
  maxCached?: number;
}

/**
 * A resolver over UDP, and TCP where an answer is truncated. A question that is being asked is not
 * asked again beside itself. Names that cannot exist are `nxdomain` without a question. After
 * `close()`, and for what is under way then, the answer to what is not kept is the error `disabled`.
 */
export function createDnsResolver(options: DnsResolverOptions): Resolver & { close(): void } {
  const { timeoutMs = 5000, maxInFlight = 200, maxCached = 10_000 } = options;
  const cache = createDnsCache(options.clock, maxCached);
  const gate = limitInFlight(maxInFlight);
  const ask = serverAsker(options.servers, options.attemptMs ?? 1500);
  const deadlines = new Set<Deadline>();
  let closed = false;

  async function askNetwork(name: string, type: RecordType, signal: AbortSignal) {
    if (!(await gate.enter(signal))) return failed('timeout');
    try {
      const reading = await ask(name, type, signal);
      if (reading.kind === 'failure') return failed(reading.reason);
      cache.set(`${name}/${type}`, reading.answer, reading.keepSeconds);
      return reading.answer;
    } catch {
      // Only what the system refuses lands here: no socket left, an address family that is absent.
      return failed('unreachable');
    } finally {
      gate.leave();
    }
  }

  const askInTime: Resolver = async (name, type) => {
    if (closed) return failed('disabled');
    const deadline = startDeadline(timeoutMs);
    deadlines.add(deadline);
    const answer = await askNetwork(name, type, deadline.signal);
    deadline.stop();
    deadlines.delete(deadline);
    return closed ? failed('disabled') : answer;
  };

  const resolve = sharedAndKept(askInTime, cache);
  return Object.assign(resolve, {
    close() {
      closed = true;
      for (const deadline of deadlines) deadline.expire();
    },
  });
}

/** Names that can exist are asked for; out of the cache where it has them, and once at a time. */
function sharedAndKept(ask: Resolver, cache: DnsCache): Resolver {
  const underWay = new Map<string, Promise<DnsAnswer>>();
  return async (name, type) => {
    const asked = askableName(name);
    if (asked === null) return { status: 'nxdomain' };
    const key = `${asked}/${type}`;
    const kept = cache.get(key);
    if (kept) return ownCopy(kept);
    const shared = underWay.get(key) ?? ask(asked, type).finally(() => underWay.delete(key));
    underWay.set(key, shared);
    return ownCopy(await shared);
  };
}

/** Each asker gets records of its own: sorting them must not reach the cache. */
function ownCopy(answer: DnsAnswer): DnsAnswer {
  return answer.status === 'found' ? { ...answer, records: [...answer.records] } : answer;
}

function failed(reason: DnsErrorReason): DnsAnswer {
  return { status: 'error', reason };
}
