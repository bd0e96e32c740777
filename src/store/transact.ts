/** Transactions that run again after a conflict, and steps after their commit. */

import { setTimeout as pause } from 'node:timers/promises';
import { CommitUnknownError, DatabaseUnavailableError, isConflict } from './errors.ts';
import type { Db, Tx } from './types.ts';

const afterCommitSteps = new WeakMap<Tx, (() => void)[]>();

const MAX_ATTEMPTS = 5;
/** Waits a random time up to this long before the first repetition, and twice as long before each later one. */
const FIRST_PAUSE_MS = 20;
/** Nothing is repeated after that time, so that callers get an error soon if the database stays unavailable. */
const MAX_REPEAT_MS = 2_000;

/**
 * Runs a transaction, and after its commit the `afterCommit` steps in order. On PostgreSQL, `work` runs
 * again after a deadlock, a serialization failure, or if the connection is lost before the commit. It
 * must therefore undo what else it changed. A connection lost during the commit is a
 * CommitUnknownError: the caller must not undo what belongs to the changes.
 */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt++) {
    const steps: (() => void)[] = [];
    let isCommitting = false;
    try {
      const result = await db.transaction().execute(async (tx) => {
        afterCommitSteps.set(tx, steps);
        const value = await work(tx);
        isCommitting = true;
        return value;
      });
      for (const step of steps) step();
      return result;
    } catch (error) {
      const isUnavailable = error instanceof DatabaseUnavailableError;
      if (isUnavailable && isCommitting)
        throw new CommitUnknownError(error.message, { cause: error.cause });
      const isTooLate = performance.now() - startedAt > MAX_REPEAT_MS || attempt >= MAX_ATTEMPTS;
      if (isTooLate || !(isConflict(error) || isUnavailable)) throw error;
    }
    await pause(Math.random() * FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
}

/** Runs `step` after the transaction commits; never after a rollback. Throws unless `transact` started it. */
export function afterCommit(tx: Tx, step: () => void): void {
  const steps = afterCommitSteps.get(tx);
  if (!steps) throw new Error('This transaction was not started by transact().');
  steps.push(step);
}
