/** Protects sign-in from password guessing and overload. Its state is in memory, and on PostgreSQL partly shared. */

import type { App } from '../app.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { rateLimitFor } from '../http/shared-rate-limit.ts';
import { createSemaphore, type Semaphore } from '../lib/concurrency.ts';
import { hashPassword, type PasswordCost, verifyPassword } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { memoizePerObject } from '../lib/memoize.ts';
import { engineOf } from '../store/open.ts';
import { type AttemptThrottle, createAttemptThrottle } from './attempts.ts';
import { createSharedAttemptThrottle } from './shared-attempts.ts';

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
  (app: Pick<App, 'clock' | 'passwordCost' | 'db'>): SignInGuard => ({
    passwords: createPasswordHasher(app.passwordCost),
    attempts: attemptThrottleFor(app, 'sign-in'),
    resets: attemptThrottleFor(app, 'reset'),
    resetLimit: rateLimitFor(app, 'password_resets', RESET_LIMIT),
  }),
);

const attemptThrottleFor = (app: Pick<App, 'clock' | 'db'>, kind: string): AttemptThrottle =>
  engineOf(app.db) === 'sqlite'
    ? createAttemptThrottle(app.clock)
    : createSharedAttemptThrottle(app, kind);

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
