/** The resolver that asks the network: retries, one cache, and a limit on questions in flight. */

import { getServers } from 'node:dns';
import { type DnsServer, parseDnsServers } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Gate, limitInFlight } from '../../lib/concurrency.ts';
import { askableName } from './message.ts';
import type { DnsAnswer, DnsErrorReason, RecordType, Resolver } from './resolver.ts';
import { type Deadline, serverAsker, startDeadline } from './transport.ts';

interface DnsResolverOptions {
  /** At least one; asked in this order. */
  servers: DnsServer[];
  clock: Clock;
  /** Milliseconds that a question waits in all, its turn and its retries included. */
  timeoutMs?: number;
  /** Milliseconds that one server has for one attempt. */
  attemptMs?: number;
  maxInFlight?: number;
  /** Of these, for what nobody waits for. */
  maxBackground?: number;
  maxCached?: number;
}

interface DnsResolver extends Resolver {
  /**
   * The same with the same cache, for what nobody waits for: it leaves a part of the questions at once
   * to others, so that many domains whose servers are dead do not hold up the analysis of mail.
   */
  background: Resolver;
  close(): void;
}

/**
 * A resolver over UDP, and TCP where an answer is truncated. A question that is being asked is not
 * asked again beside itself. Names that cannot exist are `nxdomain` without a question. After
 * `close()`, and for what is under way then, the answer to what is not kept is the error `disabled`.
 */
export function createDnsResolver(options: DnsResolverOptions): DnsResolver {
  const { timeoutMs = 5000, maxInFlight = 200, maxCached = 10_000 } = options;
  const { maxBackground = Math.ceil(maxInFlight / 2) } = options;
  const cache = createDnsCache(options.clock, maxCached);
  const gate = limitInFlight(maxInFlight);
  const backgroundGate = limitInFlight(maxBackground);
  const ask = serverAsker(options.servers, options.attemptMs ?? 1500);
  const deadlines = new Set<Deadline>();
  let closed = false;

  async function askNetwork(name: string, type: RecordType, signal: AbortSignal) {
    try {
      const reading = await ask(name, type, signal);
      if (reading.kind === 'failure') return failed(reading.reason);
      cache.set(`${name}/${type}`, reading.answer, reading.keepSeconds);
      return reading.answer;
    } catch {
      // Only what the system refuses lands here: no socket left, an address family that is absent.
      return failed('unreachable');
    }
  }

  const askInTime =
    (gates: Gate[]): Resolver =>
    async (name, type) => {
      if (closed) return failed('disabled');
      const deadline = startDeadline(timeoutMs);
      deadlines.add(deadline);
      const { signal } = deadline;
      const answer = await through(gates, signal, () => askNetwork(name, type, signal));
      deadline.stop();
      deadlines.delete(deadline);
      return closed ? failed('disabled') : answer;
    };

  const resolve = sharedAndKept(askInTime([gate]), cache);
  return Object.assign(resolve, {
    // It shares no question under way with the other, who would wait in its queue.
    background: sharedAndKept(askInTime([backgroundGate, gate]), cache),
    close() {
      closed = true;
      for (const deadline of deadlines) deadline.expire();
    },
  });
}

/** In through each gate in turn; a `timeout` where the signal comes before there is a place. */
async function through(
  [first, ...more]: Gate[],
  signal: AbortSignal,
  work: () => Promise<DnsAnswer>,
): Promise<DnsAnswer> {
  if (!first) return work();
  if (!(await first.enter(signal))) return failed('timeout');
  try {
    return await through(more, signal, work);
  } finally {
    first.leave();
  }
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

// Keeps DNS answers for as long as their records allow; the least recently used go first.

/**
 * Caps in seconds. Enough for the many questions of mails that come together, and short enough that
 * a record that its owner has just corrected is seen by the next analysis.
 */
const MAX_POSITIVE_TTL = 60;
const MAX_NEGATIVE_TTL = 30;

interface DnsCache {
  /** The answer with what is left of its `ttl`, or null. */
  get(key: string): DnsAnswer | null;
  /** Keeps the answer for `seconds`, capped; errors are never kept. */
  set(key: string, answer: DnsAnswer, seconds: number): void;
  readonly size: number;
}

/** An empty cache of at most `maxEntries` answers. */
export function createDnsCache(clock: Clock, maxEntries: number): DnsCache {
  const entries = new Map<string, { answer: DnsAnswer; kept: number; until: number }>();
  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const entry = entries.get(key);
      if (!entry) return null;
      // A Map holds its keys in the order of their insertion: the first is the least recently used.
      entries.delete(key);
      const left = Math.floor((entry.until - clock.now()) / 1000);
      // More than it began with: the clock was set back meanwhile.
      if (left <= 0 || left > entry.kept) return null;
      entries.set(key, entry);
      return entry.answer.status === 'found' ? { ...entry.answer, ttl: left } : entry.answer;
    },
    set(key, answer, seconds) {
      const cap = answer.status === 'found' ? MAX_POSITIVE_TTL : MAX_NEGATIVE_TTL;
      const kept = Math.min(seconds, cap);
      if (answer.status === 'error' || !(kept > 0)) return;
      entries.delete(key);
      entries.set(key, { answer, kept, until: clock.now() + kept * 1000 });
      const oldest = entries.keys().next();
      if (entries.size > maxEntries && !oldest.done) entries.delete(oldest.value);
    },
  };
}

// The DNS servers of this machine.

/** The servers of this machine's resolv.conf; loopback where it names none. */
export function systemDnsServers(): DnsServer[] {
  return parseDnsServers(getServers().join(',')) ?? [{ host: '127.0.0.1', port: 53 }];
}
