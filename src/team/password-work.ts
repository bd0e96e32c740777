/** Hashing and checking passwords, a few at once: each takes 32 MB and a thread for a while. */

import { AppError } from '../lib/errors.ts';
import { hashPassword, verifyPassword } from '../lib/passwords.ts';
import { type Gate, limitInFlight } from '../net/in-flight.ts';

/** Half of Node's threads: files and others need some too. */
const AT_ONCE = 2;
/** Some seconds of work; who comes later is told so. Of strangers, and of the others besides. */
const MAX_WAITING = 50;

interface Asking {
  signal?: AbortSignal;
  /**
   * A member who is signed in, or in a browser where they were before: they wait for no crowd of
   * strangers.
   */
  known?: boolean;
}

export interface PasswordWork {
  /**
   * The hash to keep; asked for by who has a link, or has told the password, so known. Throws
   * `unavailable` where too many wait already.
   */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** As `verifyPassword`: a null hash takes as long and is false. Throws `unavailable` likewise. */
  verify(password: string, hash: string | null, asking?: Asking): Promise<boolean>;
}

export function createPasswordWork(): PasswordWork {
  const places = limitInFlight(AT_ONCE);
  const known = createQueue([places]);
  // They wait among themselves first, so that never more of them than these stand before the known.
  const strangers = createQueue([limitInFlight(AT_ONCE), places]);
  return {
    hash: (password, signal) => known(signal, () => hashPassword(password)),
    verify: (password, hash, asking = {}) =>
      (asking.known ? known : strangers)(asking.signal, () => verifyPassword(password, hash)),
  };
}

type Queue = <T>(signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T>;

/** Work that passes these gates one after the other; no more than so much at a time. */
function createQueue(gates: Gate[]): Queue {
  let inside = 0;
  return async (signal = NEVER, work) => {
    if (inside >= AT_ONCE + MAX_WAITING) throw tooBusy();
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

const NEVER = new AbortController().signal;

const tooBusy = () =>
  new AppError('unavailable', 'Too many passwords are being checked at this moment.', [], {
    'retry-after': '1',
  });
