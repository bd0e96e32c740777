/** Growing delays for who guesses: counted for each account and each address, in memory, bounded. */

import { addressGroup } from '../http/rate-limit.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';

/** So many wrong tries are free; then 1, 2, 4 … seconds pass before the next, and never more than these. */
const FREE_TRIES = 3;
const LONGEST_DELAY_MS = 60_000;
/** A quarter of an hour without a wrong try, and they are forgotten. */
const FORGET_MS = 15 * 60_000;
/** Accounts and addresses remembered at once; of more, those unused longest are forgotten. */
const MAX_REMEMBERED = 10_000;

interface Guess {
  /** What is tried, such as the e-mail address, whether or not it is known. */
  account: string;
  /** The client's IP address; null where it is not known. */
  ip: string | null;
}

export interface Delays {
  /**
   * Runs one try, and counts it as wrong where it gives null. Throws `rate_limited` instead while a
   * delay lasts. A right one clears the account, not the address: who has an account of their own
   * could otherwise go on guessing at others.
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
  const remembered = new Map<string, Tries>();
  const triesOf = (key: string): Tries => {
    const tries = remembered.get(key) ?? { wrong: 0, at: 0, running: 0 };
    const now = clock.now();
    // A clock that was set back must not make a delay longer.
    tries.at = Math.min(tries.at, now);
    if (now - tries.at >= FORGET_MS) tries.wrong = 0;
    // Put at the end of the map, whose beginning is forgotten first.
    remembered.delete(key);
    remembered.set(key, tries);
    if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!);
    return tries;
  };
  return {
    async attempt({ account, ip }, check) {
      const keys = [accountKey(account), ...(ip === null ? [] : [`address ${addressGroup(ip)}`])];
      const all = keys.map(triesOf);
      const wait = Math.max(...all.map((tries) => waitOf(tries, clock.now())));
      if (wait > 0) throw tooMany(wait);
      for (const tries of all) tries.running++;
      let wrong = false;
      try {
        const found = await check();
        wrong = found === null;
        if (!wrong) remembered.delete(keys[0]!);
        return found;
      } finally {
        for (const tries of all) {
          tries.running--;
          if (wrong) Object.assign(tries, { wrong: tries.wrong + 1, at: clock.now() });
        }
      }
    },
    clear: (account) => void remembered.delete(accountKey(account)),
  };
}

/** Milliseconds until the next try may be made. */
function waitOf({ wrong, at, running }: Tries, now: number): number {
  const delay =
    wrong < FREE_TRIES ? 0 : Math.min(1000 * 2 ** (wrong - FREE_TRIES), LONGEST_DELAY_MS);
  const rest = at + delay - now;
  if (rest > 0) return rest;
  // Those under way may all turn out wrong: at most the free ones are, and then one by one.
  return running > 0 && wrong + running >= FREE_TRIES ? 1000 : 0;
}

function tooMany(wait: number): AppError {
  const seconds = Math.ceil(wait / 1000);
  return new AppError(
    'rate_limited',
    `Too many tries. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    [],
    { 'retry-after': String(seconds) },
  );
}

const accountKey = (account: string) => `account ${account}`;
