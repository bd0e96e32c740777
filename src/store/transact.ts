/** Transactions that run again after a conflict, and steps after their commit. */

import { setTimeout as pause } from 'node:timers/promises';
import { monotonicClock } from '../lib/clock.ts';
import { CommitUnknownError, DatabaseUnavailableError, isConflict } from './errors.ts';
import type { Db, Tx } from './types.ts';

/** What a transaction of `transact` still has to do. */
interface Steps {
  beforeCommit: Map<string, (tx: Tx) => Promise<void>>;
  afterCommit: (() => void)[];
}
const stepsOfTransactions = new WeakMap<Tx, Steps>();

const MAX_ATTEMPTS = 5;
/** Waits a random time up to this long before the first repetition, and twice as long before each later one. */
const FIRST_PAUSE_MS = 20;
/** Nothing is repeated after that time, so that callers get an error soon if the database stays unavailable. */
const MAX_REPEAT_MS = 2_000;

/**
 * Runs a transaction, its `beforeCommit` steps last, and after its commit the `afterCommit` steps in order.
 * On PostgreSQL, `work` runs again after a deadlock, a serialization failure, or if the connection is lost
 * before the commit. It must therefore undo what else it changed. A connection lost during the commit is a
 * CommitUnknownError: the caller must not undo what belongs to the changes.
 */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return repeatAfterConflict(async (isCommitting) => {
    const steps: Steps = { beforeCommit: new Map(), afterCommit: [] };
    const result = await db.transaction().execute(async (tx) => {
      stepsOfTransactions.set(tx, steps);
      const value = await work(tx);
      for (const step of steps.beforeCommit.values()) await step(tx);
      isCommitting();
      return value;
    });
    for (const step of steps.afterCommit) step();
    return result;
  });
}

/**
 * Reads one snapshot, in a new transaction unless `db` is one, and again if the connection is lost.
 * SQLite always isolates transactions.
 */
export async function inSnapshot<T>(db: Db | Tx, read: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return read(db as Tx);
  return repeatAfterConflict(() =>
    db.transaction().setIsolationLevel('repeatable read').execute(read),
  );
}

async function repeatAfterConflict<T>(run: (isCommitting: () => void) => Promise<T>): Promise<T> {
  const startedAt = monotonicClock.now();
  for (let attempt = 1; ; attempt++) {
    let isCommitting = false;
    try {
      return await run(() => {
        isCommitting = true;
      });
    } catch (error) {
      const isUnavailable = error instanceof DatabaseUnavailableError;
      if (isUnavailable && isCommitting)
        throw new CommitUnknownError(error.message, { cause: error.cause });
      const isTooLate = monotonicClock.now() - startedAt > MAX_REPEAT_MS || attempt >= MAX_ATTEMPTS;
      if (isTooLate || !(isConflict(error) || isUnavailable)) throw error;
    }
    await pause(Math.random() * FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
}

/** Runs `step` after the transaction commits; never after a rollback. Throws unless `transact` started it. */
export function afterCommit(tx: Tx, step: () => void): void {
  stepsOf(tx).afterCommit.push(step);
}

/**
 * Runs `step` in the transaction after all its other work, once per name, so that a row that many
 * transactions change is locked only for the commit. Throws unless `transact` started it.
 */
export function beforeCommit(tx: Tx, name: string, step: (tx: Tx) => Promise<void>): void {
  stepsOf(tx).beforeCommit.set(name, step);
}

function stepsOf(tx: Tx): Steps {
  const steps = stepsOfTransactions.get(tx);
  if (!steps) throw new Error('This transaction was not started by transact().');
  return steps;
}
