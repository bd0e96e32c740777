/** Rate limits per key, session, or IP address over a sliding window, counted in memory. */

import ipaddr from 'ipaddr.js';
import type { Rate } from '../config/readers.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';

/** Bounds memory: at most twice as many callers are tracked, and the least recently active are dropped. */
const MAX_CALLERS = 20_000;
/** A window slides in steps of one slot. */
export const SLOTS = 12;

/** The requests of one caller within the window, by time slot. */
interface Count {
  /** The start time of slot 0, and the number of the latest slot. */
  start: number;
  latest: number;
  slots: number[];
  /** The sum of the slots. */
  used: number;
}

/** The decision on one request, for the header fields of draft-ietf-httpapi-ratelimit-headers. */
export interface RateLimitDecision {
  allowed: boolean;
  /** The number of remaining requests. */
  left: number;
  /** Whole seconds until the requests of the oldest slot no longer count, at least 1. */
  reset: number;
}

export interface RateLimit extends Rate {
  /** The name in the header fields of responses. */
  name: string;
  /** Counts a request of a caller, or what else is limited, in `units`. A rejected request doesn't count. */
  consume(caller: string, units?: number): RateLimitDecision | Promise<RateLimitDecision>;
}

/** Counts in this process only. */
interface LocalRateLimit extends RateLimit {
  consume(caller: string, units?: number): RateLimitDecision;
}

/** `name` appears in the header fields of responses. */
export function createRateLimit(
  name: string,
  { requests, seconds }: Rate,
  clock: Clock,
  maxCallers = MAX_CALLERS,
): LocalRateLimit {
  const window = seconds * 1000;
  const countOf = createCounts(window, maxCallers);
  return {
    name,
    requests,
    seconds,
    consume(caller, units = 1) {
      const now = clock.now();
      const count = countOf(caller, now);
      slide(count, now, window);
      const allowed = count.used + units <= requests;
      if (allowed) {
        count.slots[count.latest % SLOTS]! += units;
        count.used += units;
      }
      const reset = Math.max(1, Math.ceil((oldestSlotEnd(count, window) - now) / 1000));
      return { allowed, left: requests - count.used, reset };
    },
  };
}

/** A route with its own limit, or with the name of the operation whose limit it shares. */
interface LimitedRoute {
  operation: string;
  limit?: Rate | string;
}

/**
 * Returns a function that finds the limit of a route; undefined if it has none. Routes that name the
 * same operation share a limit. The function throws if that operation has no limit.
 */
export function createLimits(
  routes: LimitedRoute[],
  create: (operation: string, limit: Rate) => RateLimit,
) {
  const limits = new Map<string, RateLimit>();
  for (const { operation, limit } of routes)
    if (typeof limit === 'object') limits.set(operation, create(operation, limit));
  return ({ operation, limit }: LimitedRoute): RateLimit | undefined => {
    if (limit === undefined) return undefined;
    const rateLimit = limits.get(typeof limit === 'string' ? limit : operation);
    if (!rateLimit) throw new Error(`${operation} shares the limit of an operation without one`);
    return rateLimit;
  };
}

/** The count of each caller, in two generations. The older one is dropped when the younger is full. */
function createCounts(window: number, maxCallers: number): (caller: string, now: number) => Count {
  let young = new Map<string, Count>();
  let old = new Map<string, Count>();
  let rotatedAt = 0;
  return (caller, now) => {
    // A count without requests for a whole window is zero.
    if (young.size >= maxCallers || Math.abs(now - rotatedAt) >= window) {
      [old, young] = [young, new Map()];
      rotatedAt = now;
    }
    let count = young.get(caller);
    if (!count) {
      count = old.get(caller) ?? { start: now, latest: 0, slots: Array(SLOTS).fill(0), used: 0 };
      young.set(caller, count);
    }
    return count;
  };
}

/** Moves a count to the current time and drops requests outside the window. */
function slide(count: Count, now: number, window: number): void {
  const current = Math.floor(((now - count.start) * SLOTS) / window);
  // If the clock was set back, earlier requests count from now.
  if (current < count.latest) count.start = now - (count.latest * window) / SLOTS;
  for (const last = Math.min(current, count.latest + SLOTS); count.latest < last; ) {
    count.latest += 1;
    const slot = count.latest % SLOTS;
    count.used -= count.slots[slot]!;
    count.slots[slot] = 0;
  }
  if (count.used > 0) return;
  count.start = now;
  count.latest = 0;
}

/** The time at which the oldest slot with requests leaves the window. */
function oldestSlotEnd({ start, latest, slots }: Count, window: number): number {
  let slot = Math.max(0, latest - SLOTS + 1);
  while (slot < latest && slots[slot % SLOTS] === 0) slot += 1;
  return start + ((slot + SLOTS) * window) / SLOTS;
}

/** The key under which requests of an address count. For IPv6 that is its /64, which one site controls. */
export function addressGroup(ip: string | null): string {
  if (ip === null) return 'unknown';
  if (!ip.includes(':')) return ip;
  return `${ipaddr.parse(ip).toByteArray().slice(0, 8).join('.')}/64`;
}

/** Counts a request under a limit and adds its header fields to `fields`. Throws `rate_limited`. */
export async function consumeRateLimit(
  limit: RateLimit,
  caller: string,
  fields: Record<string, string>,
  units?: number,
): Promise<void> {
  const { name, requests, seconds } = limit;
  const { allowed, left, reset } = await limit.consume(caller, units);
  addItem(fields, 'ratelimit-policy', `"${name}";q=${requests};w=${seconds}`);
  addItem(fields, 'ratelimit', `"${name}";r=${left};t=${reset}`);
  if (!allowed)
    throw new AppError(
      'rate_limited',
      `Too many requests: the limit is ${requests} in ${seconds} seconds. Try again in ${secondsInWords(reset)}.`,
      [],
      { 'retry-after': String(reset) },
    );
}

/** "1 second" or "5 seconds". */
export const secondsInWords = (seconds: number): string =>
  `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;

function addItem(fields: Record<string, string>, name: string, item: string): void {
  fields[name] = fields[name] === undefined ? item : `${fields[name]}, ${item}`;
}
