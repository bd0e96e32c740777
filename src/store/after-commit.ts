/** What is to be done once a transaction has been committed, such as waking who waits for what it wrote. */

import type { Db, Tx } from './open.ts';

const waiting = new WeakMap<Tx, (() => void)[]>();

/** A transaction that does, after its commit and in order, what `afterCommit` was given inside. */
export async function transact<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const steps: (() => void)[] = [];
  const result = await db.transaction().execute((tx) => {
    waiting.set(tx, steps);
    return work(tx);
  });
  for (const step of steps) step();
  return result;
}

/** To be called inside `transact`; what is rolled back never comes to it. Throws outside of one. */
export function afterCommit(tx: Tx, step: () => void): void {
  const steps = waiting.get(tx);
  if (!steps) throw new Error('This transaction was not begun by transact().');
  steps.push(step);
}
