/** Growing delays after failed attempts, counted per account, IP address, and known browser, in memory. */

import { addressGroup, secondsInWords } from '../http/rate-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';

/** The number of failed attempts without a delay. After that, the delay is 1, 2, 4 … seconds up to the maximum. */
const FREE_ATTEMPTS = 3;
const MAX_DELAY_MS = 60_000;
/** Failed attempts are forgotten after this time without another one. */
export const FORGET_AFTER_MS = 15 * 60_000;
/** The maximum number of counters of each kind. */
const MAX_COUNTERS = 10_000;

interface Attempt {
  /** The name of the account, such as the email address, whether or not it exists. */
  account: string;
  /** The client's IP address; null if unknown. */
  ip: string | null;
  /**
   * The ID of a browser that has signed in to this account before. Its attempts are counted separately, so
   * that other clients can't delay it.
   */
  device?: string | null;
}

/** The names of the counters of an attempt. Success clears the first one. */
export function counterNames({ account, ip, device }: Attempt): string[] {
  const name = sha256(account);
  if (device) return [`device ${name} ${device}`];
  return [`account ${name}`, ...(ip === null ? [] : [`address ${sha256(addressGroup(ip))}`])];
}

export interface AttemptThrottle {
  /**
   * Runs `check` and counts the attempt as failed if it returns null. Throws `rate_limited` during a
   * delay. A successful attempt clears the account, but not the IP address: otherwise, a client with
   * an account could keep guessing at others. For a known browser, it clears only the browser.
   */
  attempt<T>(attempt: Attempt, check: () => Promise<T | null>): Promise<T | null>;
  /** Forgets the failed attempts of an account. */
  clear(account: string): Promise<void>;
}

interface Counter {
  failed: number;
  /** When the last failed attempt ended. */
  lastFailedAt: number;
  /** Attempts in progress. They count as failed, so that concurrent guesses gain nothing. */
  running: number;
}

export function createAttemptThrottle(clock: Clock, maxCounters = MAX_COUNTERS): AttemptThrottle {
  const newCounters = () => createCounters(clock, maxCounters);
  // Separate, so that one kind can't evict another.
  const [accounts, addresses, devices] = [newCounters(), newCounters(), newCounters()];
  /** The counters of an attempt. Success clears the first one. */
  const countersOf = ({ account, ip, device }: Attempt): CounterHandle[] => {
    const name = sha256(account);
    if (device) return [devices.of(`${name} ${device}`)];
    return [accounts.of(name), ...(ip === null ? [] : [addresses.of(addressGroup(ip))])];
  };
  return {
    async attempt(attempt, check) {
      const handles = countersOf(attempt);
      const counters = handles.map(({ counter }) => counter);
      const delay = Math.max(...counters.map((counter) => delayOf(counter, clock.now())));
      if (delay > 0) throw tooManyAttempts(delay);
      for (const { store } of handles) store();
      for (const counter of counters) counter.running++;
      let failed = false;
      try {
        const result = await check();
        failed = result === null;
        if (!failed) handles[0]!.remove();
        return result;
      } finally {
        for (const counter of counters) {
          counter.running--;
          if (failed)
            Object.assign(counter, { failed: counter.failed + 1, lastFailedAt: clock.now() });
        }
      }
    },
    clear: async (account) => accounts.of(sha256(account)).remove(),
  };
}

interface CounterHandle {
  counter: Counter;
  /** Stores the counter. Rejected attempts never store one, so they use no memory. */
  store(): void;
  remove(): void;
}

function createCounters(clock: Clock, maxCounters: number): { of(key: string): CounterHandle } {
  const counters = new Map<string, Counter>();
  return {
    of(key) {
      const counter = counters.get(key) ?? { failed: 0, lastFailedAt: 0, running: 0 };
      const now = clock.now();
      // Setting the clock back must not extend a delay.
      counter.lastFailedAt = Math.min(counter.lastFailedAt, now);
      if (isForgotten(counter.lastFailedAt, now)) counter.failed = 0;
      return {
        counter,
        store() {
          // Moves it to the end of the map: of equal counters, the first is evicted.
          counters.delete(key);
          if (counters.size >= maxCounters) counters.delete(findEvictable(counters, now)!);
          counters.set(key, counter);
        },
        remove: () => void counters.delete(key),
      };
    },
  };
}

export const isForgotten = (lastFailedAt: number, now: number): boolean =>
  now - lastFailedAt >= FORGET_AFTER_MS;

/**
 * The counter with the fewest failed attempts, so that many invented names can't evict the account
 * under attack. Of equal counters, the one that was used least recently.
 */
function findEvictable(counters: Map<string, Counter>, now: number): string | undefined {
  let candidate: string | undefined;
  let lowestWeight = Number.POSITIVE_INFINITY;
  for (const [key, counter] of counters) {
    const weight = counter.running + (isForgotten(counter.lastFailedAt, now) ? 0 : counter.failed);
    if (weight < lowestWeight) [candidate, lowestWeight] = [key, weight];
    if (lowestWeight === 0) break;
  }
  return candidate;
}

/** Milliseconds until the next attempt is allowed. */
export function delayOf({ failed, lastFailedAt, running }: Counter, now: number): number {
  const delay =
    failed < FREE_ATTEMPTS ? 0 : Math.min(1000 * 2 ** (failed - FREE_ATTEMPTS), MAX_DELAY_MS);
  const remaining = lastFailedAt + delay - now;
  if (remaining > 0) return remaining;
  // All running attempts may fail. Beyond the free attempts, they run one at a time.
  return running > 0 && failed + running >= FREE_ATTEMPTS ? 1000 : 0;
}

export function tooManyAttempts(delayMs: number): AppError {
  const seconds = Math.ceil(delayMs / 1000);
  return new AppError(
    'rate_limited',
    `Too many sign-in attempts. Try again in ${secondsInWords(seconds)}.`,
    [],
    { 'retry-after': String(seconds) },
  );
}
