/**
 * The DNS client: retries, one cache, and a limit on queries in flight.
 *
 * Why not a library: Node's `dns` hides the RCODE, the AD bit and most TTLs, and its `reverse()`
 * reads the hosts file. dns-packet reads and writes the messages.
 */

import { getServers } from 'node:dns';
import { type DnsServer, parseDnsServers } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Deadline, type Gate, limitInFlight, startDeadline } from '../../lib/concurrency.ts';
import { queryName } from './message.ts';
import type { DnsAnswer, DnsErrorReason, RecordType, Resolver } from './resolver.ts';
import { createServerQuery } from './transport.ts';

interface DnsResolverOptions {
  /** At least one; asked in this order. */
  servers: DnsServer[];
  clock: Clock;
  /** Milliseconds for a query in all, including its turn and its retries. */
  timeoutMs?: number;
  /** Milliseconds that one server has for one attempt. */
  attemptMs?: number;
  maxInFlight?: number;
  /** The part of these open to background queries. */
  maxBackground?: number;
  maxCached?: number;
}

interface DnsResolver extends Resolver {
  /**
   * The same resolver with the same cache for work that nobody waits for. It leaves part of the limit
   * to the others, so that many domains with dead servers do not hold up the analysis of mail.
   */
  background: Resolver;
  close(): void;
}

/**
 * A resolver over UDP, and over TCP where a reply is truncated. Concurrent queries for the same record
 * share one answer. Names that cannot exist are `nxdomain` without a query. After `close()` queries,
 * those in flight included, fail with `disabled` unless the cache has the answer.
 */
export function createDnsResolver(options: DnsResolverOptions): DnsResolver {
  const { timeoutMs = 5000, maxInFlight = 200, maxCached = 10_000 } = options;
  const { maxBackground = Math.ceil(maxInFlight / 2) } = options;
  const cache = createDnsCache(options.clock, maxCached);
  const gate = limitInFlight(maxInFlight);
  const backgroundGate = limitInFlight(maxBackground);
  const ask = createServerQuery(options.servers, options.attemptMs ?? 1500);
  const deadlines = new Set<Deadline>();
  let closed = false;

  async function queryNetwork(name: string, type: RecordType, signal: AbortSignal) {
    try {
      const reading = await ask(name, type, signal);
      if (reading.kind === 'failure') return failed(reading.reason);
      cache.set(`${name}/${type}`, reading.answer, reading.keepSeconds);
      return reading.answer;
    } catch {
      // Only what the system refuses gets here: no socket left, an address family that is missing.
      return failed('unreachable');
    }
  }

  const queryInTime =
    (gates: Gate[]): Resolver =>
    async (name, type) => {
      if (closed) return failed('disabled');
      const deadline = startDeadline(timeoutMs);
      deadlines.add(deadline);
      const { signal } = deadline;
      const answer = await passGates(gates, signal, () => queryNetwork(name, type, signal));
      deadline.stop();
      deadlines.delete(deadline);
      return closed ? failed('disabled') : answer;
    };

  const resolve = sharedAndCached(queryInTime([gate]), cache);
  return Object.assign(resolve, {
    // It shares no query in flight with the foreground, which would wait in its queue.
    background: sharedAndCached(queryInTime([backgroundGate, gate]), cache),
    close() {
      closed = true;
      for (const deadline of deadlines) deadline.expire();
    },
  });
}

/** Enters each gate in turn; a `timeout` if the signal comes before there is a place. */
async function passGates(
  [first, ...more]: Gate[],
  signal: AbortSignal,
  work: () => Promise<DnsAnswer>,
): Promise<DnsAnswer> {
  if (!first) return work();
  if (!(await first.enter(signal))) return failed('timeout');
  try {
    return await passGates(more, signal, work);
  } finally {
    first.leave();
  }
}

/** Answers from the cache where it can, and queries each record once at a time. */
function sharedAndCached(ask: Resolver, cache: DnsCache): Resolver {
  const inFlight = new Map<string, Promise<DnsAnswer>>();
  return async (name, type) => {
    const asked = queryName(name);
    if (asked === null) return { status: 'nxdomain' };
    const key = `${asked}/${type}`;
    const kept = cache.get(key);
    if (kept) return copyAnswer(kept);
    const shared = inFlight.get(key) ?? ask(asked, type).finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return copyAnswer(await shared);
  };
}

/** Each caller gets its own records: sorting them must not reach the cache. */
function copyAnswer(answer: DnsAnswer): DnsAnswer {
  return answer.status === 'found' ? { ...answer, records: [...answer.records] } : answer;
}

function failed(reason: DnsErrorReason): DnsAnswer {
  return { status: 'error', reason };
}

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

/** An empty cache of at most `maxEntries` answers; the least recently used go first. */
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
      // More than at the start: the clock was set back in the meantime.
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

/** The servers of this machine's resolv.conf; loopback where it names none. */
export function systemDnsServers(): DnsServer[] {
  return parseDnsServers(getServers().join(',')) ?? [{ host: '127.0.0.1', port: 53 }];
}
