/**
 * The DNS client: retries, one cache, and a limit on queries in flight.
 *
 * Why not a library: Node's `dns` hides the RCODE, the AD bit and most TTLs, and its `reverse()`
 * reads the hosts file. dns-packet encodes and decodes the messages.
 */

import { getServers } from 'node:dns';
import { type DnsServer, parseDnsServers } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  createSemaphore,
  type Deadline,
  type Semaphore,
  startDeadline,
} from '../../lib/concurrency.ts';
import { normalizeQueryName } from './message.ts';
import {
  copyAnswer,
  type DnsAnswer,
  type DnsErrorReason,
  type RecordType,
  type Resolver,
} from './resolver.ts';
import { createServerQuery } from './transport.ts';

interface DnsResolverOptions {
  /** At least one; queried in this order. */
  servers: DnsServer[];
  clock: Clock;
  /** Time limit of a query in milliseconds, including its wait in the queue and retries. Default 5,000. */
  timeoutMs?: number;
  /** Time limit of one attempt at one server in milliseconds. Default 1,500. */
  attemptMs?: number;
  /** Maximum number of concurrent queries. Default 200. */
  maxInFlight?: number;
  /** How many of these may be background queries. Default half. */
  maxBackground?: number;
  maxCached?: number;
}

interface DnsResolver extends Resolver {
  /**
   * The same resolver with the same cache, for background work. It may use only part of the limit, so
   * that many domains with dead servers do not delay the analysis of mail.
   */
  background: Resolver;
  /** Removes the cached answers about a name. */
  forget(name: string): void;
  close(): void;
}

/**
 * Creates a resolver over UDP, and over TCP for truncated replies. Concurrent queries for the same
 * record share one answer. Names that cannot exist are `nxdomain` without a query. After `close()`,
 * all queries that the cache cannot answer fail with `disabled`, including those in flight.
 */
export function createDnsResolver(options: DnsResolverOptions): DnsResolver {
  const { timeoutMs = 5000, maxInFlight = 200, maxCached = 10_000 } = options;
  const { maxBackground = Math.ceil(maxInFlight / 2) } = options;
  const cache = createDnsCache(options.clock, maxCached);
  const semaphore = createSemaphore(maxInFlight);
  const backgroundSemaphore = createSemaphore(maxBackground);
  const query = createServerQuery(options.servers, options.attemptMs ?? 1500);
  const deadlines = new Set<Deadline>();
  let closed = false;

  async function queryNetwork(name: string, type: RecordType, signal: AbortSignal) {
    try {
      const reply = await query(name, type, signal);
      if (reply.kind === 'failure') return failed(reply.reason);
      cache.set(`${name}/${type}`, reply.answer, reply.cacheSeconds);
      return reply.answer;
    } catch {
      // System errors only, such as no sockets left or a missing address family.
      return failed('unreachable');
    }
  }

  const withDeadline =
    (semaphores: Semaphore[]): Resolver =>
    async (name, type) => {
      if (closed) return failed('disabled');
      const deadline = startDeadline(timeoutMs);
      deadlines.add(deadline);
      const { signal } = deadline;
      const answer = await withSemaphores(semaphores, signal, () =>
        queryNetwork(name, type, signal),
      );
      deadline.stop();
      deadlines.delete(deadline);
      return closed ? failed('disabled') : answer;
    };

  const resolve = withCache(withDeadline([semaphore]), cache);
  return Object.assign(resolve, {
    // Shares no queries in flight with the foreground, which would then wait in the background queue.
    background: withCache(withDeadline([backgroundSemaphore, semaphore]), cache),
    forget: (name: string) => cache.forget(name),
    close() {
      closed = true;
      for (const deadline of deadlines) deadline.expire();
    },
  });
}

/** Acquires each semaphore in turn; returns `timeout` if the signal aborts while it waits. */
async function withSemaphores(
  [first, ...others]: Semaphore[],
  signal: AbortSignal,
  work: () => Promise<DnsAnswer>,
): Promise<DnsAnswer> {
  if (!first) return work();
  if (!(await first.acquire(signal))) return failed('timeout');
  try {
    return await withSemaphores(others, signal, work);
  } finally {
    first.release();
  }
}

/** Answers from the cache if possible, and shares one query between concurrent callers. */
function withCache(query: Resolver, cache: DnsCache): Resolver {
  const inFlight = new Map<string, Promise<DnsAnswer>>();
  return async (name, type) => {
    const normalized = normalizeQueryName(name);
    if (normalized === null) return { status: 'nxdomain' };
    const key = `${normalized}/${type}`;
    const cached = cache.get(key);
    if (cached) return copyAnswer(cached);
    const shared = inFlight.get(key) ?? query(normalized, type).finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return copyAnswer(await shared);
  };
}

function failed(reason: DnsErrorReason): DnsAnswer {
  return { status: 'error', reason };
}

/**
 * In seconds. Long enough for messages that arrive together, and short enough that the next analysis
 * sees a record that its owner has just corrected.
 */
const MAX_POSITIVE_TTL = 60;
const MAX_NEGATIVE_TTL = 30;

interface DnsCache {
  /** The answer with its remaining `ttl`, or null. */
  get(key: string): DnsAnswer | null;
  /** Caches the answer for `seconds`, up to the maximum TTL; ignores errors. */
  set(key: string, answer: DnsAnswer, seconds: number): void;
  /** Removes the answers of all types. */
  forget(name: string): void;
  readonly size: number;
}

/** Creates a cache of at most `maxEntries` answers, which evicts the least recently used. */
export function createDnsCache(clock: Clock, maxEntries: number): DnsCache {
  const entries = new Map<string, { answer: DnsAnswer; ttl: number; expiresAt: number }>();
  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const entry = entries.get(key);
      if (!entry) return null;
      // A Map keeps insertion order, so its first key is the least recently used.
      entries.delete(key);
      const remaining = Math.floor((entry.expiresAt - clock.now()) / 1000);
      // More than the original TTL means that the clock was set back.
      if (remaining <= 0 || remaining > entry.ttl) return null;
      entries.set(key, entry);
      return entry.answer.status === 'found' ? { ...entry.answer, ttl: remaining } : entry.answer;
    },
    set(key, answer, seconds) {
      const cap = answer.status === 'found' ? MAX_POSITIVE_TTL : MAX_NEGATIVE_TTL;
      const ttl = Math.min(seconds, cap);
      if (answer.status === 'error' || !(ttl > 0)) return;
      entries.delete(key);
      entries.set(key, { answer, ttl, expiresAt: clock.now() + ttl * 1000 });
      const oldest = entries.keys().next();
      if (entries.size > maxEntries && !oldest.done) entries.delete(oldest.value);
    },
    forget(name) {
      for (const key of entries.keys()) if (key.startsWith(`${name}/`)) entries.delete(key);
    },
  };
}

/** The DNS servers in resolv.conf, or loopback if there are none. */
export function systemDnsServers(): DnsServer[] {
  return parseDnsServers(getServers().join(',')) ?? [{ host: '127.0.0.1', port: 53 }];
}
