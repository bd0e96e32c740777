/** Rate limits for each key, session or address, counted in memory over a sliding window. */

import ipaddr from 'ipaddr.js';
import type { Rate } from '../config/readers.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';

/**
 * How many callers are remembered, twice at most. Beyond it those who have not asked for longest are
 * forgotten: memory stays bounded whatever comes.
 */
const MAX_CALLERS = 20_000;
/** A window slides by this part of itself. */
const SLOTS = 12;

/** The requests of one caller within the window, by the slot of time in which they came. */
interface Count {
  /** When slot 0 began, and the number of the latest slot. */
  start: number;
  latest: number;
  slots: number[];
  /** The sum of the slots. */
  used: number;
}

/** The outcome for one request, as clients are told (draft-ietf-httpapi-ratelimit-headers). */
interface RateLimitDecision {
  allowed: boolean;
  /** How many more may follow. */
  left: number;
  /** Whole seconds until the requests of the oldest slot no longer count, at least 1. */
  reset: number;
}

export interface RateLimit extends Rate {
  /** What it is called in the fields of the answer. */
  name: string;
  /** Counts a request; one that is refused does not count. */
  consume(who: string): RateLimitDecision;
}

/** `name` is told to clients. */
export function createRateLimit(
  name: string,
  { requests, seconds }: Rate,
  clock: Clock,
  maxCallers = MAX_CALLERS,
): RateLimit {
  const window = seconds * 1000;
  const countOf = createCounts(window, maxCallers);
  return {
    name,
    requests,
    seconds,
    consume(who) {
      const now = clock.now();
      const count = countOf(who, now);
      slide(count, now, window);
      const allowed = count.used < requests;
      if (allowed) {
        count.slots[count.latest % SLOTS]! += 1;
        count.used += 1;
      }
      const reset = Math.max(1, Math.ceil((oldestLeaves(count, window) - now) / 1000));
      return { allowed, left: requests - count.used, reset };
    },
  };
}

/** Of a route: its name, and a limit of its own or the name of the operation whose limit it shares. */
interface LimitedRoute {
  operation: string;
  limit?: Rate | string;
}

/**
 * The limit of a route's own, undefined where it has none. Routes that name the same operation count
 * under one limit. Throws for the name of one that has none.
 */
export function createLimits(routes: LimitedRoute[], clock: Clock) {
  const limits = new Map<string, RateLimit>();
  for (const { operation, limit } of routes)
    if (typeof limit === 'object') limits.set(operation, createRateLimit(operation, limit, clock));
  return ({ operation, limit }: LimitedRoute): RateLimit | undefined => {
    if (limit === undefined) return undefined;
    const found = limits.get(typeof limit === 'string' ? limit : operation);
    if (!found) throw new Error(`${operation} shares a limit that is not there`);
    return found;
  };
}

/** The count of each caller; in two generations, of which the older one is dropped. */
function createCounts(window: number, maxCallers: number): (who: string, now: number) => Count {
  let young = new Map<string, Count>();
  let old = new Map<string, Count>();
  let turnedAt = 0;
  return (who, now) => {
    // What nobody has asked for during a whole window counts nothing any more.
    if (young.size >= maxCallers || Math.abs(now - turnedAt) >= window) {
      [old, young] = [young, new Map()];
      turnedAt = now;
    }
    let count = young.get(who);
    if (!count) {
      count = old.get(who) ?? { start: now, latest: 0, slots: Array(SLOTS).fill(0), used: 0 };
      young.set(who, count);
    }
    return count;
  };
}

/** Brings a count to the present: what has left the window counts no more. */
function slide(count: Count, now: number, window: number): void {
  const present = Math.floor(((now - count.start) * SLOTS) / window);
  // The clock was put back: what was counted counts from now.
  if (present < count.latest) count.start = now - (count.latest * window) / SLOTS;
  for (const last = Math.min(present, count.latest + SLOTS); count.latest < last; ) {
    count.latest += 1;
    const slot = count.latest % SLOTS;
    count.used -= count.slots[slot]!;
    count.slots[slot] = 0;
  }
  if (count.used > 0) return;
  count.start = now;
  count.latest = 0;
}

/** When the oldest slot that counts leaves the window. */
function oldestLeaves({ start, latest, slots }: Count, window: number): number {
  let slot = Math.max(0, latest - SLOTS + 1);
  while (slot < latest && slots[slot % SLOTS] === 0) slot += 1;
  return start + ((slot + SLOTS) * window) / SLOTS;
}

/** Whose count a request without valid credentials is: one household has a whole /64 of IPv6. */
export function addressGroup(ip: string | null): string {
  if (ip === null) return 'unknown';
  if (!ip.includes(':')) return ip;
  return `${ipaddr.parse(ip).toByteArray().slice(0, 8).join('.')}/64`;
}

/** Counts a request under a limit and adds to `fields` what the answer tells. Throws `rate_limited`. */
export function consumeRateLimit(
  limit: RateLimit,
  who: string,
  fields: Record<string, string>,
): void {
  const { name, requests, seconds } = limit;
  const { allowed, left, reset } = limit.consume(who);
  addItem(fields, 'ratelimit-policy', `"${name}";q=${requests};w=${seconds}`);
  addItem(fields, 'ratelimit', `"${name}";r=${left};t=${reset}`);
  if (!allowed)
    throw new AppError(
      'rate_limited',
      `No more than ${requests} requests in ${seconds} seconds are taken.`,
      [],
      { 'retry-after': String(reset) },
    );
}

function addItem(fields: Record<string, string>, name: string, item: string): void {
  fields[name] = fields[name] === undefined ? item : `${fields[name]}, ${item}`;
}
