/** Protects sign-in from password guessing and overload. Its state is in memory. */

import type { App } from '../app.ts';
import {
  addressGroup,
  createRateLimit,
  type RateLimit,
  secondsInWords,
} from '../http/rate-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { createSemaphore, type Semaphore } from '../lib/concurrency.ts';
import { hashPassword, type PasswordCost, sha256, verifyPassword } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';

/** Requests for password links per IP address. */
const RESET_LIMIT = { requests: 20, seconds: 60 };

export interface SignInGuard {
  /** Hashes and verifies passwords with limited concurrency. */
  passwords: PasswordHasher;
  /** Delays password guessing. */
  attempts: AttemptThrottle;
  /** Delays emails with password links, per account only. Callers don't reveal the delay. */
  resets: AttemptThrottle;
  /** Limits requests for password links per client, for any accounts. */
  resetLimit: RateLimit;
}

/** The guard of a service; the same object for every caller. */
export const signInGuardOf = memoizePerObject(
  ({ clock, passwordCost }: Pick<App, 'clock' | 'passwordCost'>): SignInGuard => ({
    passwords: createPasswordHasher(passwordCost),
    attempts: createAttemptThrottle(clock),
    resets: createAttemptThrottle(clock),
    resetLimit: createRateLimit('password_resets', RESET_LIMIT, clock),
  }),
);

// Growing delays after failed attempts, counted per account, IP address, and known browser.

/** The number of failed attempts without a delay. After that, the delay is 1, 2, 4 … seconds up to the maximum. */
const FREE_ATTEMPTS = 3;
const MAX_DELAY_MS = 60_000;
/** Failed attempts are forgotten after this time without another one. */
const FORGET_AFTER_MS = 15 * 60_000;
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

export interface AttemptThrottle {
  /**
   * Runs `check` and counts the attempt as failed if it returns null. Throws `rate_limited` during a
   * delay. A successful attempt clears the account, but not the IP address: otherwise, a client with
   * an account could keep guessing at others. For a known browser, it clears only the browser.
   */
  attempt<T>(attempt: Attempt, check: () => Promise<T | null>): Promise<T | null>;
  /** Forgets the failed attempts of an account. */
  clear(account: string): void;
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
    clear: (account) => accounts.of(sha256(account)).remove(),
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
      if (isForgotten(counter, now)) counter.failed = 0;
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

const isForgotten = ({ lastFailedAt }: Counter, now: number): boolean =>
  now - lastFailedAt >= FORGET_AFTER_MS;

/**
 * The counter with the fewest failed attempts, so that many invented names can't evict the account
 * under attack. Of equal counters, the one that was used least recently.
 */
function findEvictable(counters: Map<string, Counter>, now: number): string | undefined {
  let candidate: string | undefined;
  let lowestWeight = Number.POSITIVE_INFINITY;
  for (const [key, counter] of counters) {
    const weight = counter.running + (isForgotten(counter, now) ? 0 : counter.failed);
    if (weight < lowestWeight) [candidate, lowestWeight] = [key, weight];
    if (lowestWeight === 0) break;
  }
  return candidate;
}

/** Milliseconds until the next attempt is allowed. */
function delayOf({ failed, lastFailedAt, running }: Counter, now: number): number {
  const delay =
    failed < FREE_ATTEMPTS ? 0 : Math.min(1000 * 2 ** (failed - FREE_ATTEMPTS), MAX_DELAY_MS);
  const remaining = lastFailedAt + delay - now;
  if (remaining > 0) return remaining;
  // All running attempts may fail. Beyond the free attempts, they run one at a time.
  return running > 0 && failed + running >= FREE_ATTEMPTS ? 1000 : 0;
}

function tooManyAttempts(delayMs: number): AppError {
  const seconds = Math.ceil(delayMs / 1000);
  return new AppError(
    'rate_limited',
    `Too many sign-in attempts. Try again in ${secondsInWords(seconds)}.`,
    [],
    { 'retry-after': String(seconds) },
  );
}

// Hashes and verifies passwords with limited concurrency. Each takes 32 MB and a thread for a while.

/** Half of libuv's default thread pool, because file access needs threads too. */
const MAX_CONCURRENT_HASHES = 2;
/** A few seconds of work, per queue. */
const MAX_WAITING_HASHES = 50;

interface VerifyOptions {
  signal?: AbortSignal;
  /** For a member who is or was signed in on this browser. They don't wait behind unknown clients. */
  isKnownClient?: boolean;
}

interface PasswordHasher {
  /**
   * Hashes a password for storage. Callers have a link or know the password, so they count as known.
   * Throws `unavailable` if too many are waiting.
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** A null hash takes the same time and returns false. Throws `unavailable` if too many are waiting. */
  verify(password: string, hash: string | null, options?: VerifyOptions): Promise<boolean>;
}

/** `cost` is the cost of new hashes; it defaults to PASSWORD_COST. */
export function createPasswordHasher(cost?: PasswordCost): PasswordHasher {
  const gate = createSemaphore(MAX_CONCURRENT_HASHES);
  const knownClients = createQueue([gate]);
  // An additional gate, so that only a few requests of unknown clients wait at the shared gate.
  const unknownClients = createQueue([createSemaphore(MAX_CONCURRENT_HASHES), gate]);
  return {
    hash: (password, signal) => knownClients(signal, () => hashPassword(password, cost)),
    verify: (password, hash, options = {}) =>
      (options.isKnownClient ? knownClients : unknownClients)(options.signal, () =>
        verifyPassword(password, hash, cost),
      ),
  };
}

type Queue = <T>(signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;

/** Runs work once it has passed all gates. Throws `unavailable` if too much is waiting. */
function createQueue(gates: Semaphore[]): Queue {
  let pending = 0;
  return async (signal = NEVER_ABORTED, work) => {
    if (pending >= MAX_CONCURRENT_HASHES + MAX_WAITING_HASHES) throw tooBusy();
    pending++;
    try {
      return await runBehindGates(gates, signal, work);
    } finally {
      pending--;
    }
  };
}

async function runBehindGates<T>(
  [gate, ...innerGates]: Semaphore[],
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  if (!gate) return work();
  if (!(await gate.acquire(signal))) throw tooBusy();
  try {
    return await runBehindGates(innerGates, signal, work);
  } finally {
    gate.release();
  }
}

const NEVER_ABORTED = new AbortController().signal;

const tooBusy = () =>
  new AppError('unavailable', 'The server is busy. Try again in a second.', [], {
    'retry-after': '1',
  });
