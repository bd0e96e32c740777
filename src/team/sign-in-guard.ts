/** What protects sign-in, kept in memory for the whole service. */

import type { App } from '../app.ts';
import { addressGroup, createRateLimit, type RateLimit } from '../http/rate-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { type Gate, limitInFlight } from '../lib/concurrency.ts';
import { hashPassword, type PasswordCost, sha256, verifyPassword } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { oncePer } from '../lib/once-per.ts';

/** Requests for links to set a password, of one address. */
const RESET_LIMIT = { requests: 20, seconds: 60 };

export interface SignInGuard {
  /** Hashes and checks passwords, a few at once. */
  passwords: PasswordWork;
  /** Slows down who guesses passwords. */
  tries: Delays;
  /** Slows down mail with links to set one, by the account alone: nobody is told. */
  resets: Delays;
  /** How many such links one client may ask for, whatever accounts it names. */
  resetLimit: RateLimit;
}

/** That of a service: one, whoever asks for it. */
export const signInGuardOf = oncePer(
  ({ clock, passwordCost }: Pick<App, 'clock' | 'passwordCost'>): SignInGuard => ({
    passwords: createPasswordWork(passwordCost),
    tries: createDelays(clock),
    resets: createDelays(clock),
    resetLimit: createRateLimit('password_resets', RESET_LIMIT, clock),
  }),
);

// Growing delays for who guesses: counted for each account, address and known browser, in memory, bounded.

/** So many wrong tries are free; then 1, 2, 4 … seconds pass before the next, and never more than these. */
const FREE_TRIES = 3;
const MAX_DELAY_MS = 60_000;
/** A quarter of an hour without a wrong try, and they are forgotten. */
const FORGET_MS = 15 * 60_000;
/** So many of each kind are remembered at once. */
const MAX_REMEMBERED = 10_000;

interface Guess {
  /** What is tried, such as the e-mail address, whether or not it is known. */
  account: string;
  /** The client's IP address; null where it is not known. */
  ip: string | null;
  /**
   * A browser that has signed in to this very account before. Its tries are counted for it alone:
   * no stranger, and no neighbour behind the same address, makes it wait.
   */
  device?: string | null;
}

export interface Delays {
  /**
   * Runs one try, and counts it as wrong where it gives null. Throws `rate_limited` instead while a
   * delay lasts. A right one clears the account, not the address: who has an account of their own
   * could otherwise go on guessing at others. That of a known browser clears the browser alone.
   */
  attempt<T>(guess: Guess, check: () => Promise<T | null>): Promise<T | null>;
  /** Nothing is held against the account any more. */
  clear(account: string): void;
}

interface Tries {
  wrong: number;
  /** When the last wrong one ended. */
  at: number;
  /** Tries whose outcome is not known yet: many at once gain nothing. */
  running: number;
}

export function createDelays(clock: Clock, maxRemembered = MAX_REMEMBERED): Delays {
  const newMemory = () => createMemory(clock, maxRemembered);
  // Each kind apart, so that none of one kind drives out one of another.
  const [accounts, addresses, devices] = [newMemory(), newMemory(), newMemory()];
  /** By whom a try is counted; first for whom it is cleared where it is right. */
  const countsOf = ({ account, ip, device }: Guess): Counted[] => {
    const name = sha256(account);
    if (device) return [devices.of(`${name} ${device}`)];
    return [accounts.of(name), ...(ip === null ? [] : [addresses.of(addressGroup(ip))])];
  };
  return {
    async attempt(guess, check) {
      const counted = countsOf(guess);
      const all = counted.map(({ tries }) => tries);
      const wait = Math.max(...all.map((tries) => waitOf(tries, clock.now())));
      if (wait > 0) throw tooManyTries(wait);
      for (const { keep } of counted) keep();
      for (const tries of all) tries.running++;
      let wrong = false;
      try {
        const found = await check();
        wrong = found === null;
        if (!wrong) counted[0]!.forget();
        return found;
      } finally {
        for (const tries of all) {
          tries.running--;
          if (wrong) Object.assign(tries, { wrong: tries.wrong + 1, at: clock.now() });
        }
      }
    },
    clear: (account) => accounts.of(sha256(account)).forget(),
  };
}

interface Counted {
  tries: Tries;
  /** Until then nothing is remembered of who has not tried before: a refused try costs no room. */
  keep(): void;
  forget(): void;
}

function createMemory(clock: Clock, maxRemembered: number): { of(who: string): Counted } {
  const remembered = new Map<string, Tries>();
  return {
    of(who) {
      const tries = remembered.get(who) ?? { wrong: 0, at: 0, running: 0 };
      const now = clock.now();
      // A clock that was set back must not make a delay longer.
      tries.at = Math.min(tries.at, now);
      if (isOver(tries, now)) tries.wrong = 0;
      return {
        tries,
        keep() {
          // Put at the end of the map: of equals, the beginning is forgotten first.
          remembered.delete(who);
          if (remembered.size >= maxRemembered) remembered.delete(mostHarmless(remembered, now)!);
          remembered.set(who, tries);
        },
        forget: () => void remembered.delete(who),
      };
    },
  };
}

const isOver = ({ at }: Tries, now: number): boolean => now - at >= FORGET_MS;

/**
 * Who has the fewest wrong tries, so that no crowd of invented names drives out the one that is
 * guessed at; of equals, who has not tried for longest.
 */
function mostHarmless(remembered: Map<string, Tries>, now: number): string | undefined {
  let found: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const [who, tries] of remembered) {
    const weight = tries.running + (isOver(tries, now) ? 0 : tries.wrong);
    if (weight < fewest) [found, fewest] = [who, weight];
    if (fewest === 0) break;
  }
  return found;
}

/** Milliseconds until the next try may be made. */
function waitOf({ wrong, at, running }: Tries, now: number): number {
  const delay = wrong < FREE_TRIES ? 0 : Math.min(1000 * 2 ** (wrong - FREE_TRIES), MAX_DELAY_MS);
  const rest = at + delay - now;
  if (rest > 0) return rest;
  // Those under way may all turn out wrong: at most the free ones are, and then one by one.
  return running > 0 && wrong + running >= FREE_TRIES ? 1000 : 0;
}

function tooManyTries(wait: number): AppError {
  const seconds = Math.ceil(wait / 1000);
  return new AppError(
    'rate_limited',
    `Too many tries. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    [],
    { 'retry-after': String(seconds) },
  );
}

// Hashing and checking passwords, a few at once: each takes 32 MB and a thread for a while.

/** Half of Node's threads: files and others need some too. */
const MAX_CONCURRENT_HASHES = 2;
/** Some seconds of work; who comes later is told so. Of strangers, and of the others besides. */
const MAX_WAITING_HASHES = 50;

interface PasswordWorkOptions {
  signal?: AbortSignal;
  /**
   * A member who is signed in, or in a browser where they were before: they wait for no crowd of
   * strangers.
   */
  known?: boolean;
}

interface PasswordWork {
  /**
   * The hash to keep; asked for by who has a link, or has told the password, so known. Throws
   * `unavailable` where too many wait already.
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** As `verifyPassword`: a null hash takes as long and is false. Throws `unavailable` likewise. */
  verify(password: string, hash: string | null, asking?: PasswordWorkOptions): Promise<boolean>;
}

/** `cost` is that of new hashes; PASSWORD_COST unless said. */
export function createPasswordWork(cost?: PasswordCost): PasswordWork {
  const places = limitInFlight(MAX_CONCURRENT_HASHES);
  const known = createQueue([places]);
  // They wait among themselves first, so that never more of them than these stand before the known.
  const strangers = createQueue([limitInFlight(MAX_CONCURRENT_HASHES), places]);
  return {
    hash: (password, signal) => known(signal, () => hashPassword(password, cost)),
    verify: (password, hash, asking = {}) =>
      (asking.known ? known : strangers)(asking.signal, () => verifyPassword(password, hash, cost)),
  };
}

type Queue = <T>(signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;

/** Work that passes these gates one after the other; no more than so much at a time. */
function createQueue(gates: Gate[]): Queue {
  let inside = 0;
  return async (signal = NEVER_ABORTED, work) => {
    if (inside >= MAX_CONCURRENT_HASHES + MAX_WAITING_HASHES) throw tooBusy();
    inside++;
    try {
      return await passing(gates, signal, work);
    } finally {
      inside--;
    }
  };
}

async function passing<T>(
  [gate, ...others]: Gate[],
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  if (!gate) return work();
  if (!(await gate.enter(signal))) throw tooBusy();
  try {
    return await passing(others, signal, work);
  } finally {
    gate.leave();
  }
}

const NEVER_ABORTED = new AbortController().signal;

const tooBusy = () =>
  new AppError('unavailable', 'Too many passwords are being checked at this moment.', [], {
    'retry-after': '1',
  });
