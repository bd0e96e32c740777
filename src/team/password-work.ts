/** Hashing and checking passwords, a few at once: each takes 32 MB and a thread for a while. */

import { AppError } from '../lib/errors.ts';
import { hashPassword, verifyPassword } from '../lib/passwords.ts';
import { limitInFlight } from '../net/in-flight.ts';

/** Half of Node's threads: files and others need some too. */
const AT_ONCE = 2;
/** Some seconds of work; who comes later is told so. */
const MAX_WAITING = 50;

export interface PasswordWork {
  /** The hash to keep. Throws `unavailable` where too many wait already. */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** As `verifyPassword`: a null hash takes as long and is false. Throws `unavailable` likewise. */
  verify(password: string, hash: string | null, signal?: AbortSignal): Promise<boolean>;
}

export function createPasswordWork(): PasswordWork {
  const gate = limitInFlight(AT_ONCE);
  let inside = 0;
  const within = async <T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
    if (inside >= AT_ONCE + MAX_WAITING) throw tooBusy();
    inside++;
    try {
      if (!(await gate.enter(signal ?? NEVER))) throw tooBusy();
      try {
        return await work();
      } finally {
        gate.leave();
      }
    } finally {
      inside--;
    }
  };
  return {
    hash: (password, signal) => within(signal, () => hashPassword(password)),
    verify: (password, hash, signal) => within(signal, () => verifyPassword(password, hash)),
  };
}

const NEVER = new AbortController().signal;

const tooBusy = () =>
  new AppError('unavailable', 'Too many passwords are being checked at this moment.', [], {
    'retry-after': '1',
  });
